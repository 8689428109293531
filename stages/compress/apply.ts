/** One text through the algorithms of its class, with the gates that hold for all of them. */
import { classify } from '../model/classify/classify.ts';
import type { Classification } from '../model/classify/classes.ts';
import { openEnvelope } from '../model/classify/envelope.ts';
import { expectFrom, type ClassifyHints } from '../model/classify/hints.ts';
import { costsAtLeast, estimateTokens } from '../model/tokens.ts';
import {
  countLines,
  isSkipped,
  type CompressContext,
  type Compressed,
  type Compressor,
  type LineRange,
} from './compressor.ts';
import { GrammarNeeded } from './code/grammar-needed.ts';
import { hasMark } from './text/has-mark.ts';
import { jsonWithin } from './json/within.ts';
import { lineBreaks } from './text/line-breaks.ts';
import { endingLines } from './log/ends.ts';
import { followRows, numberRows, removedOf, toRows, type Row } from './text/line-numbers.ts';
import { compressorsFor } from './modes.ts';

/** Longest text that is looked at, in characters: a bound on work that needs no clock. */
export const WORK_BUDGET_CHARS = 4_000_000;

/** What came out for a text. `text` is the input itself where nothing was gained. */
export interface Applied {
  readonly text: string;
  readonly classification: Classification;
  /** Names of the algorithms that changed something, in order. */
  readonly by: readonly string[];
  /** Lines left out, numbered as in the block; where lines were encoded anew, as the first lossy algorithm saw them. */
  readonly removed: readonly LineRange[];
  readonly removedLines: number;
  /** Names of the algorithms that failed on this text, and so did nothing to it. */
  readonly failed?: readonly string[];
}

/** What `applyClass` needs beside the text. */
export type ApplyContext = Omit<CompressContext, 'classification'> & {
  readonly hints: ClassifyHints;
  /** Lines of the block before and behind the text; none if not given. */
  readonly linesBefore?: number;
  readonly linesAfter?: number;
};

/** How often an unmarked result is looked at again; two rounds have always sufficed. */
const MAX_ROUNDS = 4;

/**
 * Compresses one text. The result is never empty, never estimated larger than the input,
 * and compressing it again changes nothing: a text that carries our marks is left alone,
 * and one that does not (white space or colours gone) is taken through again until it
 * stands still.
 */
export function applyClass(text: string, context: ApplyContext): Applied {
  let applied = applyOnce(text, context);
  for (let round = 1; round < MAX_ROUNDS; round++) {
    if (applied.by.length === 0 || hasMark(applied.text)) return applied;
    const again = applyOnce(applied.text, context);
    if (again.by.length === 0) return applied;
    applied = {
      ...again,
      by: [...applied.by, ...again.by],
      removedLines: applied.removedLines + again.removedLines,
    };
  }
  return { ...applied, text, by: [], removed: [], removedLines: 0 };
}

function applyOnce(text: string, context: ApplyContext): Applied {
  const { hints, linesBefore = 0, linesAfter = 0, ...rest } = context;
  const { classification, head, body, tail } = opened(text, hints);
  const unchanged: Applied = {
    text,
    classification,
    by: [],
    removed: [],
    removedLines: 0,
  };
  if (context.mode === 'strict' || hasMark(text) || text.length > WORK_BUDGET_CHARS)
    return unchanged;
  if (isSkipped(context.applied, context.mode, classification.kind, hints.toolName))
    return unchanged;
  const first = linesBefore + lineBreaks(head);
  const total = linesBefore + lineBreaks(text) + 1 + linesAfter;
  const isPrinted = hints.command !== undefined && classification.file !== true;
  const isAsked = expectFrom(hints).kind === classification.kind;
  const mustKeepEnding = ({ name }: Compressor): boolean =>
    isPrinted && (REWORDING.has(name) || (REPORTING.has(name) && !isAsked));
  const done: Step[] = [];
  const failed: string[] = [];
  let current = body;
  for (const compressor of compressorsFor(context.mode, classification.kind)) {
    const result = attempt(compressor, current, { ...rest, classification });
    if (result === 'failed') failed.push(compressor.name);
    if (result === 'failed' || result === undefined || result.text === current) continue;
    if (!costsAtLeast(current, estimateTokens(result.text))) continue;
    if (mustKeepEnding(compressor) && !keepsEnding(current, result.text)) continue;
    current = result.text;
    done.push({ name: compressor.name, ...result });
  }
  const failures = failed.length === 0 ? {} : { failed };
  if (done.length === 0) return { ...unchanged, ...failures };
  const made = numbered(body, done, first, total);
  const out = head + made.text + tail;
  if (made.text.trim() === '' || !costsAtLeast(text, estimateTokens(out) + 1))
    return { ...unchanged, ...failures };
  return {
    text: out,
    classification,
    by: done.map((one) => one.name),
    removed: made.removed,
    removedLines: countLines(made.removed),
    ...failures,
  };
}

/** Algorithms that know nothing of how an output ends. */
const REWORDING: ReadonlySet<string> = new Set(['narrative', 'frames']);

/** Algorithms for hits and names, which linters and copying print too: what was not asked for them is somebody's log. */
const REPORTING: ReadonlySet<string> = new Set(['grep', 'same-hits', 'listing']);

/** True if the lines that tell how a command ended still stand there to the letter. */
function keepsEnding(before: string, after: string): boolean {
  const lines = before.split('\n');
  const kept = new Set(after.split('\n'));
  return [...endingLines(lines)].every((at) => kept.has(lines[at]!));
}

/** What a text is, without what stands around it. */
interface Opened {
  readonly classification: Classification;
  readonly head: string;
  readonly body: string;
  readonly tail: string;
}

/** A JSON document is found among other lines, which stay as they are. */
function opened(text: string, hints: ClassifyHints): Opened {
  const classification = classify(text, hints);
  const { head, body, tail } = openEnvelope(text);
  const within = classification.kind === 'json' ? undefined : jsonWithin(body);
  if (within === undefined) return { classification, head, body, tail };
  return {
    classification: { ...classification, kind: 'json' },
    head: head + within.head,
    body: within.document,
    tail: within.tail + tail,
  };
}

/** What the steps made of the text, with every line named by its number in the block. */
function numbered(body: string, steps: readonly Step[], first: number, total: number): Compressed {
  const { text } = steps.at(-1)!;
  const removed = steps.find((step) => step.removed.length > 0)?.removed ?? [];
  if (removed.length === 0) return { text, removed };
  let rows: readonly Row[] | undefined = toRows(body, first);
  for (const step of steps) rows = rows === undefined ? undefined : followRows(rows, step);
  if (rows === undefined) return { text, removed };
  return {
    text: numberRows(rows, total)
      .map((row) => row.text)
      .join('\n'),
    removed: removedOf(rows, first, first + lineBreaks(body) + 1),
  };
}

/** What an algorithm made of the text of the one before. */
interface Step extends Compressed {
  readonly name: string;
}

/**
 * A fault of one algorithm costs its saving on this one text. It comes from the text
 * alone, so the same text is left as it is in every later turn.
 */
function attempt(
  compressor: Compressor,
  text: string,
  context: CompressContext,
): ReturnType<Compressor['apply']> | 'failed' {
  try {
    return compressor.apply(text, context);
  } catch (thrown) {
    if (thrown instanceof GrammarNeeded) throw thrown;
    return 'failed';
  }
}
