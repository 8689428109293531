/**
 * One conversation as a proxy would have sent it, and what that did to it: lines that the model wrote
 * again later, lines that say what failed, the beginning of each request, and what svc would have
 * claimed. Every turn is compressed as a running proxy does; some, and the last before each pause
 * that changes the past, from nothing as well, as after a restart.
 */
import { decodedText, keptLines } from '../../stages/compress/decode/kept-lines.ts';
import { toConversationBlocks } from '../../stages/compress/pass/blocks.ts';
import type { ConversationState } from '../../stages/compress/pass/conversation.ts';
import type { ConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import { isThought, signsThoughts } from '../../stages/conversations/standing.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import type { Block } from '../../stages/model/block.ts';
import { estimateTokens } from '../../stages/model/tokens.ts';
import { coldMoments } from '../estimate/cold-moments.ts';
import type { EstimateSettings } from '../estimate/conversation.ts';
import { playConversation } from '../estimate/play.ts';
import type { SentBlock } from '../estimate/play.ts';
import { asRequest } from '../sessions/as-request.ts';
import { bodyOf } from '../sessions/session.ts';
import type { Conversation, SessionRequest } from '../sessions/session.ts';
import { failureLines, formOf, shown } from './failures.ts';
import { comparableLines, isSameJson, writtenLines } from './lines.ts';

/** Where a promise was broken. Turns and blocks count from 1. */
export interface Broken {
  readonly check: 'retention' | 'prefix' | 'failures';
  readonly session: string;
  readonly turn: number;
  readonly block: number;
  /** The line that is missing, or what happened. */
  readonly line: string;
}

/** Counts over requests and lines. */
export interface Checked {
  readonly turns: number;
  readonly fromNothing: number;
  /** Pauses at which the past may change, since the provider keeps nothing of it. */
  readonly cold: number;
  readonly thoughts: number;
  readonly changedBlocks: number;
  readonly quoted: number;
  readonly failureLines: number;
  /** Of all requests together: what svc counts as saved before it is made the model's own, and a public tokenizer's count. */
  readonly claimedTokens: number;
  readonly recountedTokens: number;
  readonly broken: readonly Broken[];
}

export interface CheckOptions {
  readonly compressor: Pick<ConversationCompressor, 'compress' | 'fromNothing'>;
  readonly settings: EstimateSettings;
  readonly count: CountTokens;
}

type Job = Parameters<ConversationCompressor['compress']>[0];

/** Requests between two moments at which the past may change. */
interface Epoch {
  readonly requests: readonly SessionRequest[];
  readonly isCold: boolean;
}

export async function checkConversation(
  conversation: Conversation,
  { compressor, settings, count }: CheckOptions,
): Promise<Checked> {
  const { coldTrimMs = null, tools: _tools, ...plain } = settings;
  const { requests, sessionId, items, dialect } = conversation;
  const whole = asRequest(dialect, bodyOf(conversation, items.length));
  const blocks = whole.original.blocks();
  const isSigned = signsThoughts(whole.original);
  const taken = new Map(toConversationBlocks(whole).map((block) => [block.index, block]));
  let job: Job | undefined;
  const play = playConversation(
    conversation,
    {
      compress(next) {
        job = next;
        return compressor.compress(next);
      },
    },
    plain,
  );
  const cold = coldTrimMs === null ? new Set() : coldMoments(conversation, coldTrimMs);
  const broken: Broken[] = [];
  const sums = {
    turns: 0,
    fromNothing: 0,
    cold: 0,
    thoughts: isSigned ? blocks.filter(isThought).length : 0,
    changedBlocks: 0,
    quoted: 0,
    failureLines: 0,
    claimedTokens: 0,
    recountedTokens: 0,
  };
  const told = (check: Broken['check'], turn: number, block: number, line: string): void => {
    broken.push({ check, session: sessionId, turn, block: block + 1, line });
  };
  const savings = new Map<string, readonly [claimed: number, recounted: number]>();
  const saved = ({ text, sent }: SentBlock): readonly [number, number] => {
    const key = `${sent}\0${text}`;
    const known = savings.get(key) ?? [
      estimateTokens(text) - estimateTokens(sent),
      count(text) - count(sent),
    ];
    savings.set(key, known);
    return known;
  };
  const quotes = createQuotes(blocks);
  const judged = new Set<string>();
  let before: readonly SentBlock[] = [];
  for (const epoch of epochsOf(requests, (one) => cold.has(one) && !play.isBound(one.items))) {
    for (const [at, request] of epoch.requests.entries()) {
      const turn = (sums.turns += 1);
      const isCold = epoch.isCold && at === 0;
      if (isCold) sums.cold += 1;
      const sent = await play.send(request.items, isCold);
      const changed = before.find(({ sent: text, index }, n) => {
        return sent[n]?.index === index && sent[n].sent !== text;
      });
      if (changed !== undefined && !isCold)
        told('prefix', turn, changed.index, 'went out with other bytes than in the turn before');
      const isLast = at === epoch.requests.length - 1;
      // Every power of two: all of them together take twice as long as the last.
      if (job !== undefined && !isCold && (isLast || (turn & (turn - 1)) === 0)) {
        sums.fromNothing += 1;
        const state = await compressor.fromNothing(job);
        const texts = new Map(state.outcomes.map(({ index, text }) => [index, text]));
        const other = sent.find(({ index, sent: text }) => (texts.get(index) ?? text) !== text);
        if (other !== undefined)
          told('prefix', turn, other.index, 'went out with other bytes than after a restart');
        if (isLast) judgeFailures(state, turn);
      }
      before = sent;
      for (const one of sent) {
        if (one.sent === one.text) continue;
        const [claimed, recounted] = saved(one);
        sums.claimedTokens += claimed;
        sums.recountedTokens += recounted;
      }
    }
    judgeQuotes(epoch, before);
  }
  sums.changedBlocks = before.filter(({ sent, text }) => sent !== text).length;
  return { ...sums, broken };

  function judgeFailures(state: ConversationState, turn: number): void {
    for (const outcome of state.outcomes) {
      const block = taken.get(outcome.index);
      if (block?.kind !== 'tool_result') continue;
      const key = `${outcome.index} ${outcome.text}`;
      if (judged.has(key)) continue;
      judged.add(key);
      const lines = failureLines(block.text);
      sums.failureLines += lines.length;
      if (!outcome.changed || lines.length === 0) continue;
      const kept = keptLines(outcome, state, block).map(shown);
      if (isSameJson(block.text, kept.join('\n'))) continue;
      const text = kept.join('\n');
      const forms = new Set(failureLines(text).map(formOf));
      for (const line of lines)
        if (!text.includes(line.line) && !forms.has(formOf(line)))
          told('failures', turn, outcome.index, line.line);
    }
  }

  function judgeQuotes(epoch: Epoch, sent: readonly SentBlock[]): void {
    const readable = createReadable(sent, blocks);
    for (const [at, { items: item }] of epoch.requests.entries()) {
      for (const quote of quotes.of(item)) {
        sums.quoted += 1;
        if (readable.has(quote.line, item)) continue;
        const turn = sums.turns - epoch.requests.length + at + 1;
        told('retention', turn, quote.block, quote.line);
      }
    }
  }
}

function epochsOf(
  requests: readonly SessionRequest[],
  isCold: (request: SessionRequest) => boolean,
): readonly Epoch[] {
  const epochs: { requests: SessionRequest[]; isCold: boolean }[] = [];
  for (const request of requests) {
    const starts = isCold(request);
    if (starts || epochs.length === 0) epochs.push({ requests: [], isCold: starts });
    epochs.at(-1)!.requests.push(request);
  }
  return epochs;
}

/** The lines of an item of the model's that a tool had returned before, each with the block that did. */
function createQuotes(blocks: readonly Block[]) {
  const returned = new Map<string, Block>();
  const written = new Map<number, Map<string, Block>>();
  for (const block of blocks) {
    if (block.kind === 'tool_result')
      for (const line of comparableLines(block.text))
        if (!returned.has(line)) returned.set(line, block);
    if (block.role !== 'assistant' || isThought(block)) continue;
    for (const line of writtenLines(block)) {
      const source = returned.get(line);
      if (source === undefined || source.message >= block.message) continue;
      const lines = written.get(block.message) ?? new Map<string, Block>();
      written.set(block.message, lines.set(line, source));
    }
  }
  return {
    of: (item: number) =>
      [...(written.get(item) ?? [])].map(([line, { index }]) => ({ line, block: index })),
  };
}

/** What can be read in the blocks that went out, by the item from which on it can. */
function createReadable(sent: readonly SentBlock[], blocks: readonly Block[]) {
  const first = new Map<string, number>();
  const texts: (readonly [item: number, text: string])[] = [];
  const add = (line: string, item: number): void => {
    first.set(line, Math.min(first.get(line) ?? item, item));
  };
  for (const { index, item, text, sent: out } of sent) {
    const block = blocks[index]!;
    const isWritten = block.role === 'assistant' && !isThought(block);
    if (isWritten) for (const line of writtenLines(block)) add(line, item);
    const decoded = out === text ? text : decodedText(out);
    const read = out !== text && isSameJson(text, decoded) ? text : decoded;
    for (const line of comparableLines(read)) add(line, item);
    texts.push([item, read]);
  }
  return {
    /** Whether an answer at `item` could have been written from it. */
    has: (line: string, item: number): boolean =>
      (first.get(line) ?? Infinity) < item ||
      texts.some(([at, text]) => at < item && text.includes(line)),
  };
}
