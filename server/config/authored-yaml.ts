/**
 * YAML files that a user writes besides the config file, such as recipes and macros: reports faults
 * with their lines.
 */
import { isSvcError } from '../../engine/error.ts';
import { readYaml } from './yaml.ts';

/**
 * One fault: the path of keys and list indexes, and a sentence that continues after their names.
 */
export interface AuthoredFault {
  readonly path: readonly string[];
  readonly message: string;
}

/** Result of a check: the value with `ok`, or all faults. */
export type Checked<T> =
  | (T & { readonly ok: true })
  | { readonly ok: false; readonly faults: readonly AuthoredFault[] };

/** The value, or every fault as a sentence with its file and line, in line order. */
export type Authored<T> =
  | { readonly read: T & { readonly ok: true }; readonly faults: readonly [] }
  | { readonly read: undefined; readonly faults: readonly string[] };

/** Reads and checks `text` of the file called `name`. `nameOf` names the part at a path. */
export async function readAuthored<T>(
  text: string,
  name: string,
  check: (data: unknown) => Checked<T>,
  nameOf: (path: readonly string[]) => string = (path) => path.join('.'),
): Promise<Authored<T>> {
  let yaml;
  try {
    yaml = await readYaml(text, name);
  } catch (thrown) {
    if (!isSvcError(thrown)) throw thrown;
    return { read: undefined, faults: [thrown.message] };
  }
  if (yaml.faults.length > 0)
    return { read: undefined, faults: yaml.faults.map((fault) => fault.text) };
  const checked = check(yaml.data);
  if (checked.ok) return { read: checked, faults: [] };
  const { originOf } = yaml;
  const faults = checked.faults
    .map(({ path, message }) => ({ where: originOf(path).where, part: nameOf(path), message }))
    .toSorted((a, b) => lineOf(a.where) - lineOf(b.where))
    .map(({ where, part, message }) => `${where}: ${part}${part === '' ? '' : ' '}${message}`);
  return { read: undefined, faults };
}

/** Returns the line of a place; 0 if it has none. */
function lineOf(where: string): number {
  return Number(/:(\d+)$/.exec(where)?.[1] ?? 0);
}
