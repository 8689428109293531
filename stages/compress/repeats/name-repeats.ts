/** Which repeats of a block are worth a reference, and which lines of it stay to the letter. */
import type { Classification, TextClass } from '../../model/classify/classes.ts';
import { withoutColours } from '../../model/classify/colours.ts';
import { openEnvelope } from '../../model/classify/envelope.ts';
import { estimateTokens } from '../../model/tokens.ts';
import type { Applied } from '../rules/rewrite.ts';
import type { Mode } from '../rules/rule.ts';
import { endingLines, saidAround } from '../rules/log/ends.ts';
import { failedTests, failureMessages } from '../rules/log/failed-tests.ts';
import { isFailure, scoreLine } from '../rules/log/score.ts';
import { MARK } from '../text/marker.ts';
import { countedLines } from '../text/repeats.ts';
import { packedEnd } from '../rules/diff/signs.ts';
import { originsOf } from './origins.ts';
import type { Referred, SentLines } from './repeats.ts';
import { referToForm } from './same-text.ts';
import { editConfirmations } from './edit-confirmations.ts';

/** What a reference must save, in estimated tokens, where a fifth of the block is more. */
const LEAST_SAVED = 40;
/** Below this many estimated tokens a result is never references alone. */
const SHORT_RESULT = 400;
/** Nor is it mostly that: of its lines such a share stands there. */
const NEW_SHARE = 0.2;
/** So many estimated tokens the names of failed tests may take that stay, and what they failed with. */
const MAX_NAMES = 1500;
const MAX_MESSAGES = 600;
/** Longest part of a line that is looked at, in characters. */
const SEEN = 300;

export interface RepeatContext {
  readonly mode: Mode;
  /** Lines of the block before the text. */
  readonly before: number;
  /** False where the provider may have forgotten what went out earlier. */
  readonly earlier: boolean;
  /** False where the text's own lines must not be named, as some are to be left out. */
  readonly own: boolean;
  /** True if a command printed the text. */
  readonly isRun: boolean;
  /** True if it is the result of an edit. */
  readonly isEdit: boolean;
  /** True where no reference may stand for lines that were left out where it points. */
  readonly isAskedAgain: boolean;
}

/**
 * What `applied` becomes with its repeats named; undefined where none is worth it. `body` is
 * the text as it came. A short result that somebody waits for is never references alone, that of an
 * edit has none, and of what a program printed the ends, the totals and the names of failed tests are there to the letter.
 */
export function nameRepeats(
  { text, classification, removed }: Applied,
  body: string,
  sent: SentLines,
  { mode, before, earlier, own, isRun, isEdit, isAskedAgain }: RepeatContext,
): Referred | undefined {
  const asItCame = text === body;
  const total = estimateTokens(body);
  const isShort = total < SHORT_RESULT;
  if (isEdit && isShort) return undefined;
  const lines = text.split('\n');
  const ends = isSourceCode(classification, isRun) && !isEdit ? [] : literalLines(lines, isShort);
  const answers = editConfirmations(lines);
  // What the header of an encoding says of them must hold.
  const changes = classification.kind === 'diff' && !asItCame ? changedLines(lines) : [];
  const options = {
    before,
    earlier,
    ...(isAskedAgain && { overHidden: 'none' as const }),
    own: own && namesOwn(mode, classification, asItCame),
    // Each failure of a run is one of its own, though others may read the same.
    distinct: new Set(failureMessages(lines, MAX_MESSAGES)),
    least: Math.min(LEAST_SAVED, total / 5),
    ...(asItCame ? {} : { origins: originsOf(body, text, { removed, before }) }),
    literal: new Set([
      ...saidAround(text),
      ...ends,
      ...answers,
      ...changes,
      ...countedLines(lines),
    ]),
  };
  const isEnough = (referred: Referred | undefined): boolean =>
    referred !== undefined && (!isShort || leavesEnough(referred.text, text, ends.length));
  const referred = sent.replaceRepeats(text, options);
  if (referred === undefined || isEnough(referred)) return referred;
  // What would be too much in one reference may be fair in several, with the comments between them.
  const apart = sent.replaceRepeats(text, { overHidden: 'around', ...options });
  return isEnough(apart) ? apart : undefined;
}

