/** How a cost grows with a size. Pure functions. */

/** One measured size. */
export interface Point {
  readonly size: number;
  readonly cost: number;
}

/**
 * Returns the exponent `e` of `cost = c × size^e`, by least squares of the logarithms: 1 if
 * linear, 0 if flat. NaN for fewer than two sizes, or for a cost that is not above zero.
 */
export function fittedExponent(points: readonly Point[]): number {
  const logs = points.map(({ size, cost }) => [Math.log(size), Math.log(cost)] as const);
  const meanX = mean(logs.map(([x]) => x));
  const meanY = mean(logs.map(([, y]) => y));
  const spread = mean(logs.map(([x]) => (x - meanX) ** 2));
  const exponent = mean(logs.map(([x, y]) => (x - meanX) * (y - meanY))) / spread;
  return Number.isFinite(exponent) ? exponent : Number.NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
