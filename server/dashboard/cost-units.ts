/**
 * The cost of one request by unit. The sum is the ledger's: later price changes do not affect it.
 */
import type { PricedProvider } from '../../stages/ledger/prices/price-list.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import type { UnitName } from '../../stages/model/billed-units.ts';
import { emptyUsage } from '../../stages/model/usage.ts';
import type { Usage } from '../../stages/model/usage.ts';

export interface CostUnitJson {
  /** `other` is the ledger's cost beyond the units: a fee per request, speed, tier, images. */
  readonly unit: UnitName | 'other';
  /** Number of tokens or searches. Null for `other`. */
  readonly count: number | null;
  /** Dollars; null if the unit has no price. */
  readonly cost: number | null;
}

/**
 * Returns each unit with its price when the request began. Empty if nothing was measured or has a
 * price.
 */
export function costUnits(
  row: LedgerRow,
  provider: PricedProvider | undefined,
  prices: Prices,
): readonly CostUnitJson[] {
  const { model, costNanoUsd, startedMs } = row;
  if (provider === undefined || model === null || costNanoUsd === null || row.cacheHit) return [];
  const units = prices.unitCosts(provider, model, usageOf(row), startedMs);
  const other = costNanoUsd - units.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);
  // Each unit is rounded separately.
  const isRounding = Math.abs(other) <= units.length;
  return [
    ...units.map(({ unit, count, nanoUsd }) => ({ unit, count, cost: toUsd(nanoUsd) })),
    ...(isRounding ? [] : [{ unit: 'other' as const, count: null, cost: toUsd(other) }]),
  ];
}

/** Returns the usage that a row contains. */
function usageOf({
  inputTokensSent: sent,
  cacheReadTokens,
  cacheWriteTokens,
  outputTokens,
  webSearches,
}: LedgerRow): Usage {
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  return {
    ...emptyUsage,
    inputTokens: Math.max(0, (sent ?? 0) - cached),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens,
    ...(webSearches !== null && { billing: { webSearches } }),
  };
}
