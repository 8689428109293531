/**
 * Shortens hits with equal text on different lines without loss: the text is written once, and
 * later hits refer to the line that has it. For searches whose hits have a number and no path.
 *
 *     93:    def run(self):
 *     352:=93
 */
import { estimateTokens } from '../../../model/tokens.ts';
import type { Apply } from '../rule.ts';
import { MARK } from '../../text/marker.ts';

const HEADER = `${MARK}hits, complete: "9:=5" has the text of the last 5: above]`;
const HIT = /^(\d{1,7}):(.*)$/s;
const HIT_REFERENCE = /^(\d{1,7}):=(\d{1,7})$/;
/** Shorter texts are not worth a reference. */
const MIN_TOKENS = 6;
/** References are harder to read, so they must save a tenth. */
const MAX_SIZE_SHARE = 0.9;

/** Replaces the text of hits that repeat one above. */
export const referToSameHits: Apply = (text) => {
  const lines = text.split('\n');
  if (lines.some((line) => HIT_REFERENCE.test(line.slice(0, 20)))) return undefined;
  const textOf = new Map<string, string>();
  const numberOf = new Map<string, string>();
  const named = lines.map((line) => {
    const [, number, content] = HIT.exec(line) ?? [];
    if (number === undefined || content === undefined) return line;
    const first = numberOf.get(content);
    const isFirstStill = first !== undefined && textOf.get(first) === content;
    textOf.set(number, content);
    if (isFirstStill && estimateTokens(content) >= MIN_TOKENS) return `${number}:=${first}`;
    numberOf.set(content, number);
    return line;
  });
  const out = [HEADER, ...named].join('\n');
  const worth = estimateTokens(out) <= estimateTokens(text) * MAX_SIZE_SHARE;
  return worth && !isView(lines) ? { text: out, removed: [] } : undefined;
};

/**
 * Returns true for a view of a file, whose numbers rise by one: it is read as code, in which
 * references would be in the way.
 */
function isView(lines: readonly string[]): boolean {
  const numbers = lines.map((line) => Number(HIT.exec(line)?.[1] ?? Number.NaN));
  const steps = numbers.filter((number, at) => number === numbers[at - 1]! + 1).length;
  return steps * 2 > lines.length;
}
