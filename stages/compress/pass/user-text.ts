/**
 * Separates what a user typed from what they pasted: only long pasted tool output is ever
 * compressed.
 */
import { classify } from '../../model/classify/classify.ts';
import type { TextClass } from '../../model/classify/classes.ts';
import { openEnvelope, type Envelope } from '../../model/classify/envelope.ts';
import { looksLikeProse } from '../../model/classify/prose.ts';

/** Shorter texts count as typed. */
const SHORT_CHARS = 1500;
const INTRO_CHARS = 400;

/**
 * Splits a user text into a short first paragraph that introduces the material, the material, and
 * the last paragraph, the question, with the white space before it. A text without material, or of
 * up to 1,500 characters, is all question.
 */
export function splitPasted(text: string): Envelope {
  const end = text.trimEnd().length;
  const last = text.lastIndexOf('\n\n', end - 1);
  if (text.length <= SHORT_CHARS || last < 0) return { prefix: '', body: '', suffix: text };
  const first = text.indexOf('\n\n');
  const introEnd = first > 0 && first <= INTRO_CHARS && first + 2 < last ? first + 2 : 0;
  return {
    prefix: text.slice(0, introEnd),
    body: text.slice(introEnd, last),
    suffix: text.slice(last),
  };
}

/** Classes that only programs write. */
const PROGRAM_CLASSES: ReadonlySet<TextClass> = new Set([
  'log',
  'json',
  'listing',
  'grep',
  'diff',
  'trace',
]);

/** Classes whose lines are rearranged: prose between them would become one of the names or hits. */
const REARRANGED_CLASSES: ReadonlySet<TextClass> = new Set(['listing', 'grep']);
/** Start of a line a person wrote: a list item, or words. `MM a.ts` is a Git status. */
const WRITTEN_LINE =
  /^[^\S\n]*(?:[-*•+>] |\d{1,3}[.)] |[^\p{L}\d\s./\\_-]{2,} ?\p{L}|(?![A-Z]{1,2} )\p{L}[\p{L}'’]+[,:;.!?]? \S|\p{L} \p{L}+(?:[ ,.!?:]|$)|\p{Lo}{4,})/mu;

/**
 * Returns true if the pasted text is plainly tool output: of a class that only programs write, with
 * no paragraph of prose in it, nor a written line between names or hits. An agent without tools of
 * its own sends command output as the user's words, in a wrapper; that is output whatever its
 * class, prose aside.
 */
export function isToolOutput(text: string, pasted: string): boolean {
  const { kind } = classify(pasted);
  const { prefix, body } = openEnvelope(text);
  if (PROGRAM_CLASSES.has(kind)) {
    const isWritten = prefix === '' && REARRANGED_CLASSES.has(kind) && WRITTEN_LINE.test(pasted);
    return kind === 'json' || !(isWritten || pasted.split(/\n[ \t]*\n/).some(isProse));
  }
  return prefix !== '' && classify(body).kind !== 'narrative';
}

function isProse(paragraph: string): boolean {
  return looksLikeProse(paragraph.split('\n').filter((line) => line.trim() !== ''));
}
