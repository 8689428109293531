/**
 * Everything that a usage is billed for, as a list of units whose costs add up to the price; token
 * and context figures stay those of `Usage`.
 */
import type { Billing, Inference } from './billing.ts';
import type { Usage } from './usage.ts';
import { totalInputTokens } from './usage.ts';

/** A kind of unit with its own price. */
export type UnitName =
  | 'input'
  | 'cache_read'
  | 'cache_write'
  | 'cache_write_1h'
  | 'cache_write_12h'
  | 'output'
  | 'input_audio'
  | 'input_image'
  | 'input_video'
  | 'cache_read_audio'
  | 'cache_read_image'
  | 'output_audio'
  | 'output_image'
  | 'web_search'
  | 'file_search';

/** Units that are tool calls: counted one by one, at a price that no terms change. */
export const CALL_UNITS: ReadonlySet<UnitName> = new Set<UnitName>(['web_search', 'file_search']);

/** `count` of a unit, at the rates of one model. */
export interface BilledUnit {
  readonly unit: UnitName;
  readonly count: number;
  /** The model whose rates apply; undefined for the model that answered. */
  readonly model: string | undefined;
  /** All input tokens of the inference it belongs to: many models cost more above a threshold. */
  readonly promptTokens: number;
}

type Counts = Omit<Inference, 'model' | 'isInTotal' | 'promptTokens'>;

const COUNTS = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
] as const satisfies readonly (keyof Counts)[];

/** Returns everything that `usage` is billed for. Each token is in exactly one unit. */
export function billedUnits(usage: Usage): BilledUnit[] {
  const units: BilledUnit[] = [];
  const { billing } = usage;
  const whole = countsOf(usage);
  if (billing === undefined || !hasParts(billing)) {
    addTokens(units, whole, undefined, totalInputTokens(usage) ?? 0);
    return units;
  }
  const { inferences = [] } = billing;
  for (const each of inferences)
    if (!each.isInTotal || billing.isUnbilled !== true)
      addTokens(units, each, each.model, each.promptTokens ?? promptOf(each));
  if (billing.isUnbilled === true) return units.concat(callsOf(billing));
  // Tokens that the list does not account for are billed too, as part of the answer itself.
  const rest = restOf(whole, inferences);
  addTokens(units, rest, undefined, inferences.length === 0 ? promptOf(whole) : promptOf(rest));
  moveUnits(units, 'input', 'input_audio', billing.inputAudioTokens);
  moveUnits(units, 'input', 'input_image', billing.inputImageTokens);
  moveUnits(units, 'input', 'input_video', billing.inputVideoTokens);
  moveUnits(units, 'cache_read', 'cache_read_audio', billing.cacheReadAudioTokens);
  moveUnits(units, 'cache_read', 'cache_read_image', billing.cacheReadImageTokens);
  moveUnits(units, 'cache_write', 'cache_write_12h', billing.cacheWrite12hTokens);
  moveUnits(units, 'output', 'output_audio', billing.outputAudioTokens);
  moveUnits(units, 'output', 'output_image', billing.outputImageTokens);
  return units.concat(callsOf(billing));
}

function callsOf({ webSearches = 0, fileSearches = 0 }: Billing): BilledUnit[] {
  const units: BilledUnit[] = [];
  addUnit(units, 'web_search', webSearches, undefined, 0);
  addUnit(units, 'file_search', fileSearches, undefined, 0);
  return units;
}

/** Returns false if only the terms differ, or are the usual ones, as in most answers. */
function hasParts(billing: Billing): boolean {
  for (const name in billing) if (!TERMS.has(name)) return true;
  return false;
}

const TERMS = new Set<string>(['speed', 'tier', 'isUsualTier', 'geo'] satisfies (keyof Billing)[]);

function countsOf(usage: Usage): Counts {
  const cacheWriteTokens = usage.cacheWriteTokens ?? 0;
  return {
    inputTokens: usage.inputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    cacheReadTokens: usage.cacheReadTokens ?? 0,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(usage.cacheWrite1hTokens ?? 0, cacheWriteTokens),
  };
}

function restOf(whole: Counts, inferences: readonly Inference[]): Counts {
  const rest: Record<keyof Counts, number> = { ...whole };
  for (const each of inferences) {
    if (each.isInTotal) for (const name of COUNTS) rest[name] -= each[name];
  }
  for (const name of COUNTS) rest[name] = Math.max(0, rest[name]);
  return rest;
}

function promptOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: Counts): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

function addTokens(
  units: BilledUnit[],
  counts: Counts,
  model: string | undefined,
  promptTokens: number,
): void {
  const { cacheWriteTokens, cacheWrite1hTokens } = counts;
  const write1h = Math.min(cacheWrite1hTokens, cacheWriteTokens);
  addUnit(units, 'input', counts.inputTokens, model, promptTokens);
  addUnit(units, 'cache_read', counts.cacheReadTokens, model, promptTokens);
  addUnit(units, 'cache_write', cacheWriteTokens - write1h, model, promptTokens);
  addUnit(units, 'cache_write_1h', write1h, model, promptTokens);
  addUnit(units, 'output', counts.outputTokens, model, promptTokens);
}

function addUnit(
  units: BilledUnit[],
  unit: UnitName,
  count: number,
  model: string | undefined,
  promptTokens: number,
): void {
  if (count > 0) units.push({ unit, count, model, promptTokens });
}

/** Moves `count` of the answer's own units from the unit `from` to `to`. */
function moveUnits(units: BilledUnit[], from: UnitName, to: UnitName, count = 0): void {
  let left = count;
  for (let at = units.length - 1; at >= 0 && left > 0; at--) {
    const found = units[at]!;
    if (found.unit !== from || found.model !== undefined) continue;
    const moved = Math.min(left, found.count);
    left -= moved;
    units.splice(
      at,
      1,
      { ...found, count: found.count - moved },
      { ...found, unit: to, count: moved },
    );
  }
}
