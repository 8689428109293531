/**
 * The kinds of value that a setting can have. Each kind is one builder that puts side by
 * side the quick check used at every start, the arktype definition that composes into
 * the schema, and the words in which a fault says what it expected. The quick check exists
 * because importing arktype takes longer than the whole start may; a property test holds
 * the two to the same verdicts.
 */

/** How a value is written where there is only text: in a variable or behind a flag. */
export type Form = 'boolean' | 'number' | 'text' | 'list' | 'structure';

/** An arktype definition: a string expression, or an object of definitions. */
export type Definition = string | { readonly [key: string]: Definition };

/** A kind of value: what it accepts, and how to say so. */
export interface ValueType<T> {
  readonly form: Form;
  /** What is expected, to end the sentence "expected …". */
  readonly text: string;
  readonly definition: Definition;
  readonly accepts: (value: unknown) => value is T;
  /** What accepts one element, where the value can be a list. */
  readonly isItem?: (value: unknown) => boolean;
}

/** The names that would reach an object's prototype; refused wherever the user chooses a name. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set([
  '__proto__',
  'constructor',
  'prototype',
]);

/** True for a plain map of values: neither null nor a list. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True or false. */
export const flag: ValueType<boolean> = {
  form: 'boolean',
  text: 'true or false',
  definition: 'boolean',
  accepts: (value) => typeof value === 'boolean',
};

/** A whole number between `min` and `max`, both included; `noun` says what it counts. */
export function whole(min: number, max: number, noun = 'a whole number'): ValueType<number> {
  return {
    form: 'number',
    text: `${noun} from ${min} to ${max}`,
    definition: `${min} <= number.integer <= ${max}`,
    accepts: (value): value is number =>
      typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max,
  };
}

/** A number between `min` and `max`, both included. Never NaN or infinite. */
export function between(min: number, max: number, noun = 'a number'): ValueType<number> {
  return {
    form: 'number',
    text: `${noun} from ${min} to ${max}`,
    definition: `${min} <= number <= ${max}`,
    accepts: (value): value is number => typeof value === 'number' && value >= min && value <= max,
  };
}

/** One of a few words. */
export function oneOf<const W extends string>(...choices: readonly W[]): ValueType<W> {
  const known = new Set<unknown>(choices);
  return {
    form: 'text',
    text: choices.length === 1 ? `${choices[0]}` : `one of ${choices.join(', ')}`,
    definition: choices.map((word) => `'${word}'`).join(' | '),
    accepts: (value): value is W => known.has(value),
  };
}

/** Text that matches `pattern`, which must carry no flags; `noun` describes it. */
export function matching(pattern: RegExp, noun: string): ValueType<string> {
  return {
    form: 'text',
    text: noun,
    definition: `/${pattern.source}/`,
    accepts: (value): value is string => typeof value === 'string' && pattern.test(value),
  };
}

/** A list of values of one kind; in a variable, separated by commas. */
export function listOf<T>(item: ValueType<T>, noun: string): ValueType<readonly T[]> {
  return {
    form: item.form === 'text' ? 'list' : 'structure',
    text: noun,
    definition: { list: item.definition },
    isItem: item.accepts,
    accepts: (value): value is readonly T[] => Array.isArray(value) && value.every(item.accepts),
  };
}

/** One word or a list of them. */
export function oneOrMore<T>(item: ValueType<T>, noun: string): ValueType<T | readonly T[]> {
  const many = listOf(item, noun);
  return {
    form: 'list',
    text: noun,
    definition: { either: item.definition, or: many.definition },
    isItem: item.accepts,
    accepts: (value): value is T | readonly T[] => item.accepts(value) || many.accepts(value),
  };
}

/** A map from free names to values of one kind. */
export function mapOf<T>(item: ValueType<T>, noun: string): ValueType<Readonly<Record<string, T>>> {
  return {
    form: 'structure',
    text: noun,
    definition: { map: item.definition },
    accepts: (value): value is Readonly<Record<string, T>> =>
      isMap(value) && Object.values(value).every(item.accepts),
  };
}

/** A map with exactly these members. */
export function shape<T extends Readonly<Record<string, unknown>>>(
  members: { readonly [K in keyof T]: ValueType<T[K]> },
  noun: string,
): ValueType<T> {
  const entries = Object.entries<ValueType<unknown>>(members);
  return {
    form: 'structure',
    text: noun,
    definition: {
      shape: Object.fromEntries(entries.map(([name, type]) => [name, type.definition])),
    },
    accepts: (value): value is T =>
      isMap(value) &&
      Object.keys(value).length === entries.length &&
      entries.every(([name, type]) => Object.hasOwn(value, name) && type.accepts(value[name])),
  };
}

/** Any value that JSON can say. */
export const anything: ValueType<unknown> = {
  form: 'structure',
  text: 'any value',
  definition: 'unknown',
  accepts: (value): value is unknown => value !== undefined,
};

/** Text without control characters, at least one character. */
export const words = matching(/^[ -~\u00a0-\uffff]+$/, 'text');

/** A path of a file or folder; `~` is the home folder. */
export const path: ValueType<string> = { ...words, text: 'a path' };

/** A secret that can stand in a header: visible ASCII, no spaces. */
export const secret = matching(/^[\u0021-\u007e]+$/, 'a key without spaces or line breaks');

/** A TCP port; 0 lets the system choose. */
export const port = whole(0, 65535, 'a port');

/** The longest time that a timer of the runtime can hold, in seconds: 2³¹−1 ms. */
const LONGEST_TIMER_S = 2_147_483;

/** A span of time in seconds that a timer can hold. */
export const seconds = between(0, LONGEST_TIMER_S, 'seconds,');

/** A span of time in milliseconds that a timer can hold. */
export const milliseconds = whole(0, LONGEST_TIMER_S * 1000, 'milliseconds,');

/** Days, up to a hundred years. */
export const days = whole(0, 36_500, 'days,');

/** An amount of money in US dollars. */
export const dollars = between(0, 1_000_000_000, 'US dollars,');

/** A count of anything from `min` up, in the units that `noun` names. */
export function count(noun: string, min = 0): ValueType<number> {
  return { ...whole(min, 2_000_000_000), text: `${noun}, a whole number of at least ${min}` };
}
