/**
 * Runs rules over one text: those that are meant for it, step by step, with the gates that hold
 * for all of them, whoever wrote them.
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
import { endingLines } from './log/ends.ts';
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

/** Longest text that is looked at, in characters: a bound on work that needs no clock. */
const WORK_BUDGET_CHARS = 4_000_000;

/** What came out for a text. `text` is the input itself where nothing was gained. */
export interface Applied {
  readonly text: string;
  readonly classification: Classification;
  /** Names of the rules that changed something, in order. */
  readonly by: readonly string[];
  /** Lines left out, numbered as in the block; where lines were encoded anew, as the first lossy rule saw them. */
  readonly removed: readonly LineRange[];
  /** True where a rule was meant for the text, whether or not it gained anything. */
  readonly isTried: boolean;
  /** Names of the rules that failed on this text, and so did nothing to it. */
  readonly failed?: readonly string[];
  /** Rules that left this text alone for a reason of its own, each as `name: reason`. */
  readonly skipped?: readonly string[];
}

/** What is known of a text beside its characters. */
export type ApplyContext = Omit<CompressContext, 'classification'> & {
  readonly hints: ClassifyHints;
  readonly applied?: Rules;
  /** Lines of the block before and behind the text; none if not given. */
  readonly linesBefore?: number;
  readonly linesAfter?: number;
};

/** Rules that run together. */
export interface Rewriter {
  /**
   * Stands for the rules in the keys of what is kept: texts that other rules made are never
   * taken for theirs. Empty for the built-in ones, which have a version.
   */
  readonly id: string;
  /**
   * Compresses one text. The result is never empty, never estimated larger than the input,
   * and compressing it again changes nothing: a text that carries our marks is left alone,
   * and one that does not (white space or colours gone) is taken through again until it
   * stands still.
   */
  readonly apply: (text: string, context: ApplyContext) => Applied;
}

/** Who searches may get names, as of `grep -l` or `find | grep`; neither has an end that shows how it went. */
const FACTS: ReadonlySet<TextClass | undefined> = new Set(['grep', 'listing']);

/** So much larger may a text be of which nothing is left out. */
const LOSSLESS_ROOM = 1.1;

/** How often an unmarked result is looked at again; two rounds have always sufficed. */
const MAX_ROUNDS = 4;

/** Makes one compressor of rules. Throws where two of them have one name. */
export function rewrite(rules: readonly Rule[], id = ''): Rewriter {
  const twice = rules.find(({ name }, at) => rules.findIndex((one) => one.name === name) < at);
  if (twice !== undefined) throw new Error(`Two rules of compression are named ${twice.name}`);
  const ordered = STEPS.flatMap((step) => rules.filter((rule) => rule.step === step));
  return { id, apply: (text, context) => applyUntilStill(text, context, ordered) };
}

function applyUntilStill(text: string, context: ApplyContext, rules: readonly Rule[]): Applied {
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
  const { classification, prefix, body, suffix } = opened(text, hints);
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
      isMeant(when, context, classification) &&
      (when.program === undefined || hasRun(when.program)) &&
      when.content?.(body) !== false,
  );
  if (meant.length === 0) return unchanged;
  const first = linesBefore + lineBreaks(prefix);
  const total = linesBefore + lineBreaks(text) + 1 + linesAfter;
  const isPrinted = hints.command !== undefined && classification.file !== true;
  const asked = {
    ...(hints.query !== undefined && { asked: hints.query }),
    ...(hints.command !== undefined && { call: hints.command }),
  };
  const isFailed = hints.failed === true || statesFailure(`${prefix}\n${suffix}`.split('\n'));
  const expected = expectFrom(hints).kind;
  const isExpected =
    expected === classification.kind || (FACTS.has(expected) && FACTS.has(classification.kind));
  const mustKeepEnding = ({ endings = 'checked' }: Rule): boolean =>
    isPrinted && endings !== 'own' && !(endings === 'checked-unless-expected' && isExpected);
  const run = (some: readonly Rule[]): Outcome =>
    runRules(some, body, { ...rest, ...asked, classification, isFailed }, mustKeepEnding);
  let best = run(meant);
  if (best.done.some(({ isOptional }) => isOptional)) {
    const plain = run(meant.filter(({ isOptional }) => isOptional !== true));
    const isLossless = plain.done.every(({ removed }) => removed.length === 0);
    const room = isLossless ? LOSSLESS_ROOM : 1;
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
  const made = numbered(body, done, first, total);
  const out = prefix + made.text + suffix;
  if (made.text.trim() === '' || !costsAtLeast(text, estimateTokens(out) + 1)) return tried;
  return {
    ...tried,
    text: out,
    by: done.map((one) => one.name),
    removed: made.removed,
  };
}

