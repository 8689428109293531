/** Compares JSON with Node's own parser, and by the spelling of its numbers. */
import { isDeepStrictEqual } from 'node:util';

/** Differences between two JSON or JSON Lines texts; empty if there are none. */
export interface JsonVerdict {
  readonly faults: readonly string[];
  /** Numbers whose spelling was compared. */
  readonly numbers: number;
}

const NUMBER = /(?<=^|[[{:,\s])-?\d[\d.eE+-]*/g;
const STRING = /"(?:[^"\\]|\\.)*"/gs;

/**
 * Compares values, and numbers by their spelling: as values 1.0 equals 1, and different long
 * integers may be equal.
 */
export function compareJson(before: string, after: string): JsonVerdict {
  const originalValues = values(before);
  const [originalNumbers, compressedNumbers] = [before, after].map((text) =>
    text.replace(STRING, '""').match(NUMBER),
  );
  const faults = [
    ...(originalValues === undefined || !isDeepStrictEqual(originalValues, values(after))
      ? ['another value']
      : []),
    ...(isDeepStrictEqual(originalNumbers, compressedNumbers)
      ? []
      : ['a number is written in another way']),
  ];
  return { faults, numbers: originalNumbers?.length ?? 0 };
}

/** Returns the value of a JSON text, or those of its lines. */
function values(text: string): unknown {
  try {
    return [JSON.parse(text)];
  } catch {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    try {
      return lines.map((line): unknown => JSON.parse(line));
    } catch {
      return undefined;
    }
  }
}
