/** JSON compared by Node's own parser, and by how its numbers are written. */
import { isDeepStrictEqual } from 'node:util';

/** What differs between two texts of JSON or JSON Lines; empty for nothing. */
export interface JsonVerdict {
  readonly faults: readonly string[];
  /** Numbers that were compared as written. */
  readonly numbers: number;
}

const NUMBER = /(?<=^|[[{:,\s])-?\d[\d.eE+-]*/g;
const STRING = /"(?:[^"\\]|\\.)*"/gs;

/** Compares values, and numbers to the letter: as values 1.0 and 1 are equal, and so are long integers that differ. */
export function compareJson(before: string, after: string): JsonVerdict {
  const was = values(before);
  const [wrote, writes] = [before, after].map((text) => text.replace(STRING, '""').match(NUMBER));
  const faults = [
    ...(was === undefined || !isDeepStrictEqual(was, values(after)) ? ['another value'] : []),
    ...(isDeepStrictEqual(wrote, writes) ? [] : ['a number is written in another way']),
  ];
  return { faults, numbers: wrote?.length ?? 0 };
}

/** The value of a JSON text, or those of its lines. */
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
