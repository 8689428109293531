/**
 * Replays one conversation as a proxy would have sent it, and checks the result: lines that the
 * model repeated later, lines that report failures, the prefix of each request, and the claimed
 * savings. Every turn is compressed as in a running proxy; some turns, and the last before each
 * pause that changes the past, also without prior state, as after a restart.
 */
import { keptLines } from '../../stages/compress/decode/kept-lines.ts';
import { toConversationBlocks } from '../../stages/compress/pass/blocks.ts';
import type { ConversationState } from '../../stages/compress/pass/conversation.ts';
import type { ConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import { isThought, signsThoughts } from '../../stages/conversations/sending-rules.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { estimateTokens } from '../../stages/model/tokens.ts';
import { coldMoments } from '../estimate/cold-moments.ts';
import type { EstimateSettings } from '../estimate/conversation.ts';
import { replayConversation } from '../estimate/replay-conversation.ts';
import type { SentBlock } from '../estimate/replay-conversation.ts';
import { asRequest } from '../sessions/as-request.ts';
import { bodyOf } from '../sessions/session.ts';
import type { Conversation, SessionRequest } from '../sessions/session.ts';
import { failureLines, formOf, withoutColours } from './failures.ts';
import { isSameJson } from './lines.ts';
import { createQuotes, createReadable } from './quotes.ts';

/** Where a promise was broken. Turns and blocks count from 1. */
export interface BrokenPromise {
  readonly check: 'retention' | 'prefix' | 'failures';
  readonly session: string;
  readonly turn: number;
  readonly block: number;
  /** The missing line, or a description. */
  readonly line: string;
}

/** Counts of checked requests and lines. */
export interface CheckedCounts {
  readonly turns: number;
  readonly fromNothing: number;
  /** Pauses at which the past may change, since the provider's cache has expired. */
  readonly cold: number;
  readonly thoughts: number;
  readonly changedBlocks: number;
  readonly quoted: number;
  readonly failureLines: number;
  /**
   * Tokens saved in all requests: as svc estimates them before scaling to the model, and by a
   * public tokenizer.
   */
  readonly claimedTokens: number;
  readonly recountedTokens: number;
  readonly broken: readonly BrokenPromise[];
}

export interface CheckOptions {
  readonly compressor: Pick<ConversationCompressor, 'compress' | 'compressUncached'>;
  readonly settings: EstimateSettings;
  readonly count: CountTokens;
}

type CompressJob = Parameters<ConversationCompressor['compress']>[0];

/** Records a broken promise. Turns count from 1, blocks from 0. */
type ReportBroken = (
  check: BrokenPromise['check'],
  turn: number,
  block: number,
  line: string,
) => void;

/** Requests between two moments at which the past may change. */
interface Epoch {
  readonly requests: readonly SessionRequest[];
  readonly isCold: boolean;
}

export async function checkConversation(
  conversation: Conversation,
  { compressor, settings, count }: CheckOptions,
): Promise<CheckedCounts> {
  const { coldTrimMs = null, tools: _tools, ...plain } = settings;
  const { requests, sessionId, items, dialect } = conversation;
  const whole = asRequest(dialect, bodyOf(conversation, items.length));
  const blocks = whole.original.blocks();
  const broken: BrokenPromise[] = [];
  const report: ReportBroken = (check, turn, block, line) => {
    broken.push({ check, session: sessionId, turn, block: block + 1, line });
  };
  const replay = replayWithMemory(conversation, compressor, plain);
  const cold = coldTrimMs === null ? new Set() : coldMoments(conversation, coldTrimMs);
  const quotes = createQuotes(blocks);
  const failures = createFailureCheck(toConversationBlocks(whole), report);
  const claims = createClaims(count);
  const sums = { turns: 0, fromNothing: 0, cold: 0, quoted: 0 };
  let before: readonly SentBlock[] = [];
  for (const epoch of epochsOf(requests, (one) => cold.has(one) && !replay.isBound(one.items))) {
    const startTurn = sums.turns + 1;
    for (const [requestIndex, request] of epoch.requests.entries()) {
      const turn = startTurn + requestIndex;
      const isCold = epoch.isCold && requestIndex === 0;
      const sent = await replay.send(request.items, isCold);
      const changed = before.find(
        ({ sent: text, index }, n) => sent[n]?.index === index && sent[n].sent !== text,
      );
      if (changed !== undefined && !isCold)
        report('prefix', turn, changed.index, 'went out with other bytes than in the turn before');
      const isLast = requestIndex === epoch.requests.length - 1;
      const job = replay.job();
      // Every power of two: all of them together take twice as long as the last.
      if (job !== undefined && !isCold && (isLast || (turn & (turn - 1)) === 0)) {
        sums.fromNothing += 1;
        const state = await compressor.compressUncached(job);
        const other = firstDifference(sent, state);
        if (other !== undefined)
          report('prefix', turn, other.index, 'went out with other bytes than after a restart');
        if (isLast) failures.check(state, turn);
      }
      claims.add(sent);
      before = sent;
    }
    sums.turns += epoch.requests.length;
    if (epoch.isCold) sums.cold += 1;
    const readable = createReadable(before, blocks);
    for (const [index, { items: item }] of epoch.requests.entries()) {
      for (const { line, block } of quotes.of(item)) {
        sums.quoted += 1;
        if (!readable.has(line, item)) report('retention', startTurn + index, block, line);
      }
    }
  }
  return {
    ...sums,
    ...claims.sums(),
    thoughts: signsThoughts(whole.original) ? blocks.filter(isThought).length : 0,
    changedBlocks: before.filter(({ sent, text }) => sent !== text).length,
    failureLines: failures.lines(),
    broken,
  };
}

/**
 * Replays the conversation as a proxy sends it, and returns the compressor job of its newest turn.
 */
function replayWithMemory(
  conversation: Conversation,
  compressor: CheckOptions['compressor'],
  settings: Parameters<typeof replayConversation>[2],
) {
  let newest: CompressJob | undefined;
  const remembering = {
    compress(job: CompressJob) {
      newest = job;
      return compressor.compress(job);
    },
  };
  return { ...replayConversation(conversation, remembering, settings), job: () => newest };
}

/** Returns the first block that differs from what a proxy without memory would send. */
function firstDifference(sent: readonly SentBlock[], { outcomes }: ConversationState) {
  const texts = new Map(outcomes.map(({ index, text }) => [index, text]));
  return sent.find(({ index, sent: text }) => (texts.get(index) ?? text) !== text);
}

/** Sums the savings that svc would claim, and those by a public tokenizer. */
function createClaims(count: CountTokens) {
  const savings = new Map<string, readonly [claimed: number, recounted: number]>();
  let [claimedTokens, recountedTokens] = [0, 0];
  return {
    add(blocks: readonly SentBlock[]): void {
      for (const { text, sent } of blocks) {
        if (sent === text) continue;
        const key = `${sent}\0${text}`;
        const saved = savings.get(key) ?? [
          estimateTokens(text) - estimateTokens(sent),
          count(text) - count(sent),
        ];
        savings.set(key, saved);
        claimedTokens += saved[0];
        recountedTokens += saved[1];
      }
    },
    sums: () => ({ claimedTokens, recountedTokens }),
  };
}

/** Checks that each failure line is in the sent request, once per result and text. */
function createFailureCheck(blocks: ReturnType<typeof toConversationBlocks>, report: ReportBroken) {
  const blocksByIndex = new Map(blocks.map((block) => [block.index, block]));
  const checked = new Set<string>();
  let count = 0;
  return {
    check(state: ConversationState, turn: number): void {
      for (const outcome of state.outcomes) {
        const block = blocksByIndex.get(outcome.index);
        if (block?.kind !== 'tool_result') continue;
        const key = `${outcome.index} ${outcome.text}`;
        if (checked.has(key)) continue;
        checked.add(key);
        const lines = failureLines(block.text);
        count += lines.length;
        if (!outcome.changed || lines.length === 0) continue;
        const text = keptLines(outcome, state, block).map(withoutColours).join('\n');
        if (isSameJson(block.text, text)) continue;
        const forms = new Set(failureLines(text).map(formOf));
        for (const line of lines)
          if (!text.includes(line.line) && !forms.has(formOf(line)))
            report('failures', turn, outcome.index, line.line);
      }
    },
    lines: () => count,
  };
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
