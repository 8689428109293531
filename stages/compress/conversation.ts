/**
 * The causal pass over a conversation: what goes out for a block depends on the mode, the
 * settings and the blocks up to it, on nothing else. No clock, no later block, no position
 * from the end and no cache decides a byte, so the rewritten beginning of a conversation
 * is the same in every turn, on every machine and after every restart.
 */
import type { Classification } from '../model/classify/classes.ts';
import type { ClassifyHints } from '../model/classify/hints.ts';
import { estimateTokens } from '../model/tokens.ts';
import { applyClass, type Applied, type ApplyContext } from './apply.ts';
import type { BlockCache } from './cache.ts';
import type { AppliedRules, CommentLines, LineRange, Mode } from './compressor.ts';
import { thinGutter } from './gutter.ts';
import { hasMark } from './has-mark.ts';
import { SentLines } from './repeats.ts';
import { splitPasted } from './user-text.ts';

/** One block of a conversation, in order. Blocks of any kind count towards the threshold. */
export interface ConversationBlock {
  readonly index: number;
  readonly role: string;
  /** Only `tool_result` and `user_text` are ever rewritten. */
  readonly kind: 'tool_result' | 'user_text' | 'tool_use' | 'other';
  readonly text: string;
  /** The message that the block belongs to; blocks of one message may be asked about by that message's text. */
  readonly message?: number;
  readonly toolName?: string;
  /** The tool's input, parsed. */
  readonly toolInput?: unknown;
  readonly isError?: boolean;
  /** Why the block must not be touched; set by whoever protects. */
  readonly protectedReason?: string;
}

export interface ConversationOptions {
  readonly mode: Mode;
  readonly maxChars: number;
  /** A block is eligible from the point on where the estimated tokens up to and including it reach this. */
  readonly thresholdTokens: number;
  readonly logBudgetTokens: number;
  /** What `svc learn apply` froze before the conversation began; absent where nothing was. */
  readonly applied?: AppliedRules;
  /** Comment ranges of code, for `aggressive`. Whether it is given must not change within a conversation. */
  readonly commentLines?: CommentLines;
}

