/**
 * One request as the ledger sees it. The same row feeds the SQLite file, the
 * live window and the trace, so a figure cannot differ between them.
 */
import { cutText } from '../../engine/index.ts';
import type { Outcome } from '../../engine/index.ts';
import type { MissCause } from '../model/cached-turn.ts';
import type { ToolResults, ToolSet } from '../model/tool-use.ts';

/** One finished request. `null` means unmeasured or not applicable, never zero. */
export interface LedgerRow {
  /** The request id; unique. */
  readonly id: string;
  /** Wall time of the first byte of the request, in milliseconds since the epoch (UTC). */
  readonly startedMs: number;
  readonly endpoint: string;
  readonly outcome: Outcome;
  /** The configured name of the provider that answered, or was tried last. */
  readonly provider: string | null;
  readonly dialect: string | null;
  /** The model that the client asked for. */
  readonly modelRequested: string | null;
  /** The model that answered, after aliases, routes and fallback. */
  readonly model: string | null;
  readonly stream: boolean;
  /** The HTTP status that the client got. */
  readonly status: number | null;
  readonly errorKind: string | null;
  readonly errorCode: string | null;
  /** Input tokens of the request as the client sent it: without what was injected. */
  readonly inputTokensRaw: number | null;
  /** Input tokens of the request as it went upstream. */
  readonly inputTokensSent: number | null;
  /** What compression took away; never negative. */
  readonly savedTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  /** True if a token count is an estimate rather than the provider's own. */
  readonly usageEstimated: boolean;
  /** Whole nano-dollars. */
  readonly costNanoUsd: number | null;
  /** Whole nano-dollars that all of svc saved: by compression, forgetting and breakpoints, or by an answer that was kept. */
  readonly costSavedNanoUsd: number | null;
  /** Cache markers that were set for a client that sets none. */
  readonly breakpoints: number | null;
  /** The part of `costSavedNanoUsd` that they brought by the provider's own usage; negative where it wrote more than it read. */
  readonly costSavedByBreakpointsNanoUsd: number | null;
  /** The part of `savedTokens` that was left out at cold moments, in this turn or before. */
  readonly forgottenTokens: number | null;
  /** The part of `costSavedNanoUsd` that they would have cost. */
  readonly costSavedByForgettingNanoUsd: number | null;
  /** The part of `savedTokens` that long results left out, in this turn or before. */
  readonly longResultTokens: number | null;
  /** The part of `costSavedNanoUsd` that they would have cost. */
  readonly costSavedByLongResultsNanoUsd: number | null;
  /** The part of `savedTokens` that definitions of tools repeated. */
  readonly toolTokens: number | null;
  /** The part of `costSavedNanoUsd` that they would have cost. */
  readonly costSavedByToolsNanoUsd: number | null;
  /** Why it read less from the provider's cache than the turn before left there; null for a hit, or where nothing was cached or told. */
  readonly cacheMiss: MissCause | null;
  /** What exactly differed, in words. */
  readonly cacheMissDetail: string | null;
  /** Input tokens that could have been read from the cache. */
  readonly cacheMissedTokens: number | null;
  /** The part of `costNanoUsd` that reading them would have spared. */
  readonly costCacheMissedNanoUsd: number | null;
  /** 1 where the provider refused thoughts that did not match, and was asked once more to leave them out; null where not. */
  readonly thoughtsRefused: number | null;
  /** Thoughts that the provider says it has not shown to the model; null where it says of none. */
  readonly thoughtsDropped: number | null;
  /** Milliseconds from the first byte of the request to the end of the answer. */
  readonly latencyMs: number | null;
  /** Milliseconds until the first byte of the answer. */
  readonly ttfbMs: number | null;
  /** Tries at providers; 0 if none was asked. */
  readonly attempts: number;
  /** The compression mode in force. */
  readonly mode: string | null;
  /** True if our own response cache answered. */
  readonly cacheHit: boolean;
  readonly chunksInjected: number | null;
  /** The size of what was injected, in the fixed estimator's tokens, which the budget is given in. */
  readonly tokensInjected: number | null;
  /** The same as input tokens of the model, as `savedTokens` are; part of `inputTokensSent` alone. */
  readonly addedTokens: number | null;
  /** Whole nano-dollars that the added tokens cost; part of `costNanoUsd`. */
  readonly costAddedNanoUsd: number | null;
  /** Ids of the injected vault blocks, best first. */
  readonly topChunks: readonly string[] | null;
  /** The agent's family, such as `claude-code`. */
  readonly client: string | null;
  /** The client's own session id. */
  readonly sessionId: string | null;
  readonly skill: string | null;
  /** The machine, where several share a ledger. */
  readonly node: string | null;
  /** The label of the proxy key that the request was sent with, or its id where it has none; null without a key. */
  readonly keyLabel: string | null;
  /** The name of the project that it is for; never a path. */
  readonly project: string | null;
  /** What tools gave back since the model's last answer; null for nothing. */
  readonly toolResults: readonly ToolResults[] | null;
  /** What the definitions of tools took of the input, in the model's own tokens, estimated. */
  readonly toolDefinitionTokens: number | null;
  /** The part of `costNanoUsd` that they are. */
  readonly costToolDefinitionsNanoUsd: number | null;
  /** Which definitions they were. What it has is kept once for all rows, and a row that was read has its id alone. */
  readonly toolSet: ToolSet | null;
}

