/** Checks user-written rules, and reports all faults at once. */
import { defined } from '../dialect/json-kind.ts';
import { parseTarget } from './rules.ts';
import type { RouteRule } from './rules.ts';

/** A valid rule, or all its faults as sentences for the user. */
export type CheckedRule =
  | { readonly ok: true; readonly rule: RouteRule }
  | { readonly ok: false; readonly faults: readonly string[] };

type FieldName = keyof RouteRule;

interface Field {
  readonly expected: string;
  readonly isValid: (value: unknown) => boolean;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 256;

const TOKENS: Field = { expected: 'a whole number of tokens, from 0', isValid: isCount };
const FLAG: Field = {
  expected: 'true or false',
  isValid: (value) => typeof value === 'boolean',
};

const FIELDS: Readonly<Record<FieldName, Field>> = {
  id: {
    expected: 'letters, digits, _ and -, at most 64 of them',
    isValid: (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value),
  },
  model: { expected: 'a model name, with * and ? for what varies', isValid: isText },
  prefix: { expected: 'the beginning of a model name', isValid: isText },
  minTokens: TOKENS,
  maxTokens: TOKENS,
  hasTools: FLAG,
  hasThinking: FLAG,
  budgetBelowPercent: {
    expected: 'a percentage above 0, up to 100',
    isValid: (value) => typeof value === 'number' && value > 0 && value <= 100,
  },
  priority: {
    expected: 'a whole number; the highest is tried first',
    isValid: Number.isSafeInteger,
  },
  target: {
    expected: 'provider/model',
    isValid: (value) => typeof value === 'string' && parseTarget(value) !== undefined,
  },
};

export interface RuleContext {
  /** Names of the configured providers. */
  readonly providers: readonly string[];
  /** Ids already in use. */
  readonly ids?: readonly string[];
}

/** Checks one rule. A missing `priority` becomes 0; everything else is required. */
export function checkRule(value: unknown, context: RuleContext): CheckedRule {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, faults: [`a rule is an object, not ${printable(value)}`] };
  }
  const rule: Record<string, unknown> = { priority: 0, ...value };
  const faults = Object.keys(rule)
    .filter((name) => !Object.hasOwn(FIELDS, name))
    .map(
      (name) => `${name} is not a field of a rule; a rule has ${Object.keys(FIELDS).join(', ')}`,
    );
  for (const name of Object.keys(FIELDS) as FieldName[]) {
    const isRequired = name === 'id' || name === 'target';
    if (rule[name] === undefined && !isRequired) continue;
    const { expected, isValid } = FIELDS[name];
    if (!isValid(rule[name]))
      faults.push(`${name}: found ${printable(rule[name])}, expected ${expected}`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field was checked above
  const checked = rule as unknown as RouteRule;
  if (faults.length === 0) faults.push(...contradictions(checked, context));
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, rule: Object.freeze(defined(checked)) };
}

/** Returns the faults of a rule whose parts are valid individually. */
function contradictions(rule: RouteRule, { providers, ids = [] }: RuleContext): string[] {
  const faults: string[] = [];
  const { minTokens = 0, maxTokens = Infinity } = rule;
  if (ids.includes(rule.id)) faults.push(`id: there is a rule '${rule.id}' already`);
  if (minTokens > maxTokens) faults.push(`minTokens ${minTokens} is above maxTokens ${maxTokens}`);
  const provider = parseTarget(rule.target)?.provider ?? '';
  if (!providers.includes(provider)) {
    faults.push(`target: there is no provider '${provider}'; there are ${providers.join(', ')}`);
  }
  return faults;
}

function printable(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
