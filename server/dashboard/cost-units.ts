/** What one request cost, unit by unit. The sum is the ledger's: prices that changed since do not change it. */
import type { PricedProvider } from '../../stages/ledger/prices/price-list.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { emptyUsage } from '../../stages/model/usage.ts';
import type { Usage } from '../../stages/model/usage.ts';

export type CostUnit = 'input' | 'cache_read' | 'cache_write' | 'output' | 'other';

export interface CostUnitJson {
  readonly unit: CostUnit;
  /** Null for `other`. */
  readonly tokens: number | null;
  /** Dollars; null where the unit has no price. */
  readonly cost: number | null;
}

/**
 * Each unit at its price when the request began. `other` is the difference to what the ledger has:
 * terms such as speed, tiers, pictures, searches. Empty where nothing was measured or has a price.
 */
export function costUnits(
  row: LedgerRow,
  provider: PricedProvider | undefined,
  prices: Prices,
): readonly CostUnitJson[] {
  const { model, costNanoUsd, inputTokensSent: sent, outputTokens, startedMs } = row;
  if (provider === undefined || model === null || costNanoUsd === null || row.cacheHit) return [];
  const { cacheReadTokens, cacheWriteTokens } = row;
  const plain = sent === null ? null : sent - (cacheReadTokens ?? 0) - (cacheWriteTokens ?? 0);
  const units: readonly (readonly [CostUnit, number | null, keyof Usage])[] = [
    ['input', plain, 'inputTokens'],
    ['cache_read', cacheReadTokens, 'cacheReadTokens'],
    ['cache_write', cacheWriteTokens, 'cacheWriteTokens'],
    ['output', outputTokens, 'outputTokens'],
  ];
  const priced = units.flatMap(([unit, tokens, name]) => {
    if (tokens === null || tokens <= 0) return [];
    const usage: Usage = { ...emptyUsage, inputTokens: 0, [name]: tokens };
    return [{ unit, tokens, nanoUsd: prices.costNanoUsd(provider, model, usage, startedMs) }];
  });
  const known = priced.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);
  const other = costNanoUsd - known;
  // Each unit is rounded for itself.
  const isRounding = Math.abs(other) <= priced.length;
  return [
    ...priced.map(({ unit, tokens, nanoUsd }) => ({ unit, tokens, cost: toUsd(nanoUsd) })),
    ...(isRounding ? [] : [{ unit: 'other' as const, tokens: null, cost: toUsd(other) }]),
  ];
}
