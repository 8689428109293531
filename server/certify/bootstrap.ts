/**
 * Median and confidence bounds of a share over sessions. The same values always give the same
 * bounds.
 */

export interface Bounds {
  readonly median: number;
  /** The median's 95 % interval, by resampling. */
  readonly from: number;
  readonly to: number;
}

const DRAWS = 1000;
const SEED = 0x2545f491;

/** Null if there are no values. */
export function boundsOf(values: readonly number[]): Bounds | null {
  if (values.length === 0) return null;
  let state = SEED;
  const draw = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % values.length;
  };
  const medians = Array.from({ length: DRAWS }, () =>
    medianOf(values.map(() => values[draw()]!)),
  ).toSorted((a, b) => a - b);
  const at = (share: number): number => medians[Math.floor(share * (DRAWS - 1))]!;
  return { median: medianOf(values), from: at(0.025), to: at(0.975) };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
