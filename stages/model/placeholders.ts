/**
 * Texts with `{{name}}` placeholders, and the declarations of their values. A value is data: its
 * content is never expanded again. `\{{name}}` is the literal text `{{name}}`.
 */

export interface Variable {
  readonly name: string;
  /** Undefined for a required variable. */
  readonly default: string | undefined;
  readonly about: string | undefined;
}

export const VARIABLE_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const PLACEHOLDER = /\\?\{\{ *([A-Za-z][A-Za-z0-9_-]{0,63}) *\}\}/g;

/** Returns the names in a text, each once, in order. */
export function placeholdersOf(text: string): readonly string[] {
  const found = [...text.matchAll(PLACEHOLDER)].filter(
    ([placeholder]) => !placeholder.startsWith('\\'),
  );
  return [...new Set(found.map(([, name = '']) => name))];
}

export function fillPlaceholders(text: string, valueOf: (name: string) => string): string {
  return text.replaceAll(PLACEHOLDER, (placeholder, name: string) =>
    placeholder.startsWith('\\') ? placeholder.slice(1) : valueOf(name),
  );
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

/** Returns true for a value that can be inserted as text. */
export const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** Parses `name: { default: …, about: … }`, or `name: the default`. */
export function toVariable(name: string, given: unknown): Variable {
  const isObject = typeof given === 'object' && given !== null;
  const fields = new Map(entriesOf(isObject ? given : { default: given }));
  const textOf = (field: string) => {
    const value = fields.get(field);
    return isScalar(value) ? String(value) : undefined;
  };
  return { name, default: textOf('default'), about: textOf('about') };
}

/**
 * Returns every value by name, defaults included; or what is missing and what is unknown, as ends
 * of sentences.
 */
export function valuesOf(
  variables: readonly Variable[],
  given: ReadonlyMap<string, string>,
): { readonly values: ReadonlyMap<string, string>; readonly faults: readonly string[] } {
  const known = variables.map(({ name }) => name);
  const unknown = [...given.keys()].filter((name) => !known.includes(name));
  const missing = variables.filter((each) => each.default === undefined && !given.has(each.name));
  const values = variables.map(
    (each) => [each.name, given.get(each.name) ?? each.default ?? ''] as const,
  );
  return {
    values: new Map(values),
    faults: [
      ...unknown.map((name) => `has no variable ${name.slice(0, 80)}`),
      ...missing.map(({ name }) => `needs a value for ${name}`),
    ],
  };
}
