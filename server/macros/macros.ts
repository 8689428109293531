/** The macros of a home: one YAML file each, `macros/NAME.yaml`. Nothing that listens reads them. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError, isSvcError } from '../../engine/index.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { MACRO_NAME, checkMacro, macroPart } from '../../stages/macros/check.ts';
import type { Macro } from '../../stages/macros/macro.ts';
import { readAuthored } from '../config/authored-yaml.ts';
import { YAML_LIMITS } from '../config/yaml.ts';

const EXTENSION = '.yaml';

export function macroFolder(home: string): string {
  return join(home, 'macros');
}

/** Throws `bad_request` for what cannot be a name: no path leads out of the folder. */
export function macroFile(folder: string, name: string): string {
  if (MACRO_NAME.test(name)) return join(folder, `${name}${EXTENSION}`);
  throw new SvcError(
    'bad_request',
    `${JSON.stringify(name.slice(0, 80))} cannot be the name of a macro`,
    { cure: 'Names are of lower case letters, digits, - and _, such as before-release.' },
  );
}

/** The names of all, in order. */
export function macroNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith(EXTENSION))
      .map((file) => file.slice(0, -EXTENSION.length))
      .filter((name) => MACRO_NAME.test(name))
      .toSorted();
  } catch {
    return [];
  }
}

/** The file's text; undefined where there is none. Throws `bad_request` where it cannot be read. */
export function macroSource(folder: string, name: string): string | undefined {
  const file = macroFile(folder, name);
  try {
    if (statSync(file).size > YAML_LIMITS.bytes)
      throw new SvcError('bad_request', `Macro ${name} is larger than ${YAML_LIMITS.bytes} bytes`);
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (isSvcError(cause)) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SvcError('bad_request', `Macro ${name} cannot be read: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

/** Checks a macro's text. `shown` is what its faults call the file; each has its line. */
export async function readMacro(
  name: string,
  source: string,
  fileName: string,
): Promise<
  | { readonly macro: Macro; readonly faults: readonly [] }
  | { readonly macro: undefined; readonly faults: readonly string[] }
> {
  const { read, faults } = await readAuthored(
    source,
    fileName,
    (data) => checkMacro(data, name),
    macroPart,
  );
  return read === undefined ? { macro: undefined, faults } : { macro: read.macro, faults };
}

/** Throws `bad_request` with every fault, one a line. */
export function refuseMacro(name: string, faults: readonly string[]): never {
  throw new SvcError(
    'bad_request',
    `Macro ${name} cannot be used:\n${faults.map((one) => `  - ${one}`).join('\n')}`,
    { cure: '`svc macro actions` lists what a step can do.' },
  );
}