/** What rules made of a text, one after the other. */
interface Outcome {
  readonly text: string;
  readonly done: readonly Done[];
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
}

function runRules(
  rules: readonly Rule[],
  body: string,
  context: CompressContext,
  mustKeepEnding: (rule: Rule) => boolean,
): Outcome {
  const done: Done[] = [];
  const failed: string[] = [];
  const skipped: string[] = [];
  const kept = keptLines();
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
    const lost = kept.lostBy(rule, text, result);
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

/** What the rules that ran say must stay, and what would be lost of it. */
function keptLines() {
  const keeps: NonNullable<Rule['keeps']>[] = [];
  /** As the first of them saw it. */
  let first: readonly string[] = [];
  return {
    add({ keeps: more }: Rule, text: string): void {
      if (more === undefined) return;
      if (keeps.length === 0) first = text.split('\n');
      keeps.push(more);
    },
    /** The first line that would be lost; what is only written in another way can be decoded. */
    lostBy(rule: Rule, text: string, { text: after, removed }: Compressed): string | undefined {
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

/** True if what was learned says that output of this class from this tool is left alone. */
function isSkipped(
  rules: Rules | undefined,
  mode: Mode,
  kind: TextClass,
  toolName: string | undefined,
): boolean {
  return toolName !== undefined && rules?.skip.includes(`${mode} ${kind} ${toolName}`) === true;
}

const REWRITING: readonly Mode[] = ['hybrid', 'aggressive'];

/** True if every condition holds that asks neither for what the command ran nor for the text itself. */
function isMeant(when: When, { mode, hints }: ApplyContext, of: Classification): boolean {
  const { command, toolName, path } = hints;
  return (
    when.class.includes(of.kind) &&
    (when.mode ?? REWRITING).includes(mode) &&
    (when.extension === undefined || isOneOf(when.extension, of.extension)) &&
    (when.tool === undefined || isFound(when.tool, toolName)) &&
    (when.path === undefined || isFound(when.path, path)) &&
    (when.command === undefined || isFound(when.command, command)) &&
    when.unless?.(hints) !== true
  );
}

const isOneOf = (list: readonly string[], one: string | undefined): boolean =>
  one !== undefined && list.includes(one);

/** Longer ones say nothing more, and may hold a whole file. */
const MAX_SEARCHED = 2000;

function isFound(search: Search, text: string | undefined): boolean {
  if (text === undefined) return false;
  const cut = text.slice(0, MAX_SEARCHED);
  return typeof search === 'function' ? search(cut) : cut.search(search) >= 0;
}

/** True if the lines that tell how a command ended still stand there to the letter. */
function keepsEnding(before: string, after: string): boolean {
  const lines = before.split('\n');
  const kept = new Set(after.split('\n'));
  return [...endingLines(lines)].every((at) => kept.has(lines[at]!));
}

/** What a text is, without what stands around it. */
interface Opened extends Envelope {
  readonly classification: Classification;
}

/** A JSON document is found among other lines, which stay as they are. */
function opened(text: string, hints: ClassifyHints): Opened {
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

/** What the steps made of the text, with every line named by its number in the block. */
function numbered(body: string, steps: readonly Done[], first: number, total: number): Compressed {
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

/** What a rule made of the text of the one before. */
interface Done extends Compressed {
  readonly name: string;
  readonly isOptional: boolean;
}

/**
 * A fault of one rule costs its saving on this one text. It comes from the text alone, so
 * the same text is left as it is in every later turn.
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
