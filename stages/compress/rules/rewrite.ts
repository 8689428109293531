/**
 * Runs rules over one text: those that apply to it, step by step, with checks that hold for all
 * rules, built-in or not.
 */
import { classify } from '../../model/classify/classify.ts';
import type { Classification, TextClass } from '../../model/classify/classes.ts';
import { programsOf } from '../../model/classify/command.ts';
import { openEnvelope, type Envelope } from '../../model/classify/envelope.ts';
import { expectFrom, type ClassifyHints } from '../../model/classify/hints.ts';
import type { Rules } from '../../learned/rules.ts';
import { costsAtLeast, estimateTokens } from '../../model/tokens.ts';
import { GrammarNeeded } from './code/grammar-needed.ts';
import { jsonWithin } from './json/within.ts';
import { endingLines } from './log/ending-lines.ts';
import { statesFailure } from './log/outcome.ts';
import {
  STEPS,
  type CompressContext,
  type Compressed,
  type LineRange,
  type Mode,
  type Rule,
  type Search,
  type When,
} from './rule.ts';
import { hasMark } from '../text/has-mark.ts';
import { lineBreaks } from '../text/line-breaks.ts';
import { followRows, numberRows, removedOf, toRows, type Row } from '../text/line-numbers.ts';

/**
 * Maximum length of a text that is processed, in characters: a limit to the work that needs no
 * clock.
 */
const WORK_BUDGET_CHARS = 4_000_000;

/** The result for a text. `text` is the input itself if nothing was gained. */
export interface Applied {
  readonly text: string;
  readonly classification: Classification;
  /** Names of the rules that changed something, in order. */
  readonly by: readonly string[];
  /**
   * Lines left out, numbered as in the block; if lines were re-encoded, as the first lossy rule saw
   * them.
   */
  readonly removed: readonly LineRange[];
  /** True if a rule applied to the text, whether or not it gained anything. */
  readonly isTried: boolean;
  /** Names of the rules that threw on this text and so had no effect. */
  readonly failed?: readonly string[];
  /** Rules that skipped this text for a reason of their own, each as `name: reason`. */
  readonly skipped?: readonly string[];
}

/** Context of a text. */
export type ApplyContext = Omit<CompressContext, 'classification'> & {
  readonly hints: ClassifyHints;
  readonly applied?: Rules;
  /** Number of lines of the block before and after the text; 0 if absent. */
  readonly linesBefore?: number;
  readonly linesAfter?: number;
};

/** A set of rules that run together. */
export interface Rewriter {
  /**
   * Identifies the rules in cache keys, so that results of other rules are never mistaken for
   * theirs. Empty for the built-in ones, which have a version.
   */
  readonly id: string;
  /**
   * Compresses one text. The result is never empty, never estimated larger than the input, and a
   * fixed point: a text with svc markers is left alone, and a result without any (only white space
   * or colours gone) is processed again until it no longer changes.
   */
  readonly apply: (text: string, context: ApplyContext) => Applied;
}

/**
 * A search may return names, as `grep -l` or `find | grep` do; neither class has lines that show
 * how a command ended.
 */
const CLASSES_WITHOUT_ENDING: ReadonlySet<TextClass | undefined> = new Set(['grep', 'listing']);

/** A lossless result may be larger by this factor. */
const MAX_LOSSLESS_GROWTH = 1.1;

/** Maximum number of rounds for a result without markers; two have always sufficed. */
const MAX_ROUNDS = 4;

/** Builds a rewriter from rules. Throws if two rules share a name. */
export function rewrite(rules: readonly Rule[], id = ''): Rewriter {
  const twice = rules.find(({ name }, at) => rules.findIndex((one) => one.name === name) < at);
  if (twice !== undefined) throw new Error(`Two rules of compression are named ${twice.name}`);
  const ordered = STEPS.flatMap((step) => rules.filter((rule) => rule.step === step));
  return { id, apply: (text, context) => applyToFixedPoint(text, context, ordered) };
}

function applyToFixedPoint(text: string, context: ApplyContext, rules: readonly Rule[]): Applied {
  let applied = applyOnce(text, context, rules);
  for (let round = 1; round < MAX_ROUNDS; round++) {
    if (applied.by.length === 0 || hasMark(applied.text)) return applied;
    const again = applyOnce(applied.text, context, rules);
    if (again.by.length === 0) return applied;
    applied = { ...again, by: [...applied.by, ...again.by] };
  }
  return { ...applied, text, by: [], removed: [] };
}

