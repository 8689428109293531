/**
 * The kinds of value that a setting can have. A kind is an arktype definition and the text in which
 * a fault names what was expected; the TypeScript type is inferred from the definition.
 *
 * Loading arktype takes 190 ms and 15 MB of memory (105 ms bundled and without code generation, 25
 * ms more for the types of all settings; Node 20), which is longer than a whole start of the
 * command line. So a start checks values with `allows`, which reads the few forms of definitions
 * that settings use, and arktype is only loaded for the JSON Schema. A test compares `allows` with
 * arktype for every setting.
 */
import { isObject } from '../dialect/json-kind.ts';
import type { type } from 'arktype';

/**
 * The forms of arktype's definitions that settings use: `boolean`, `unknown`, quoted words
 * separated by ` | ` and ranges of numbers as text; regular expressions; lists, unions, maps by
 * `[string]`, and closed maps by name.
 */
export type Definition =
  | string
  | RegExp
  | readonly [Definition, '[]']
  | readonly [Definition, '|', Definition]
  | { readonly [key: string]: Definition };

/** A kind of value: what it accepts, and how to name it. */
export interface Kind<T> {
  readonly definition: Definition;
  /** What is expected, to complete the sentence "expected …". Numbers name their unit. */
  readonly text: string;
  /** Only carries the type; never present. */
  readonly infer?: T;
}

type Infer<D> = type.infer<D> extends readonly (infer Item)[] ? readonly Item[] : type.infer<D>;

/** Defines a kind whose type arktype infers; a wrong definition does not compile. */
export function kind<const D>(definition: type.validate<D>, text: string): Kind<Infer<D>> {
  // A form that `allows` does not read is found by the test that compares it with arktype.
  return { definition: definition as Definition, text };
}

const RANGE = /^(-?\d+(?:\.\d+)?) <= number(\.integer)? <= (-?\d+(?:\.\d+)?)$/;

/** Returns true if `value` fits `definition`, as arktype would decide. */
export function allows(definition: Definition, value: unknown): boolean {
  if (typeof definition === 'string') return allowsTerms(definition, value);
  if (definition instanceof RegExp) return typeof value === 'string' && definition.test(value);
  if (isPair(definition)) {
    const [first, operator, second] = definition;
    if (operator === '|') return allows(first, value) || allows(second, value);
    return Array.isArray(value) && value.every((item) => allows(first, item));
  }
  if (!isObject(value)) return false;
  const { '[string]': any, '+': _closed, ...members } = definition;
  if (any !== undefined) return Object.values(value).every((one) => allows(any, one));
  const names = Object.keys(members).map((member) => member.replace(/\?$/, ''));
  return (
    Object.keys(value).every((name) => names.includes(name)) &&
    Object.entries(members).every(([member, inner]) => {
      const name = member.replace(/\?$/, '');
      return Object.hasOwn(value, name) ? allows(inner, value[name]) : name !== member;
    })
  );
}

/** An invalid member of a map. */
export interface WrongMember {
  /** Its path in the map, such as `when.metric`. */
  readonly path: string;
  readonly fault: 'missing' | 'unknown' | { readonly expected: string };
}

/** Returns the first invalid member if the definition is a closed map; otherwise undefined. */
export function wrongMember(definition: Definition, value: unknown): WrongMember | undefined {
  const isClosed = isObject(definition) && '+' in definition;
  if (!isClosed || !isObject(value)) return undefined;
  const { '+': _closed, ...members } = definition;
  const inner = new Map(
    Object.entries(members).map(([member, one]) => [member.replace(/\?$/, ''), one]),
  );
  for (const [name, one] of Object.entries(value)) {
    const expected = inner.get(name);
    if (expected === undefined) return { path: name.slice(0, 60), fault: 'unknown' };
    if (allows(expected, one)) continue;
    const deeper = wrongMember(expected, one);
    return deeper === undefined
      ? { path: name, fault: { expected: nounOf(expected) } }
      : { ...deeper, path: `${name}.${deeper.path}` };
  }
  const missing = Object.keys(members).find(
    (name) => !name.endsWith('?') && !Object.hasOwn(value, name),
  );
  return missing === undefined ? undefined : { path: missing, fault: 'missing' };
}

function nounOf(definition: Definition): string {
  if (definition instanceof RegExp) return 'a text of the right form';
  if (typeof definition !== 'string') return isPair(definition) ? 'a list' : 'a map';
  const range = RANGE.exec(definition);
  if (range === null) return definition === 'boolean' ? 'true or false' : `one of ${definition}`;
  const [, least, integer, most] = range;
  return `a ${integer === undefined ? '' : 'whole '}number from ${least} to ${most}`;
}

