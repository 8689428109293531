/** Parses and formats variables of templates and macros, as typed and in `--json`. */
import type { Variable } from '../stages/model/placeholders.ts';
import { invalidOption } from './parse/flags.ts';

/** Returns the values of `--var`, by name. Throws `usage` for what is not `name=value`. */
export function toValues(typed: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    typed.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw invalidOption('--var', text, 'name=value');
    }),
  );
}

export function variablesJson(variables: readonly Variable[]) {
  return variables.map((each) => ({
    name: each.name,
    required: each.default === undefined,
    default: each.default ?? null,
    about: each.about ?? null,
  }));
}
