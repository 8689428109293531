/** The arithmetic of a bill: units at the rates of their model, under the terms of the answer. */
import { CALL_UNITS, billedUnits } from '../../model/billed-units.ts';
import type { BilledUnit } from '../../model/billed-units.ts';
import type { RateTerms } from '../../model/billing.ts';
import type { Usage } from '../../model/usage.ts';
import { rateAt, rateOf } from './rate-card.ts';
import type { RateCard } from './rate-card.ts';

/** One dollar per million is 1,000 nano-dollars per unit. */
const NANO_PER_UNIT = 1000;

/**
 * A sum in nano-dollars, with a fraction, and what has no known price. A unit without a price for
 * its terms is included at the usual rate.
 */
export interface Bill {
  readonly nanoUsd: number;
  readonly missing: readonly string[];
}

const NOTHING_MISSING: readonly string[] = [];

/** The only calculation of money: every unit at its rate, under the terms of the answer. */
export function billOf(
  usage: Usage,
  cardOf: (model: string | undefined) => RateCard | null,
  model: string,
): Bill {
  const { nanoUsd, missing } = billOfUnits(billedUnits(usage), usage, cardOf, model);
  const card = cardOf(undefined);
  const unknown = usage.billing?.unknownUses?.map((name) => `${name} of ${model}`) ?? [];
  // Used, but free of charge.
  const isBilled = usage.billing?.isUnbilled !== true;
  const noCard = card === null && isBilled ? [`model ${model}`] : NOTHING_MISSING;
  const allMissing =
    unknown.length + noCard.length === 0
      ? missing
      : [...new Set([...missing, ...noCard, ...unknown])];
  return { nanoUsd: nanoUsd + (card?.perRequestUsd ?? 0) * 1e9, missing: allMissing };
}

export function billOfUnits(
  units: readonly BilledUnit[],
  { billing }: Usage,
  cardOf: (model: string | undefined) => RateCard | null,
  model: string,
): Bill {
  let nanoUsd = 0;
  let missing = NOTHING_MISSING;
  const noteMissing = (what: string): void => {
    if (!missing.includes(what)) missing = [...missing, what];
  };
  for (const unit of units) {
    const card = cardOf(unit.model);
    if (card === null) {
      noteMissing(`model ${unit.model ?? model}`);
      continue;
    }
    const rate = rateOf(card, unit.unit);
    if (rate === undefined) {
      noteMissing(`${unit.unit} of ${unit.model ?? model}`);
      continue;
    }
    const isOwn = unit.model === undefined || unit.model === model;
    const factor = CALL_UNITS.has(unit.unit) ? 1 : factorOf(card, billing, isOwn);
    if (typeof factor === 'string') noteMissing(`${factor} of ${unit.model ?? model}`);
    const atListPrice = countOf(card, unit) * rateAt(rate, unit.promptTokens) * NANO_PER_UNIT;
    nanoUsd += atListPrice * (typeof factor === 'string' ? 1 : factor);
  }
  return { nanoUsd, missing };
}

/**
 * In the order in which the beginning of a prompt is billed: the longest-lived part comes first.
 */
const LEADING = [
  'cache_read',
  'cache_write_12h',
  'cache_write_1h',
  'cache_write',
  'input',
] as const satisfies readonly BilledUnit['unit'][];

/** Returns the billed units of the first `tokens` of the answer's own prompt. */
export function leadingUnits(units: readonly BilledUnit[], tokens: number): BilledUnit[] {
  let remaining = tokens;
  return LEADING.flatMap((name) =>
    units.flatMap((unit) => {
      if (unit.unit !== name || unit.model !== undefined || remaining === 0) return [];
      const count = Math.min(unit.count, remaining);
      remaining -= count;
      return [{ ...unit, count }];
    }),
  );
}

function countOf(card: RateCard, { unit, count }: BilledUnit): number {
  return unit === 'web_search' && card.isSearchPerRequest ? 1 : count;
}

/**
 * Returns the factor of an answer's terms on a rate, or the name of the term without a price;
 * `isOwn` is true for the model that answered.
 */
function factorOf(
  { terms }: RateCard,
  rateTerms: RateTerms | undefined,
  isOwn: boolean,
): number | string {
  if (rateTerms === undefined) return 1;
  const { speed, tier, geo } = rateTerms;
  let factor = 1;
  // Another model only runs fast if that is sold for it.
  if (speed !== undefined && speed !== 'standard') {
    const one = terms[speed] ?? (isOwn ? undefined : 1);
    if (one === undefined) return `speed ${speed}`;
    factor *= one;
  }
  if (tier !== undefined) {
    const one = terms[tier];
    if (one === undefined) return `tier ${tier}`;
    factor *= one;
  }
  if (geo === undefined) return factor;
  const one = terms[geo];
  return one === undefined ? `region ${geo}` : factor * one;
}
