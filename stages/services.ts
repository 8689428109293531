/**
 * The long-lived things that stages use. They are made once, in the server, and
 * reach a stage only through its `build`.
 */
import type { Afterwards, Clock, ErrorKind } from '../engine/index.ts';
import type { AnswerStore } from './answers/answer.ts';
import type { Flights } from './answers/flights.ts';
import type { DeferredBills } from './budget/deferred-bills.ts';
import type { SpendingGuard } from './budget/guard.ts';
import type { CompressThread } from './compress/worker/compress-thread.ts';
import type { Learned } from './learned/learned.ts';
import type { PlanLimits } from './limits/plan-limits.ts';
import type { CallMarks } from './dialect/call-marks.ts';
import type { LedgerRow } from './ledger/row.ts';
import type { Prices } from './ledger/prices/prices.ts';
import type { FoundLater } from './ledger/traces.ts';
import type { FinishedRun } from './ledger/kept-run.ts';
import type { Originals } from './originals/originals.ts';
import type { Conversations } from './conversations/conversations.ts';
import type { Provider, ProviderName } from './providers/provider.ts';
import type { ProviderStates } from './providers/states.ts';
import type { Upstream } from './providers/upstream.ts';
import type { LiveRouter } from './route/rules-router.ts';
import type { BodyFrame } from './model/body.ts';
import type { Vault } from './vault/contract.ts';

/** Where finished requests are written down. */
export interface Ledger {
  record(row: LedgerRow): void;
}

/** Where finished runs are kept for `/trace`. */
export interface TraceLog {
  add(run: FinishedRun): void;
  /** Sets how a run ended and what was saved, once its answer was read: better than the run itself could know. */
  correct(id: string, found: FoundLater): void;
}

/** Places for streams that run at the same time. */
export interface StreamSlots {
  /** Takes a place; the function returned gives it back. Undefined where none is free. */
  acquire(): (() => void) | undefined;
}

/** Where a stage says what a user should know. */
export interface StageLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warning(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface Services {
  readonly clock: Clock;
  /** For what no client waits for; it is done before any figure is reported. */
  readonly afterwards: Afterwards;
  readonly providers: ReadonlyMap<ProviderName, Provider>;
  readonly upstream: Upstream;
  readonly ledger: Ledger;
  /** The name of this machine, for the rows; null where nobody gave it one. */
  readonly node: string | null;
  readonly traces: TraceLog;
  readonly prices: Prices;
  readonly streams: StreamSlots;
  /** The response cache, and the equal requests that are in the air. */
  readonly answers: { readonly store: AnswerStore; readonly flights: Flights };
  /** What is remembered of conversations, and which requests go on with one. */
  readonly conversations: Conversations;
  /** How every provider is doing: keys, breaker, health, pace. */
  readonly states: ProviderStates;
  /** How much of their limits is used, as providers state it with their answers. */
  readonly planLimits: PlanLimits;
  /** The rules that send requests elsewhere than they say. */
  readonly router: LiveRouter;
  /** What requests, sessions and days may cost. */
  readonly spending: SpendingGuard;
  /** Which work that providers do on their own time is paid already. */
  readonly deferredBills: DeferredBills;
  /** What providers want back with their tool calls. */
  readonly callMarks: CallMarks;
  readonly compressor: CompressThread;
  readonly originals: Originals;
  readonly learned: Learned;
  /** The user's indexed files; undefined where the vault is off. */
  readonly vault: Vault | undefined;
  readonly log: StageLog;
  /** A provider's words as they may be kept: without keys of ours and of the request, which it may repeat. */
  readonly withoutKeys: (words: string, body: BodyFrame | undefined) => string;
  /** The HTTP status that a client gets for a failure of this kind; null for a client that left and gets none. */
  readonly statusOf: (kind: ErrorKind) => number | null;
}

/** What a generation has for itself: it follows from the configuration's values alone. */
export type OwnServices = Pick<Services, 'providers' | 'prices'>;
/** All others: they are opened once and outlive requests and reloads. */
export type SharedServices = Omit<Services, keyof OwnServices>;
