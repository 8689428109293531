/** A growth table: what each size costs, the exponent that fits, and the one that is promised. */
import { verdict } from '../bars.ts';
import type { Verdict } from '../bars.ts';
import type { Child } from '../channel.ts';
import { median } from '../figures.ts';
import { columns, decimals, verdictText } from '../report.ts';
import type { SvcCommands } from '../svc-proxy.ts';
import { fittedExponent } from './fit.ts';
import type { Point } from './fit.ts';

/** Largest exponents that count as linear and as flat; a tenth is what noise makes of either. */
const MAX_EXPONENT = { linear: 1.1, flat: 0.1 } as const;

/** One table. */
export interface GrowthTable {
  readonly name: string;
  readonly about: string;
  /** What the sizes count. */
  readonly sizes: string;
  /** What the cost is, in milliseconds of processor time. */
  readonly cost: string;
  readonly growth: keyof typeof MAX_EXPONENT;
  /** Smallest size that is fitted; below it fixed costs outweigh the rest. */
  readonly from?: number;
  readonly points: readonly Point[];
}

/** Returns the processor milliseconds of svc's process during `work`. */
export async function cpuMsOf(
  svc: Child<SvcCommands>,
  work: () => Promise<unknown>,
): Promise<number> {
  const before = await svc.call('usage');
  await work();
  return ((await svc.call('usage')).cpuUs - before.cpuUs) / 1000;
}

/** Measures every size `rounds` times, up and down in turn; the medians are the points. */
export async function measurePoints<T extends { readonly size: number }>(
  steps: readonly T[],
  rounds: number,
  costOf: (step: T, round: number) => Promise<number>,
): Promise<readonly Point[]> {
  const costs = new Map<T, number[]>(steps.map((step) => [step, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const step of round % 2 === 0 ? steps : steps.toReversed())
      costs.get(step)!.push(await costOf(step, round));
  }
  return steps.map((step) => ({ size: step.size, cost: median(costs.get(step)!) }));
}

/** Judges the exponent of the fitted sizes. */
export function judgeGrowth({ name, growth, from = 0, points }: GrowthTable): Verdict {
  const fitted = points.filter(({ size }) => size >= from);
  const what = from > 0 ? `exponent from ${from.toLocaleString('en')} on` : 'exponent';
  const bar = { what, unit: 'x', direction: 'at most', bar: MAX_EXPONENT[growth] } as const;
  return verdict(bar, fittedExponent(fitted), name);
}

/** Formats the table and its verdict, without a final line end. */
export function growthText(table: GrowthTable): string {
  const { name, about, sizes, cost, growth, points } = table;
  const isLinear = growth === 'linear';
  const rows = points.map(({ size, cost: ms }) => [
    size.toLocaleString('en'),
    decimals(ms, 2),
    ...(isLinear ? [decimals((ms / size) * 1000, 3)] : []),
  ]);
  const head = [sizes, `${cost}, CPU ms`, ...(isLinear ? ['µs for each'] : [])];
  return [
    `${name}: ${about} (${growth})`,
    ...columns([head, ...rows]),
    verdictText(judgeGrowth(table)),
  ].join('\n');
}
