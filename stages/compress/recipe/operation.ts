/** A recipe operation: data that documents it, and a function that builds it. */
import { patternFault, Patterns } from './pattern.ts';
import type { Loss, Row } from './rows.ts';

/** Type of a parameter. `patterns` is one pattern or a list, any of which may match. */
export type ParamKind = 'patterns' | 'text' | 'count' | 'names';

export interface Param {
  readonly kind: ParamKind;
  readonly about: string;
  /** If absent, the parameter is required. */
  readonly default?: number | string | readonly string[];
  /** Minimum of a count; 0 if absent. */
  readonly min?: number;
}

/** Parameter values as written in a recipe. */
export type Values = Readonly<Record<string, unknown>>;

export type Run = (rows: readonly Row[]) => readonly Row[];

export interface Operation {
  /** One sentence, shown in the documentation and in editors. */
  readonly about: string;
  /** What it may lose. Only `none` is allowed in a recipe without `must_keep`. */
  readonly loss: Loss;
  readonly params: Readonly<Record<string, Param>>;
  /** Executed by a test and shown in the documentation. */
  readonly example: { readonly with: Values; readonly before: string; readonly after: string };
  /**
   * Builds the operation from checked parameters. Throws a RangeError for a pattern that
   * `patternFault` refuses.
   */
  make(values: Values): Run;
}

/** The value an operation receives for a parameter of each kind. */
interface ParamValues {
  readonly patterns: Patterns;
  readonly text: string;
  readonly count: number;
  readonly names: readonly string[];
}

/**
 * Defines an operation by a function of the rows and its parameter values, defaults included. That
 * function returns the same rows where there is nothing to do.
 */
export function operation<const P extends Operation['params']>({
  run,
  ...declared
}: Omit<Operation, 'params' | 'make'> & {
  readonly params: P;
  readonly run: (
    rows: readonly Row[],
    given: { readonly [Name in keyof P]: ParamValues[P[Name]['kind']] },
  ) => readonly Row[];
}): Operation {
  return {
    ...declared,
    make(values) {
      const entries = Object.entries<Param>(declared.params).map(
        ([name, { kind, default: value }]) => [name, CONVERT[kind](values[name] ?? value)],
      );
      const given = Object.fromEntries(entries) as Parameters<typeof run>[1];
      return (rows) => run(rows, given);
    },
  };
}

const CONVERT: { readonly [Kind in ParamKind]: (value: unknown) => ParamValues[Kind] } = {
  patterns: (value) => new Patterns(listOf(value)),
  text: String,
  count: Number,
  names: listOf,
};

export function listOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one) => typeof one === 'string');
}

/** Returns the faults in the parameters, as ends of sentences. */
export function argFaults({ params }: Operation, values: Values): readonly string[] {
  const unknown = Object.keys(values).filter((name) => !Object.hasOwn(params, name));
  const known = Object.keys(params).join(', ') || 'none';
  return [
    ...unknown.map((name) => `has no parameter ${name}; known are ${known}`),
    ...Object.entries(params).flatMap(([name, param]) => {
      const value = values[name];
      if (value === undefined) return param.default === undefined ? [`needs ${name}`] : [];
      const fault = valueFault(param, value);
      return fault === undefined ? [] : [`${name} ${fault}`];
    }),
  ];
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((item) => typeof item === 'string' && item !== '');

function valueFault({ kind, min = 0 }: Param, value: unknown): string | undefined {
  if (kind === 'patterns') return patternsFault(value);
  const { isValid, expected } = CHECKS[kind](min);
  return isValid(value) ? undefined : expected;
}

interface Check {
  readonly isValid: (value: unknown) => boolean;
  readonly expected: string;
}

const CHECKS: Readonly<Record<Exclude<ParamKind, 'patterns'>, (min: number) => Check>> = {
  count: (min) => ({
    isValid: (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= 1e6,
    expected: `must be a whole number from ${min}`,
  }),
  text: () => ({ isValid: (value) => typeof value === 'string', expected: 'must be a text' }),
  names: () => ({ isValid: isTexts, expected: 'must be a list of texts' }),
};

/** Returns why a value is neither a pattern nor a list of them; undefined if it is. */
export function patternsFault(value: unknown): string | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) return 'is empty';
  for (const one of list) {
    if (typeof one !== 'string' || one === '') return 'must be a pattern or a list of patterns';
    const fault = patternFault(one);
    if (fault !== undefined) return `${JSON.stringify(one)} ${fault}`;
  }
  return undefined;
}
