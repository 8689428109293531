/** What an operation of recipes is: data that documents it, and a function that makes it. */
import { anyPattern, patternFault, toPattern, type Pattern } from './pattern.ts';
import type { Loss, Row } from './rows.ts';

/** What a parameter takes. `patterns` is one pattern or a list, of which one is enough. */
export type ParamKind = 'patterns' | 'text' | 'count' | 'names';

export interface Param {
  readonly kind: ParamKind;
  readonly about: string;
  /** Left out, the parameter is required. */
  readonly default?: number | string | readonly string[];
  /** Least value of a count; 0 if left out. */
  readonly least?: number;
}

/** Values of parameters as they stand in a recipe. */
export type Values = Readonly<Record<string, unknown>>;

export type Run = (rows: readonly Row[]) => readonly Row[];

export interface Operation {
  /** One sentence; stands in the documentation and in editors. */
  readonly about: string;
  /** What it may lose. Only `none` is allowed in a recipe without `must_keep`. */
  readonly loss: Loss;
  readonly params: Readonly<Record<string, Param>>;
  /** Executed by a test and shown in the documentation. */
  readonly example: { readonly with: Values; readonly before: string; readonly after: string };
  /** Makes it for its parameters. Returns the rows themselves where there is nothing to do. */
  make(args: Args): Run;
}

/** Parameters that were checked, with defaults. */
export class Args {
  readonly #params: Operation['params'];
  readonly #values: Values;

  constructor(params: Operation['params'], values: Values) {
    this.#params = params;
    this.#values = values;
  }

  #value(name: string): unknown {
    return this.#values[name] ?? this.#params[name]?.default;
  }

  count(name: string): number {
    return Number(this.#value(name));
  }

  text(name: string): string {
    return String(this.#value(name));
  }

  names(name: string): readonly string[] {
    return listOf(this.#value(name));
  }

  /** True for a line in which one of the patterns is found. */
  test(name: string): (line: string) => boolean {
    return anyPattern(listOf(this.#value(name)));
  }

  patterns(name: string): readonly Pattern[] {
    return listOf(this.#value(name)).map(toPattern);
  }

  /** The first group of the first pattern that is found, or all that it matches; undefined where none is. */
  capture(name: string): (line: string) => string | undefined {
    const patterns = this.patterns(name);
    return (line) => {
      for (const pattern of patterns) {
        const match = pattern.exec(line);
        if (match !== null) return match[1] ?? match[0];
      }
      return undefined;
    };
  }
}

export function listOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one) => typeof one === 'string');
}

/** What is wrong with the parameters, as ends of sentences. */
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

function valueFault({ kind, least = 0 }: Param, value: unknown): string | undefined {
  if (kind === 'patterns') return patternsFault(value);
  const { isValid, expected } = CHECKS[kind](least);
  return isValid(value) ? undefined : expected;
}

interface Check {
  readonly isValid: (value: unknown) => boolean;
  readonly expected: string;
}

const CHECKS: Readonly<Record<Exclude<ParamKind, 'patterns'>, (least: number) => Check>> = {
  count: (least) => ({
    isValid: (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= 1e6,
    expected: `is a whole number from ${least}`,
  }),
  text: () => ({ isValid: (value) => typeof value === 'string', expected: 'is a text' }),
  names: () => ({ isValid: isTexts, expected: 'is a list of texts' }),
};

/** Why a value is not one pattern or a list of them; undefined where it is. */
export function patternsFault(value: unknown): string | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) return 'is empty';
  for (const one of list) {
    if (typeof one !== 'string' || one === '') return 'is a pattern or a list of patterns';
    const fault = patternFault(one);
    if (fault !== undefined) return `${JSON.stringify(one)} ${fault}`;
  }
  return undefined;
}
