/**
 * Replays whole agent transcripts turn by turn: whether each request is a prefix of the next, and
 * what the conversation costs with and without svc in a simulated prompt cache.
 */
import { join } from 'node:path';
import { createBlockCache } from '../../stages/compress/pass/cache.ts';
import {
  compressConversation,
  type ConversationOptions,
} from '../../stages/compress/pass/conversation.ts';
import type { ConversationBlock } from '../../stages/compress/pass/blocks.ts';
import type { Mode } from '../../stages/compress/rules/rule.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { MAX_TYPED_CHARS } from '../../stages/model/protect.ts';
import { LENGTHS } from '../../server/estimate/sums.ts';
import { median } from '../figures.ts';
import { readRecords } from './corpus.ts';
import {
  READ_PRICES,
  costAt,
  createPromptCache,
  totalTokens,
} from '../../stages/prompt-cache/simulated.ts';
import type { CachedTokens } from '../../stages/prompt-cache/simulated.ts';

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly Part[];
  readonly is_error?: boolean;
}

/** A recorded conversation in messages shape. */
export interface Transcript {
  readonly id: string;
  readonly format: string;
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | readonly Part[];
  }[];
}

/** Reads the transcripts of a corpus. */
export function readTranscripts(corpus: string): readonly Transcript[] {
  return readRecords<Transcript>(join(corpus, 'transcripts/transcripts.jsonl'));
}

/** Converts a conversation to the blocks of the causal pass. */
export function toBlocks(transcript: Transcript): readonly ConversationBlock[] {
  const uses = new Map<string, Part>();
  const blocks: ConversationBlock[] = [transcript.tools, transcript.system].map((part, index) => ({
    index,
    role: 'system',
    kind: 'other',
    text: part === undefined ? '' : JSON.stringify(part),
    message: -1,
  }));
  transcript.messages.forEach(({ role, content }, message) => {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    for (const part of parts) {
      if (part.type === 'tool_use' && part.id !== undefined) uses.set(part.id, part);
      blocks.push({ index: blocks.length, role, message, ...describe(part, role, uses) });
    }
  });
  return blocks;
}

function describe(
  part: Part,
  role: string,
  uses: ReadonlyMap<string, Part>,
): Omit<ConversationBlock, 'index' | 'role' | 'message'> {
  if (part.type === 'tool_result') {
    const use = uses.get(part.tool_use_id ?? '');
    return {
      kind: 'tool_result',
      text: textOf(part.content),
      ...(use?.name === undefined ? {} : { toolName: use.name }),
      ...(use === undefined ? {} : { toolInput: use.input }),
      ...(part.is_error === true ? { isError: true } : {}),
    };
  }
  if (part.type === 'text') {
    const text = part.text ?? '';
    if (role !== 'user') return { kind: 'other', text };
    const typed = text.length <= MAX_TYPED_CHARS ? { protectedReason: 'typed' } : {};
    return { kind: 'user_text', text, ...typed };
  }
  if (part.type !== 'tool_use') return { kind: 'other', text: JSON.stringify(part) };
  return {
    kind: 'tool_use',
    text: JSON.stringify(part.input),
    toolInput: part.input,
    toolName: part.name ?? '',
  };
}

function textOf(content: Part['content']): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.map((part) => part.text ?? '').join('\n');
}

/** Result of one transcript. */
export interface TranscriptResult {
  readonly id: string;
  readonly mode: Mode;
  readonly source: string;
  readonly turns: number;
  /** True if the transcript contains the system prompt, which is then counted. */
  readonly hasSystem: boolean;
  readonly reachedThreshold: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Turns in which an earlier block was sent with other bytes than before. */
  readonly unstableTurns: number;
  /**
   * Input cost with svc, divided by input cost without; the turns follow each other within minutes.
   */
  readonly netCost: number;
  /** Same, if every tenth turn comes after the provider's cache has expired. */
  readonly netCostWithPauses: number;
  /** `netCost` at each of `READ_PRICES`. */
  readonly netCostByReadPrice: readonly number[];
}

/**
 * Replays a transcript: every prefix is compressed without prior state, as after a restart with an
 * empty cache.
 */
export function measureTranscript(
  transcript: Transcript,
  options: ConversationOptions,
  count: CountTokens,
): TranscriptResult {
  const blocks = toBlocks(transcript);
  const whole = compressConversation(blocks, options, createBlockCache(1000)).map(
    (outcome) => outcome.text,
  );
  const turns = turnEnds(transcript, blocks);
  let unstableTurns = 0;
  for (const end of sampled(turns)) {
    const part = compressConversation(blocks.slice(0, end), options);
    if (part.some((outcome, at) => outcome.text !== whole[at])) unstableTurns++;
  }
  const before = blocks.map(({ text }) => ({ text, tokens: count(text) }));
  const after = whole.map((text, at) =>
    text === blocks[at]!.text ? before[at]! : { text, tokens: count(text) },
  );
  const outcomes = compressConversation(blocks, options);
  const netCosts = (pauses: readonly number[]): readonly number[] => {
    const [ours, theirs] = [after, before].map((sent) => inputTokens(sent, turns, pauses));
    return READ_PRICES.map((price) => costAt(price, ours!) / costAt(price, theirs!));
  };
  return {
    id: transcript.id,
    mode: options.mode,
    source: transcript.id.split('-')[0]!,
    turns: turns.length,
    hasSystem: transcript.system !== undefined,
    reachedThreshold:
      sum(outcomes.map((outcome) => outcome.tokensBefore)) >= options.thresholdTokens,
    tokensBefore: sum(before.map(({ tokens }) => tokens)),
    tokensAfter: sum(after.map(({ tokens }) => tokens)),
    unstableTurns,
    netCost: netCosts([])[0]!,
    netCostWithPauses: netCosts(PAUSES)[0]!,
    netCostByReadPrice: netCosts([]),
  };
}