/** What goes out for one block. */
export interface BlockOutcome {
  readonly index: number;
  readonly text: string;
  readonly changed: boolean;
  /**
   * Why it went out as it came: `kind`, `below-threshold`, `error-result`, `short`, `marked`,
   * `no-gain`, `strict`, or the reason it is protected.
   */
  readonly reason?: string;
  readonly classification?: Classification;
  /** Names of the algorithms that changed something. */
  readonly by: readonly string[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly removed: readonly LineRange[];
  /** Lines that are named by reference to an earlier block. */
  readonly repeatedLines: number;
}

/** Error results up to this many characters are never touched. */
const ERROR_CHARS = 8000;
/** A tool result below this many tokens is left alone, unless it repeats an earlier one. */
export const MIN_TOKENS = 60;
const QUERY_CHARS = 1500;
const LABEL_CHARS = 24;
/** The first thing in a command that looks like a file. */
const FILE_NAME = /[\w./@-]{1,200}\.[A-Za-z]\w{0,7}(?=['"\s;|&)]|$)/;

/** What is known before a block: grows block by block, and is what a memo keeps. */
export interface ConversationState {
  readonly outcomes: BlockOutcome[];
  readonly sent: SentLines;
  tokens: number;
  query: string;
  results: number;
  calls: number;
  userTexts: number;
}

export function emptyState(): ConversationState {
  const counts = { tokens: 0, results: 0, calls: 0, userTexts: 0 };
  return { outcomes: [], sent: new SentLines(), query: '', ...counts };
}

/**
 * What goes out for every block. `state` may already hold the outcome of the first `done`
 * blocks (see `memo.ts`); it is extended in place. `cache` saves time only.
 */
export function compressConversation(
  blocks: readonly ConversationBlock[],
  options: ConversationOptions,
  cache?: BlockCache,
  state: ConversationState = emptyState(),
  done = 0,
): readonly BlockOutcome[] {
  for (let at = done; at < blocks.length; at++) {
    const query = queryOf(blocks, at);
    if (query !== '') state.query = query;
    state.outcomes.push(compressBlock(blocks[at]!, options, cache, state));
  }
  return state.outcomes;
}

/** Short user text of the block's own message, or its own last paragraph: what is being asked. */
function queryOf(blocks: readonly ConversationBlock[], at: number): string {
  const block = blocks[at]!;
  if (block.kind !== 'user_text') return '';
  const same =
    block.message === undefined
      ? [block]
      : blocks.filter((other) => other.message === block.message && other.kind === 'user_text');
  return same
    .map((other) => splitPasted(other.text))
    .map((parts) => `${parts.intro}\n${parts.asked}`.slice(-QUERY_CHARS))
    .join('\n')
    .slice(-2 * QUERY_CHARS);
}

function compressBlock(
  block: ConversationBlock,
  options: ConversationOptions,
  cache: BlockCache | undefined,
  state: ConversationState,
): BlockOutcome {
  const tokensBefore = estimateTokens(block.text);
  state.tokens += tokensBefore;
  const label = labelOf(block, state);
  const reason = keptReason(block, options, state);
  const made = reason === undefined ? rewrite(block, options, cache, state) : undefined;
  const changed = made !== undefined && made.text !== block.text;
  const text = changed ? made.text : block.text;
  remember(block, label, text, state);
  return {
    index: block.index,
    text,
    changed,
    ...(reason !== undefined ? { reason } : changed ? {} : { reason: 'no-gain' }),
    ...(made === undefined ? {} : { classification: made.classification }),
    by: changed ? made.by : [],
    tokensBefore,
    tokensAfter: changed ? estimateTokens(text) : tokensBefore,
    removed: changed ? made.removed : [],
    repeatedLines: changed ? made.repeatedLines : 0,
  };
}

function keptReason(
  block: ConversationBlock,
  options: ConversationOptions,
  state: ConversationState,
): string | undefined {
  if (options.mode === 'strict') return 'strict';
  if (block.protectedReason !== undefined) return block.protectedReason;
  if (block.kind !== 'tool_result' && block.kind !== 'user_text') return 'kind';
  if (block.isError === true && block.text.length <= ERROR_CHARS) return 'error-result';
  if (state.tokens < options.thresholdTokens) return 'below-threshold';
  return hasMark(block.text) ? 'marked' : undefined;
}

interface Rewritten extends Applied {
  readonly repeatedLines: number;
  readonly labels?: ReadonlySet<string>;
}

/** The shortest of: compressed by class, with or without its repeats named, or only its repeats named. */
function rewrite(
  block: ConversationBlock,
  options: ConversationOptions,
  cache: BlockCache | undefined,
  state: ConversationState,
): Rewritten | undefined {
  const { head, body, tail } = pastedPart(block);
  if (body === '') return undefined;
  const context: ApplyContext = { ...options, query: state.query, hints: hintsOf(block) };
  const small = estimateTokens(body) < MIN_TOKENS;
  const applied = small ? undefined : applyCached(body, context, cache);
  const plain: Applied = applied ?? {
    text: body,
    classification: { kind: 'narrative' },
    by: [],
    removed: [],
    removedLines: 0,
  };
  const untouched: Applied = { ...plain, text: body, by: [], removed: [], removedLines: 0 };
  const made: Rewritten[] = [{ ...plain, repeatedLines: 0 }, nameRepeats(plain, state)];
  if (plain.text !== body) made.push(nameRepeats(untouched, state));
  const candidates = small ? made : made.flatMap((one) => [one, ...thinNumbers(one)]);
  const sizes = candidates.map((candidate) => estimateTokens(candidate.text));
  const best = candidates[sizes.indexOf(Math.min(...sizes))]!;
  if (best.labels !== undefined) state.sent.introduce(best.labels);
  return { ...best, text: head + best.text + tail };
}

function nameRepeats(applied: Applied, state: ConversationState): Rewritten {
  const referred = state.sent.replaceRepeats(applied.text);
  if (referred === undefined) return { ...applied, repeatedLines: 0 };
  return {
    ...applied,
    text: referred.text,
    by: [...applied.by, 'repeats'],
    repeatedLines: referred.lines,
    labels: referred.labels,
  };
}

function thinNumbers(made: Rewritten): readonly Rewritten[] {
  const text = thinGutter(made.text);
  return text === undefined ? [] : [{ ...made, text, by: [...made.by, 'gutter'] }];
}

function applyCached(text: string, context: ApplyContext, cache: BlockCache | undefined): Applied {
  if (cache === undefined) return applyClass(text, context);
  const key = cache.keyOf(text, context);
  const known = cache.get(key);
  if (known !== undefined) return known;
  const applied = applyClass(text, context);
  cache.set(key, applied);
  return applied;
}

/** Of a tool result the whole; of user text what was pasted, never what was asked. */
function pastedPart(block: ConversationBlock): { head: string; body: string; tail: string } {
  if (block.kind === 'tool_result') return { head: '', body: block.text, tail: '' };
  const parts = splitPasted(block.text);
  return { head: parts.intro, body: parts.pasted, tail: parts.asked };
}

const PATH_KEYS = ['file_path', 'path', 'filePath', 'filename', 'file'];
const COMMAND_KEYS = ['command', 'cmd', 'script'];

/** Where a tool result came from, as far as the tool's input tells. */
export function hintsOf(block: ConversationBlock): ClassifyHints {
  const input =
    typeof block.toolInput === 'object' && block.toolInput !== null ? block.toolInput : {};
  const text = (keys: readonly string[]): string | undefined => {
    for (const key of keys) {
      const value = (input as Record<string, unknown>)[key];
      if (typeof value === 'string') return value;
      if (Array.isArray(value) && value.every((part) => typeof part === 'string'))
        return value.join(' ');
    }
    return undefined;
  };
  const command = text(COMMAND_KEYS);
  const searches = /^(?:grep|search|glob|ls|list|find)/i.test(block.toolName ?? '');
  const path = command === undefined && !searches ? text(PATH_KEYS) : undefined;
  return {
    ...(block.toolName === undefined ? {} : { toolName: block.toolName }),
    ...(command === undefined ? {} : { command }),
    ...(path === undefined ? {} : { path }),
  };
}

/** Makes what went out findable for later blocks. What the model wrote itself counts too: it is always verbatim. */
function remember(
  block: ConversationBlock,
  label: string | undefined,
  text: string,
  state: ConversationState,
): void {
  if (label !== undefined) state.sent.add(label, text);
  if (block.kind !== 'tool_use') return;
  const call = `call ${++state.calls}${block.toolName === undefined ? '' : ` (${block.toolName})`}`;
  for (const [name, written] of longStrings('input', block.toolInput))
    state.sent.add(`${name} of ${call}`, written);
}

/** The long strings of an input, each under a name that no other of them has. */
function longStrings(name: string, input: unknown): readonly (readonly [string, string])[] {
  if (typeof input === 'string') return input.length >= 80 ? [[name, input]] : [];
  if (typeof input !== 'object' || input === null) return [];
  return Object.entries(input).flatMap(([key, value]) =>
    longStrings(name === 'input' ? key : `${name}.${key}`, value),
  );
}

/** How later blocks name this one; undefined where they may not refer to it. */
function labelOf(block: ConversationBlock, state: ConversationState): string | undefined {
  if (block.kind === 'user_text') return `user text ${++state.userTexts}`;
  if (block.kind !== 'tool_result') return undefined;
  state.results++;
  const { command, path, toolName } = hintsOf(block);
  const said =
    path ?? command?.slice(0, 300).match(FILE_NAME)?.[0] ?? command ?? toolName ?? 'tool';
  const what = said.slice(said.lastIndexOf('/', said.length - 2) + 1);
  const short = what.length > LABEL_CHARS ? `${what.slice(0, LABEL_CHARS - 1)}…` : what;
  return `result ${state.results} (${short})`;
}
