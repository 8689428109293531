/** Decides which repeats in a block become references, and which of its lines stay verbatim. */
import type { Classification, TextClass } from '../../model/classify/classes.ts';
import { withoutColours } from '../../model/classify/colours.ts';
import { openEnvelope } from '../../model/classify/envelope.ts';
import { estimateTokens } from '../../model/tokens.ts';
import type { Applied } from '../rules/rewrite.ts';
import type { Mode } from '../rules/rule.ts';
import { endingLines, envelopeLines } from '../rules/log/ending-lines.ts';
import { failedTests, failureMessages } from '../rules/log/failed-tests.ts';
import { isFailure, scoreLine } from '../rules/log/score.ts';
import { MARK } from '../text/marker.ts';
import { countedLines } from '../text/repeats.ts';
import { packedEnd } from '../rules/diff/signs.ts';
import { originsOf } from './origins.ts';
import type { TextWithReferences, SentLines } from './repeats.ts';
import { referToForm } from './same-text.ts';
import { editConfirmations } from './edit-confirmations.ts';

/** Tokens a reference must save, or a fifth of the block if that is less. */
const MIN_SAVED = 40;
/** A result below this many estimated tokens never consists of references alone. */
const SHORT_RESULT_TOKENS = 400;
/** Nor mostly: at least this share of its lines must remain. */
const MIN_REMAINING_SHARE = 0.2;
/**
 * Estimated tokens that the names of failed tests, and their failure messages, may take up
 * verbatim.
 */
const MAX_NAME_TOKENS = 1500;
const MAX_MESSAGE_TOKENS = 600;
/** Longest part of a line that is inspected, in characters. */
const MAX_LINE_CHARS = 300;

export interface RepeatContext {
  readonly mode: Mode;
  /** Number of lines of the block before the text. */
  readonly before: number;
  /** False if the provider may have forgotten earlier text. */
  readonly mayReferToEarlier: boolean;
  /**
   * False if references to the text's own lines are not allowed, as some of those will be left out.
   */
  readonly mayReferToOwn: boolean;
  /** True if a command printed the text. */
  readonly isRun: boolean;
  /** True if it is the result of an edit. */
  readonly isEdit: boolean;
  /** True if no reference may point to lines that were left out at its target. */
  readonly isAskedAgain: boolean;
}

/**
 * Replaces repeats in `applied` by references; undefined if none is worth it. `body` is the
 * original text. A short result is never references alone, the result of an edit has none, and in a
 * program's output the ends, the totals and the names of failed tests stay verbatim.
 */
export function referToRepeats(
  { text, classification, removed }: Applied,
  body: string,
  sent: SentLines,
  { mode, before, mayReferToEarlier, mayReferToOwn, isRun, isEdit, isAskedAgain }: RepeatContext,
): TextWithReferences | undefined {
  const isUnchanged = text === body;
  const total = estimateTokens(body);
  const isShort = total < SHORT_RESULT_TOKENS;
  if (isEdit && isShort) return undefined;
  const lines = text.split('\n');
  const ends = isSourceCode(classification, isRun) && !isEdit ? [] : literalLines(lines, isShort);
  const answers = editConfirmations(lines);
  // The header of the diff encoding promises that changed lines are kept.
  const changes = classification.kind === 'diff' && !isUnchanged ? changedLines(lines) : [];
  const options = {
    before,
    mayReferToEarlier,
    ...(isAskedAgain && { overHidden: 'none' as const }),
    mayReferToOwn: mayReferToOwn && mayReferToOwnLines(mode, classification, isUnchanged),
    // Each failure of a run counts separately, even if others read the same.
    distinct: new Set(failureMessages(lines, MAX_MESSAGE_TOKENS)),
    min: Math.min(MIN_SAVED, total / 5),
    ...(isUnchanged ? {} : { origins: originsOf(body, text, { removed, before }) }),
    literal: new Set([
      ...envelopeLines(text),
      ...ends,
      ...answers,
      ...changes,
      ...countedLines(lines),
    ]),
  };
  const isEnough = (referred: TextWithReferences | undefined): boolean =>
    referred !== undefined && (!isShort || isEnoughLeft(referred.text, text, ends.length));
  const referred = sent.replaceRepeats(text, options);
  if (referred === undefined || isEnough(referred)) return referred;
  // Lines that would be too many for one reference may be fine in several, with the comments
  // between them.
  const separate = sent.replaceRepeats(text, { overHidden: 'around', ...options });
  return isEnough(separate) ? separate : undefined;
}