function applyOnce(text: string, context: ApplyContext, rules: readonly Rule[]): Applied {
  const { hints, linesBefore = 0, linesAfter = 0, applied, ...rest } = context;
  const { classification, prefix, body, suffix } = openText(text, hints);
  const unchanged: Applied = {
    text,
    classification,
    by: [],
    removed: [],
    isTried: false,
  };
  if (context.mode === 'strict' || hasMark(text) || text.length > WORK_BUDGET_CHARS)
    return unchanged;
  if (isSkipped(applied, context.mode, classification.kind, hints.toolName)) return unchanged;
  let programs: readonly string[] | undefined;
  const hasRun = (names: readonly string[]): boolean =>
    (programs ??= programsOf(hints.command ?? '')).some((program) => names.includes(program));
  const meant = rules.filter(
    ({ when }) =>
      meetsConditions(when, context, classification) &&
      (when.program === undefined || hasRun(when.program)) &&
      when.content?.(body) !== false,
  );
  if (meant.length === 0) return unchanged;
  const first = linesBefore + lineBreaks(prefix);
  const total = linesBefore + lineBreaks(text) + 1 + linesAfter;
  const isPrinted = hints.command !== undefined && classification.file !== true;
  const options = {
    ...(hints.query !== undefined && { callQuery: hints.query }),
    ...(hints.command !== undefined && { call: hints.command }),
  };
  const isFailed = hints.failed === true || statesFailure(`${prefix}\n${suffix}`.split('\n'));
  const expected = expectFrom(hints).kind;
  const isExpected =
    expected === classification.kind ||
    (CLASSES_WITHOUT_ENDING.has(expected) && CLASSES_WITHOUT_ENDING.has(classification.kind));
  const mustKeepEnding = ({ endings = 'checked' }: Rule): boolean =>
    isPrinted && endings !== 'own' && !(endings === 'checked-unless-expected' && isExpected);
  const run = (some: readonly Rule[]): Outcome =>
    runRules(some, body, { ...rest, ...options, classification, isFailed }, mustKeepEnding);
  let best = run(meant);
  if (best.done.some(({ isOptional }) => isOptional)) {
    const plain = run(meant.filter(({ isOptional }) => isOptional !== true));
    const isLossless = plain.done.every(({ removed }) => removed.length === 0);
    const room = isLossless ? MAX_LOSSLESS_GROWTH : 1;
    if (estimateTokens(plain.text) < estimateTokens(best.text) * room) best = plain;
  }
  const { done, failed, skipped } = best;
  const tried: Applied = {
    ...unchanged,
    isTried: true,
    ...(failed.length === 0 ? {} : { failed }),
    ...(skipped.length === 0 ? {} : { skipped }),
  };
  if (done.length === 0) return tried;
  const made = withBlockNumbers(body, done, first, total);
  const out = prefix + made.text + suffix;
  if (made.text.trim() === '' || !costsAtLeast(text, estimateTokens(out) + 1)) return tried;
  return {
    ...tried,
    text: out,
    by: done.map((one) => one.name),
    removed: made.removed,
  };
}

/** The result of rules applied one after the other. */
interface Outcome {
  readonly text: string;
  readonly done: readonly AppliedRule[];
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
}

function runRules(
  rules: readonly Rule[],
  body: string,
  context: CompressContext,
  mustKeepEnding: (rule: Rule) => boolean,
): Outcome {
  const done: AppliedRule[] = [];
  const failed: string[] = [];
  const skipped: string[] = [];
  const kept = createLineGuard();
  let text = body;
  for (const rule of rules) {
    const result = tryRules(rule, text, context);
    if (result === 'failed') failed.push(rule.name);
    if (result === 'failed' || result === undefined) continue;
    if ('skipped' in result) {
      skipped.push(`${rule.name}: ${result.skipped}`);
      continue;
    }
    if (result.text === text) continue;
    if (!costsAtLeast(text, estimateTokens(result.text))) continue;
    if (Buffer.byteLength(result.text) > Buffer.byteLength(text)) continue;
    if (mustKeepEnding(rule) && !keepsEnding(text, result.text)) continue;
    const lost = kept.lineLostBy(rule, text, result);
    if (lost !== undefined) {
      skipped.push(`${rule.name}: it would lose ${JSON.stringify(lost.slice(0, 80))}`);
      continue;
    }
    kept.add(rule, text);
    text = result.text;
    done.push({ name: rule.name, isOptional: rule.isOptional === true, ...result });
  }
  return { text, done, failed, skipped };
}

