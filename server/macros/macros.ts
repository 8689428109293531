/** The macros of a home: one YAML file each, `macros/NAME.yaml`. No server code reads them. */
import { join } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import { namedFiles } from '../../stages/named-files.ts';
import { checkMacro, macroPart } from '../../stages/macros/check.ts';
import type { Macro } from '../../stages/macros/macro.ts';
import { readAuthored } from '../config/authored-yaml.ts';
import { YAML_LIMITS } from '../config/yaml.ts';

export const macroFiles = namedFiles('macro', '.yaml', YAML_LIMITS.bytes);

export function macroFolder(home: string): string {
  return join(home, 'macros');
}

/** Checks a macro's text. `shown` is the file name in its faults, each of which has its line. */
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

/** Throws `bad_request` with every fault, one per line. */
export function refuseMacro(name: string, faults: readonly string[]): never {
  throw new SvcError(
    'bad_request',
    `Macro ${name} cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    { cure: '`svc macro actions` lists what a step can do.' },
  );
}