/** What every row must say; all else has an honest default. */
export type LedgerFacts = Pick<LedgerRow, 'id' | 'startedMs' | 'endpoint' | 'outcome'> &
  Partial<LedgerRow>;

/** Under what the sums stand of requests whose model or provider is not known. */
export const UNKNOWN = 'unknown';

/** Longest text kept of a client's own words (model, session, skill). They come from outside and rows stay in memory. */
export const MAX_TEXT_CHARS = 200;
/** Most injected block ids kept in a row. */
const MAX_TOP_CHUNKS = 20;

/**
 * A frozen row: what is not given is unmeasured, and texts from outside are cut to `MAX_TEXT_CHARS`.
 * Every field is spelt out, because merging two objects by spread costs ten times as much.
 */
export function ledgerRow(facts: LedgerFacts): LedgerRow {
  return Object.freeze({
    id: facts.id,
    startedMs: facts.startedMs,
    endpoint: clip(facts.endpoint),
    outcome: facts.outcome,
    provider: facts.provider ?? null,
    dialect: facts.dialect ?? null,
    modelRequested: clip(facts.modelRequested ?? null),
    model: clip(facts.model ?? null),
    stream: facts.stream ?? false,
    status: facts.status ?? null,
    errorKind: facts.errorKind ?? null,
    errorCode: facts.errorCode ?? null,
    inputTokensRaw: facts.inputTokensRaw ?? null,
    inputTokensSent: facts.inputTokensSent ?? null,
    savedTokens: facts.savedTokens ?? null,
    outputTokens: facts.outputTokens ?? null,
    cacheReadTokens: facts.cacheReadTokens ?? null,
    cacheWriteTokens: facts.cacheWriteTokens ?? null,
    usageEstimated: facts.usageEstimated ?? false,
    costNanoUsd: facts.costNanoUsd ?? null,
    costSavedNanoUsd: facts.costSavedNanoUsd ?? null,
    breakpoints: facts.breakpoints ?? null,
    costSavedByBreakpointsNanoUsd: facts.costSavedByBreakpointsNanoUsd ?? null,
    forgottenTokens: facts.forgottenTokens ?? null,
    costSavedByForgettingNanoUsd: facts.costSavedByForgettingNanoUsd ?? null,
    longResultTokens: facts.longResultTokens ?? null,
    costSavedByLongResultsNanoUsd: facts.costSavedByLongResultsNanoUsd ?? null,
    toolTokens: facts.toolTokens ?? null,
    costSavedByToolsNanoUsd: facts.costSavedByToolsNanoUsd ?? null,
    cacheMiss: facts.cacheMiss ?? null,
    cacheMissDetail: clip(facts.cacheMissDetail ?? null),
    cacheMissedTokens: facts.cacheMissedTokens ?? null,
    costCacheMissedNanoUsd: facts.costCacheMissedNanoUsd ?? null,
    thoughtsRefused: facts.thoughtsRefused ?? null,
    thoughtsDropped: facts.thoughtsDropped ?? null,
    latencyMs: facts.latencyMs ?? null,
    ttfbMs: facts.ttfbMs ?? null,
    attempts: facts.attempts ?? 0,
    mode: facts.mode ?? null,
    cacheHit: facts.cacheHit ?? false,
    chunksInjected: facts.chunksInjected ?? null,
    tokensInjected: facts.tokensInjected ?? null,
    addedTokens: facts.addedTokens ?? null,
    costAddedNanoUsd: facts.costAddedNanoUsd ?? null,
    topChunks: facts.topChunks?.slice(0, MAX_TOP_CHUNKS).map(clip) ?? null,
    client: clip(facts.client ?? null),
    sessionId: clip(facts.sessionId ?? null),
    skill: clip(facts.skill ?? null),
    node: facts.node ?? null,
    keyLabel: clip(facts.keyLabel ?? null),
    project: clip(facts.project ?? null),
    toolResults: facts.toolResults ?? null,
    toolDefinitionTokens: facts.toolDefinitionTokens ?? null,
    costToolDefinitionsNanoUsd: facts.costToolDefinitionsNanoUsd ?? null,
    toolSet: facts.toolSet ?? null,
  });
}

/**
 * True if the request failed: it ended in an error or broke off, or the client got a
 * status of 400 or more. A client that left is not a failure.
 */
export function isFailure(row: Pick<LedgerRow, 'outcome' | 'status'>): boolean {
  return (
    row.outcome === 'error' ||
    row.outcome === 'partial' ||
    (row.status !== null && row.status >= 400)
  );
}

function clip<T extends string | null>(text: T): T | string {
  return text === null ? text : cutText(text, MAX_TEXT_CHARS);
}
