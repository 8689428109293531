/** Ridge logistic regression: weights that turn features into a probability. */
import { scoreSigns } from '../../stages/model/classify/signs.ts';

/** The features and outcome of one case. */
export interface Case {
  /** Starts with a constant 1, for the bias. */
  readonly features: readonly number[];
  readonly outcome: boolean;
}

/** Keeps weights small if there is little evidence for them. */
const RIDGE = 1;
const STEPS = 25;

/**
 * Returns the maximum likelihood weights for the cases, weighted by `counts`, using Newton's
 * method.
 */
export function fit(rows: readonly Case[], counts: readonly number[]): readonly number[] {
  const size = rows[0]?.features.length ?? 0;
  let weights: readonly number[] = Array.from({ length: size }, () => 0);
  for (let step = 0; step < STEPS; step++) {
    const system = Array.from({ length: size }, (_, at) => {
      const row = new Float64Array(size + 1);
      row[at] = at === 0 ? 1e-6 : RIDGE;
      row[size] = at === 0 ? 0 : RIDGE * weights[at]!;
      return row;
    });
    rows.forEach(({ features, outcome }, index) => {
      const probability = 1 / (1 + Math.exp(-scoreSigns(features, weights)));
      const slope = counts[index]! * (probability - (outcome ? 1 : 0));
      const curvature = counts[index]! * probability * (1 - probability);
      for (let at = 0; at < size; at++) {
        const sign = features[at]!;
        if (sign === 0) continue;
        const line = system[at]!;
        line[size]! += slope * sign;
        for (let other = 0; other < size; other++)
          line[other]! += curvature * sign * features[other]!;
      }
    });
    const change = solve(system);
    weights = weights.map((weight, at) => weight - change[at]!);
    if (Math.max(...change.map(Math.abs)) < 1e-5) break;
  }
  return weights;
}

/** Gauss-Jordan elimination; the last column is the right side. */
function solve(system: readonly Float64Array[]): readonly number[] {
  const size = system.length;
  for (let at = 0; at < size; at++) {
    const pivot = system[at]!;
    const scale = pivot[at]!;
    for (let column = at; column <= size; column++) pivot[column]! /= scale;
    for (const row of system) {
      const factor = row[at]!;
      if (row === pivot || factor === 0) continue;
      for (let column = at; column <= size; column++) row[column]! -= factor * pivot[column]!;
    }
  }
  return system.map((row) => row[size]!);
}