/** Tracks the lines that the rules applied so far must keep, and detects their loss. */
function createLineGuard() {
  const keeps: NonNullable<Rule['keeps']>[] = [];
  /** The text as the first of them saw it. */
  let first: readonly string[] = [];
  return {
    add({ keeps: more }: Rule, text: string): void {
      if (more === undefined) return;
      if (keeps.length === 0) first = text.split('\n');
      keeps.push(more);
    },
    /** Returns the first line that would be lost; lines that are only re-encoded are not. */
    lineLostBy(rule: Rule, text: string, { text: after, removed }: Compressed): string | undefined {
      if (keeps.length === 0) return undefined;
      const all = rule.keeps === undefined ? keeps : [...keeps, rule.keeps];
      const isKept = (line: string): boolean => all.some((keep) => keep(line));
      if (rule.isOptional !== true) {
        const lines = text.split('\n');
        return removed.flatMap(({ from, to }) => lines.slice(from, to)).find(isKept);
      }
      const left = new Set(after.split('\n'));
      return first.find((line) => isKept(line) && !left.has(line));
    },
  };
}

/** Returns true if a learned rule says to leave output of this class from this tool alone. */
function isSkipped(
  rules: Rules | undefined,
  mode: Mode,
  kind: TextClass,
  toolName: string | undefined,
): boolean {
  return toolName !== undefined && rules?.skip.includes(`${mode} ${kind} ${toolName}`) === true;
}

const REWRITING: readonly Mode[] = ['hybrid', 'aggressive'];

/** Returns true if every condition holds except those on the command and on the text itself. */
function meetsConditions(when: When, { mode, hints }: ApplyContext, of: Classification): boolean {
  const { command, toolName, path } = hints;
  return (
    when.class.includes(of.kind) &&
    (when.mode ?? REWRITING).includes(mode) &&
    (when.extension === undefined || isOneOf(when.extension, of.extension)) &&
    (when.tool === undefined || matches(when.tool, toolName)) &&
    (when.path === undefined || matches(when.path, path)) &&
    (when.command === undefined || matches(when.command, command)) &&
    when.unless?.(hints) !== true
  );
}

const isOneOf = (list: readonly string[], one: string | undefined): boolean =>
  one !== undefined && list.includes(one);

/** Longer commands add no information, and may contain a whole file. */
const MAX_SEARCHED_CHARS = 2000;

function matches(search: Search, text: string | undefined): boolean {
  if (text === undefined) return false;
  const cut = text.slice(0, MAX_SEARCHED_CHARS);
  return typeof search === 'function' ? search(cut) : cut.search(search) >= 0;
}

/** Returns true if the lines that show how a command ended are still there verbatim. */
function keepsEnding(before: string, after: string): boolean {
  const lines = before.split('\n');
  const kept = new Set(after.split('\n'));
  return [...endingLines(lines)].every((at) => kept.has(lines[at]!));
}

/** A text without its envelope, and its class. */
interface OpenedText extends Envelope {
  readonly classification: Classification;
}

/** Opens a text; a JSON document is found among other lines, which stay unchanged. */
function openText(text: string, hints: ClassifyHints): OpenedText {
  const classification = classify(text, hints);
  const { prefix, body, suffix } = openEnvelope(text);
  const within = classification.kind === 'json' ? undefined : jsonWithin(body);
  if (within === undefined) return { classification, prefix, body, suffix };
  return {
    classification: { ...classification, kind: 'json' },
    prefix: prefix + within.prefix,
    body: within.body,
    suffix: within.suffix + suffix,
  };
}

/** Returns the result of the steps, with every line numbered as in the block. */
function withBlockNumbers(
  body: string,
  steps: readonly AppliedRule[],
  first: number,
  total: number,
): Compressed {
  const { text } = steps.at(-1)!;
  const removed = steps.find((step) => step.removed.length > 0)?.removed ?? [];
  if (removed.length === 0) return { text, removed };
  let rows: readonly Row[] | undefined = toRows(body, first);
  for (const step of steps) rows = rows === undefined ? undefined : followRows(rows, step);
  if (rows === undefined) {
    const inBlock = removed.map(({ from, to }) => ({ from: from + first, to: to + first }));
    return { text, removed: inBlock };
  }
  return {
    text: numberRows(rows, total)
      .map((row) => row.text)
      .join('\n'),
    removed: removedOf(rows, first, first + lineBreaks(body) + 1),
  };
}

/** The result of one rule on the text of the one before. */
interface AppliedRule extends Compressed {
  readonly name: string;
  readonly isOptional: boolean;
}

/**
 * Runs a rule; if it throws, only its saving on this text is lost. A fault depends on the text
 * alone, so the same text is left alone in every later turn.
 */
function tryRules(
  rule: Rule,
  text: string,
  context: CompressContext,
): ReturnType<Rule['apply']> | 'failed' {
  try {
    return rule.apply(text, context);
  } catch (thrown) {
    if (thrown instanceof GrammarNeeded) throw thrown;
    return 'failed';
  }
}