/** Classes whose lines are as they were printed, whatever was left out between them. */
const AS_PRINTED: ReadonlySet<TextClass> = new Set(['log', 'trace']);

/**
 * What `applied` becomes where the very text came before and went out in the same form; undefined
 * where that is not worth it. The same lines stay to the letter as beside any other reference.
 */
export function nameSameText(
  { text, classification }: Pick<Applied, 'text' | 'classification'>,
  body: string,
  sent: SentLines,
  { isRun, earlier, isEdit }: Pick<RepeatContext, 'isRun' | 'earlier' | 'isEdit'>,
): Omit<Referred, 'covers'> | undefined {
  const form = earlier && text !== body ? sent.formOf(body) : undefined;
  if (form?.text !== text || isEdit) return undefined;
  const total = estimateTokens(body);
  const isShort = total < SHORT_RESULT;
  const isPrinted = AS_PRINTED.has(classification.kind) && !isSourceCode(classification, isRun);
  const lines = text.split('\n');
  const ends = isPrinted ? literalLines(lines, isShort) : [];
  const referred = referToForm(form, {
    literal: new Set([
      ...saidAround(text),
      ...ends,
      ...editConfirmations(lines),
      ...countedLines(lines),
    ]),
    least: Math.min(LEAST_SAVED, total / 5),
    words: sent.words,
  });
  if (referred === undefined) return undefined;
  if (isShort && !leavesEnough(referred.text, text, ends.length)) return undefined;
  return { text: referred.text, lines: referred.named, labels: new Set([form.label]) };
}

/** The lines of a diff that come or go, also those whose sign stands above them. */
function changedLines(lines: readonly string[]): readonly number[] {
  const changed: number[] = [];
  for (let at = 0; at < lines.length; at++) {
    const end = packedEnd(lines, at);
    if (end === undefined && !/^[+-]/.test(lines[at]!)) continue;
    changed.push(at);
    for (; at + 1 < (end ?? 0); at++) changed.push(at + 1);
  }
  return changed;
}

/** What a harness writes around a result says nothing of it. */
function leavesEnough(referred: string, text: string, ends: number): boolean {
  const left = linesOf(openEnvelope(referred).body);
  const all = linesOf(openEnvelope(text).body);
  return left > Math.min(ends, all) && left >= all * NEW_SHARE;
}

/**
 * Of a short text also what states a failure or warns: that is what a run was for, also where it
 * is the same as before.
 */
function literalLines(written: readonly string[], isShort: boolean): readonly number[] {
  const lines = written.map(withoutColours);
  const failures = isShort
    ? lines.flatMap((line, at) => (isFailure(scoreLine(line)) || warns(line) ? [at] : []))
    : [];
  return [...new Set([...endingLines(lines), ...failedTests(lines, MAX_NAMES), ...failures])];
}

/** How compilers, builds and linters word a warning, behind a place or by itself. */
const WARNING = /(?:^|[\s:[(])warn(?:ing)?(?: ?\[[\w-]{1,40}\])?[:(\]]|(?:^|\s)WARN(?:ING)?\s/i;

function warns(line: string): boolean {
  return WARNING.test(line.length > SEEN ? line.slice(0, SEEN) : line);
}

/** Lines that are neither blank nor ours. */
function linesOf(text: string): number {
  return text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith(MARK)).length;
}

/** A file, or what reads like one where nothing is known of it, has no end that shows how something went. */
function isSourceCode({ kind, file }: Classification, isRun: boolean): boolean {
  return file === true || (!isRun && (kind === 'code' || kind === 'config'));
}

/** Code and configuration stay readable where they stand; what repeats within JSON its encoder knows. */
function namesOwn(mode: Mode, { kind }: Classification, asItCame: boolean): boolean {
  if (kind === 'json') return false;
  return (kind !== 'code' && kind !== 'config') || (mode === 'aggressive' && asItCame);
}