function allowsTerms(terms: string, value: unknown): boolean {
  const range = RANGE.exec(terms);
  if (range !== null) {
    const [, least, integer, most] = range;
    const isInRange = typeof value === 'number' && value >= Number(least) && value <= Number(most);
    return isInRange && (integer === undefined || Number.isInteger(value));
  }
  if (terms === 'boolean') return typeof value === 'boolean';
  if (terms === 'unknown') return value !== undefined;
  return typeof value === 'string' && terms.split(' | ').includes(`'${value}'`);
}

type Pair = readonly [Definition, '[]'] | readonly [Definition, '|', Definition];

function isPair(definition: Definition): definition is Pair {
  return Array.isArray(definition);
}

/** Returns the definition of one element, if the value can be a list. */
export function itemOf(definition: Definition): Definition | undefined {
  if (typeof definition === 'string' || !isPair(definition)) return undefined;
  const [first, operator, second] = definition;
  return operator === '[]' ? first : (itemOf(first) ?? itemOf(second));
}

/** How a value is written as text: in a variable or in a flag. */
export type Form = 'boolean' | 'number' | 'text' | 'list' | 'structure';

/** Returns the form in which values of a kind are written as text. */
export function formOf(definition: Definition): Form {
  if (definition instanceof RegExp) return 'text';
  if (typeof definition !== 'string') {
    const item = itemOf(definition);
    return item !== undefined && formOf(item) === 'text' ? 'list' : 'structure';
  }
  if (definition === 'boolean') return 'boolean';
  if (definition === 'unknown') return 'structure';
  return RANGE.test(definition) ? 'number' : 'text';
}

/** True or false. */
export const flag = kind('boolean', 'true or false');

/** Defines a choice of words. */
export function oneOf<const W extends string>(...choices: readonly W[]): Kind<W> {
  const text = choices.length === 1 ? `${choices[0]}` : `one of ${choices.join(', ')}`;
  return { definition: choices.map((word) => `'${word}'`).join(' | '), text };
}

/** Defines a whole number between `min` and `max`, both included, in the unit that `noun` names. */
export function wholeNumber(min: number, max: number, noun: string): Kind<number> {
  const definition = `${min} <= number.integer <= ${max}`;
  return { definition, text: `${noun} from ${min} to ${max}` };
}

/** Defines a number between `min` and `max`, both included. Never NaN or infinite. */
export function between(min: number, max: number, noun: string): Kind<number> {
  return { definition: `${min} <= number <= ${max}`, text: `${noun} from ${min} to ${max}` };
}

/** Defines a count from `min` up, in the unit that `noun` names. */
export function count(noun: string, min = 0): Kind<number> {
  const text = `${noun}, a whole number of at least ${min}`;
  return { ...wholeNumber(min, 2_000_000_000, noun), text };
}

/** Text without control characters, at least one character. */
export const TEXT = /^[ -~\u00a0-\uffff]+$/;

/** The same as a kind. */
export const textKind = kind(TEXT, 'text');

/** Defines one text or a list of them; in a variable, separated by commas. */
export function textOrList(text: string): Kind<string | readonly string[]> {
  return kind([TEXT, '|', [TEXT, '[]']], text);
}

/** The path of a file or folder; `~` is the home folder. */
export const path: Kind<string> = { ...textKind, text: 'a path' };

/** A secret that can be sent in a header: visible ASCII, no spaces. */
export const secret = kind(/^[\u0021-\u007e]+$/, 'a key without spaces or line breaks');

/** A TCP port; 0 lets the system choose. */
export const port = wholeNumber(0, 65_535, 'a port');

/** The longest time that a timer of the runtime supports, in seconds: 2³¹−1 ms. */
const LONGEST_TIMER_S = 2_147_483;

/** A time span in seconds that a timer supports. */
export const seconds = between(0, LONGEST_TIMER_S, 'seconds,');

/** A time span in milliseconds that a timer supports. */
export const milliseconds = wholeNumber(0, LONGEST_TIMER_S * 1000, 'milliseconds,');

/** Days, up to a hundred years. */
export const days = wholeNumber(0, 36_500, 'days,');

/** Mebibytes. */
export const megabytes = count('megabytes');

/** An amount of money in US dollars. */
export const dollars = between(0, 1_000_000_000, 'US dollars,');
