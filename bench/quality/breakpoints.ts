/**
 * Measures the benefit of the cache markers that svc sets for clients without any: agent
 * transcripts without caching, request by request through the real decision and a simulated prompt
 * cache.
 */
import { dialects } from '../../stages/dialect/registry.ts';
import { resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import type { BodyFrame } from '../../stages/model/body.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { toRequest } from '../../stages/model/request.ts';
import { createConversations } from '../../stages/conversations/conversations.ts';
import type { Conversations } from '../../stages/conversations/conversations.ts';
import { createStore } from '../../stages/conversations/store.ts';
import { CACHE_LIFETIMES_MS, factsOf } from '../../stages/model/model-facts.ts';
import { breakpointsIn } from '../../stages/prompt-cache/breakpoints.ts';
import { median } from '../figures.ts';
import { createPromptCache } from '../../stages/prompt-cache/simulated.ts';
import { toBlocks } from './transcripts.ts';
import type { Transcript } from './transcripts.ts';

/** Model whose prices and cache rules match most of the recorded agents. */
const MODEL = 'claude-sonnet-4-5';
const MINUTE_MS = 60_000;

/** Input cost of a conversation with our markers, divided by the cost without. */
export interface MarkedCost {
  readonly source: string;
  readonly requests: number;
  /** One minute between requests. */
  readonly quick: number;
  /** Every tenth request comes after the cache has expired. */
  readonly withPauses: number;
  /** Every request does. */
  readonly slow: number;
  /** Only the first request. */
  readonly single: number;
}

/** Length of the pause before a request, by the request's number. */
type Pause = (turn: number) => number;

const quick: Pause = () => MINUTE_MS;
const slow: Pause = () => 2 * CACHE_LIFETIMES_MS['5m'];
const withPauses: Pause = (turn) => (turn % 10 === 9 ? slow(turn) : MINUTE_MS);

/** Replays `transcript` four times. */
export function measureMarked(transcript: Transcript, count: CountTokens): MarkedCost {
  const blocks = toBlocks(transcript).map(({ text, message }) => ({
    text,
    tokens: count(text),
    message: message ?? -1,
  }));
  const turns = transcript.messages.flatMap(({ role }, at) =>
    role === 'assistant' && at > 0 ? [at] : [],
  );
  const costOf = (ends: readonly number[], pause: Pause): number => {
    const clock = { wallMs: () => atMs };
    const conversations = createConversations({ store: createStore(clock), clock, version: 0 });
    const cache = createPromptCache();
    let atMs = 0;
    let [marked, plain] = [0, 0];
    for (const [turn, end] of ends.entries()) {
      atMs += pause(turn);
      const sent = blocks.filter(({ message }) => message < end);
      const breakpoints = markersOf(transcript, end, conversations);
      marked += cache.cost({ blocks: sent, breakpoints, atMs });
      plain += sent.reduce((sum, { tokens }) => sum + tokens, 0);
    }
    return marked / plain;
  };
  return {
    source: transcript.id.split('-')[0]!,
    requests: turns.length,
    quick: costOf(turns, quick),
    withPauses: costOf(turns, withPauses),
    slow: costOf(turns, slow),
    single: costOf(turns.slice(0, 1), quick),
  };
}

/** Returns the indexes of the marked blocks in the request with the messages before `end`. */
function markersOf(
  { tools, system, messages }: Transcript,
  end: number,
  conversations: Conversations,
): readonly number[] {
  const json = {
    model: MODEL,
    max_tokens: 1,
    ...(tools === undefined ? {} : { tools }),
    ...(system === undefined ? {} : { system }),
    messages: messages.slice(0, end),
  };
  const dialect = dialects.messages;
  const target = '/v1/messages';
  const facts = dialect.facts(json, target);
  const { goesOn, isSlow } = conversations.turnOf(
    toRequest({ body: bodyOf(target), dialect, facts, json }),
  );
  if (!goesOn || isSlow) return [];
  const before = messages.map(({ content }) => (typeof content === 'string' ? 1 : content.length));
  return breakpointsIn(json, factsOf(MODEL).minCachedTokens!).map(([list, at, , part]) => {
    if (list === 'tools') return 0;
    if (list === 'system') return 1;
    const first = 2 + before.slice(0, Number(at)).reduce((sum, parts) => sum + parts, 0);
    return first + Number(part ?? 0);
  });
}

function bodyOf(target: string): BodyFrame {
  const bytes = Buffer.alloc(0);
  const endpoint = resolveEndpoint('POST', target, []);
  if (endpoint === undefined || 'allow' in endpoint) throw new Error(`${target} is not served`);
  return { kind: 'body', method: 'POST', target, headers: [], wireBytes: bytes, bytes, endpoint };
}

/** All transcripts of one agent. */
export interface MarkedSummary {
  readonly source: string;
  readonly transcripts: number;
  readonly median: number;
  readonly worst: number;
  readonly medianWithPauses: number;
  readonly worstWithPauses: number;
  /** Worst result if every pause is too long. */
  readonly slow: number;
  /** Worst result of all first requests. */
  readonly single: number;
}

/** Returns one row per agent, and one for all of them. */
export function summariseMarked(costs: readonly MarkedCost[]): readonly MarkedSummary[] {
  const sources = [...new Set(costs.map(({ source }) => source))];
  return [
    ...sources.map((source) =>
      summary(
        source,
        costs.filter((cost) => cost.source === source),
      ),
    ),
    summary(ALL_AGENTS, costs),
  ];
}

/** The row of all. */
export const ALL_AGENTS = 'all agents';

function summary(source: string, costs: readonly MarkedCost[]): MarkedSummary {
  const worst = (pick: (cost: MarkedCost) => number): number => Math.max(...costs.map(pick));
  return {
    source,
    transcripts: costs.length,
    median: median(costs.map((cost) => cost.quick)),
    worst: worst((cost) => cost.quick),
    medianWithPauses: median(costs.map((cost) => cost.withPauses)),
    worstWithPauses: worst((cost) => cost.withPauses),
    slow: worst((cost) => cost.slow),
    single: worst((cost) => cost.single),
  };
}