/**
 * Returns every turn of a normal transcript, or 120 evenly spaced turns of a very long one, since
 * each is replayed from the start.
 */
function sampled(turns: readonly number[]): readonly number[] {
  const step = Math.max(1, turns.length / 120);
  return turns.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
}

/**
 * Returns the number of blocks in each request of the conversation: all up to the next response.
 */
export function turnEnds(
  transcript: Transcript,
  blocks: readonly ConversationBlock[],
): readonly number[] {
  const ends = transcript.messages.flatMap(({ role }, message) =>
    role === 'assistant' ? [blocks.filter((block) => block.message! < message).length] : [],
  );
  return ends.filter((end) => end > 0);
}

const MINUTE_MS = 60_000;
/**
 * Turns, modulo 10 from 0, that come after the cache has expired. Transcripts do not record their
 * times.
 */
const PAUSES: readonly number[] = [9];
const PAUSE_MS = 10 * MINUTE_MS;

/**
 * Returns the input of all turns, with markers as Claude Code sets them: on system and tools, and
 * on the newest block.
 */
function inputTokens(
  blocks: readonly { readonly text: string; readonly tokens: number }[],
  turns: readonly number[],
  pauses: readonly number[],
): CachedTokens {
  const cache = createPromptCache();
  let atMs = 0;
  const sent = turns.map((end, turn) => {
    atMs += pauses.includes(turn % 10) ? PAUSE_MS : MINUTE_MS;
    return cache.send({ blocks: blocks.slice(0, end), breakpoints: [1, end - 1], atMs });
  });
  return totalTokens(sent);
}

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);

/** Sums over all transcripts of one source and mode that reach the threshold. */
export interface SourceSummary {
  readonly mode: Mode;
  readonly source: string;
  readonly transcripts: number;
  readonly withSystem: number;
  readonly saved: number;
  readonly medianNet: number;
  readonly worstNet: number;
  readonly medianNetWithPauses: number;
  readonly worstNetWithPauses: number;
  readonly unstableTurns: number;
  /** The median at each of `READ_PRICES`. */
  readonly medianNetByReadPrice: readonly number[];
  readonly worstNetByReadPrice: readonly number[];
}

/**
 * Returns one row per source and mode, and one for all coding agents (every source but tau-bench).
 */
export function summarise(results: readonly TranscriptResult[]): readonly SourceSummary[] {
  const reached = results.filter((result) => result.reachedThreshold);
  const modes = [...new Set(reached.map((result) => result.mode))];
  return modes.flatMap((mode) => {
    const own = reached.filter((result) => result.mode === mode);
    const sources = [...new Set(own.map((result) => result.source))];
    const rows = sources.map((source) =>
      summary(
        mode,
        source,
        own.filter((result) => result.source === source),
      ),
    );
    const agents = own.filter((result) => result.source !== 'tau');
    const byLength = LENGTHS.flatMap(({ from, to }) => {
      const some = agents.filter(({ turns }) => turns >= from && (to === null || turns <= to));
      const length = to === null ? `${from} turns and more` : `${from}–${to} turns`;
      return some.length === 0 ? [] : [summary(mode, `coding agents, ${length}`, some)];
    });
    return [...rows, summary(mode, 'all coding agents', agents), ...byLength];
  });
}

function summary(mode: Mode, source: string, results: readonly TranscriptResult[]): SourceSummary {
  const before = sum(results.map((result) => result.tokensBefore));
  const after = sum(results.map((result) => result.tokensAfter));
  const nets = results.map((result) => result.netCost);
  const withPauses = results.map((result) => result.netCostWithPauses);
  return {
    mode,
    source,
    transcripts: results.length,
    withSystem: results.filter(({ hasSystem }) => hasSystem).length,
    saved: 1 - after / before,
    medianNet: median(nets),
    worstNet: Math.max(...nets),
    medianNetWithPauses: median(withPauses),
    worstNetWithPauses: Math.max(...withPauses),
    unstableTurns: sum(results.map((result) => result.unstableTurns)),
    medianNetByReadPrice: READ_PRICES.map((_, at) => median(results.map(atPrice(at)))),
    worstNetByReadPrice: READ_PRICES.map((_, at) => Math.max(...results.map(atPrice(at)))),
  };
}

const atPrice =
  (at: number) =>
  ({ netCostByReadPrice }: TranscriptResult): number =>
    netCostByReadPrice[at]!;