/** Classes whose lines stay as printed, whatever was left out between them. */
const PRINTED_CLASSES: ReadonlySet<TextClass> = new Set(['log', 'trace']);

/**
 * Replaces a text that was sent before in the same form by a reference; undefined if that is not
 * worth it. The same lines stay verbatim as with any other reference.
 */
export function referToSameText(
  { text, classification }: Pick<Applied, 'text' | 'classification'>,
  body: string,
  sent: SentLines,
  {
    isRun,
    mayReferToEarlier,
    isEdit,
  }: Pick<RepeatContext, 'isRun' | 'mayReferToEarlier' | 'isEdit'>,
): Omit<TextWithReferences, 'covers'> | undefined {
  const form = mayReferToEarlier && text !== body ? sent.formOf(body) : undefined;
  if (form?.text !== text || isEdit) return undefined;
  const total = estimateTokens(body);
  const isShort = total < SHORT_RESULT_TOKENS;
  const isPrinted =
    PRINTED_CLASSES.has(classification.kind) && !isSourceCode(classification, isRun);
  const lines = text.split('\n');
  const ends = isPrinted ? literalLines(lines, isShort) : [];
  const referred = referToForm(form, {
    literal: new Set([
      ...envelopeLines(text),
      ...ends,
      ...editConfirmations(lines),
      ...countedLines(lines),
    ]),
    min: Math.min(MIN_SAVED, total / 5),
    wording: sent.wording,
  });
  if (referred === undefined) return undefined;
  if (isShort && !isEnoughLeft(referred.text, text, ends.length)) return undefined;
  return { text: referred.text, lines: referred.replacedLines, labels: new Set([form.label]) };
}

/** Returns the added and removed lines of a diff, including those in packed runs. */
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

/** Returns true if enough of the text remains; the client's envelope does not count. */
function isEnoughLeft(referred: string, text: string, ends: number): boolean {
  const left = countLines(openEnvelope(referred).body);
  const all = countLines(openEnvelope(text).body);
  return left > Math.min(ends, all) && left >= all * MIN_REMAINING_SHARE;
}

/**
 * Returns the lines that must stay verbatim. In a short text they include failures and warnings:
 * those are what a run was for, even if unchanged since the last.
 */
function literalLines(written: readonly string[], isShort: boolean): readonly number[] {
  const lines = written.map(withoutColours);
  const failures = isShort
    ? lines.flatMap((line, at) => (isFailure(scoreLine(line)) || isWarning(line) ? [at] : []))
    : [];
  return [...new Set([...endingLines(lines), ...failedTests(lines, MAX_NAME_TOKENS), ...failures])];
}

/**
 * How compilers, builds and linters word a warning, with or without a source position before it.
 */
const WARNING = /(?:^|[\s:[(])warn(?:ing)?(?: ?\[[\w-]{1,40}\])?[:(\]]|(?:^|\s)WARN(?:ING)?\s/i;

function isWarning(line: string): boolean {
  return WARNING.test(line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line);
}

/** Counts the lines that are neither blank nor markers. */
function countLines(text: string): number {
  return text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith(MARK)).length;
}

/**
 * Returns true for a file, or for code of unknown origin: its last lines do not show how a run
 * ended.
 */
function isSourceCode({ kind, file }: Classification, isRun: boolean): boolean {
  return file === true || (!isRun && (kind === 'code' || kind === 'config'));
}

/**
 * Returns true if a text may refer to its own lines. Code and configuration stay readable; JSON has
 * its own encoder.
 */
function mayReferToOwnLines(mode: Mode, { kind }: Classification, isUnchanged: boolean): boolean {
  if (kind === 'json') return false;
  return (kind !== 'code' && kind !== 'config') || (mode === 'aggressive' && isUnchanged);
}
