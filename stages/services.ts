/**
 * The long-lived objects that stages use. They are made once, in the server, and reach a stage only
 * through its `build`.
 */
import type { DeferredWork, Clock, ErrorKind } from '../engine/index.ts';
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
import type { LateFacts } from './ledger/traces.ts';
import type { FinishedRun } from './ledger/run-record.ts';
import type { Originals } from './originals/originals.ts';
import type { Conversations } from './conversations/conversations.ts';
import type { Provider, ProviderName } from './providers/provider.ts';
import type { ProviderStates } from './providers/states.ts';
import type { Upstream } from './providers/upstream.ts';
import type { LiveRouter } from './route/rules-router.ts';
import type { BodyFrame } from './model/body.ts';
import type { Vault } from './vault/contract.ts';

/** Where finished requests are recorded. */
export interface Ledger {
  record(row: LedgerRow): void;
}

/** Where finished runs are kept for `/trace`. */
export interface TraceLog {
  add(run: FinishedRun): void;
  /**
   * Corrects the outcome and the savings of a run, once its answer was read, which the run itself
   * could not know.
   */
  correct(id: string, facts: LateFacts): void;
}

/** Slots for concurrent streams. */
export interface StreamSlots {
  /** Takes a slot; the returned function frees it. Undefined if none is free. */
  acquire(): (() => void) | undefined;
}

/** A stage's log, for what a user should know. */
export interface StageLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warning(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface Services {
  readonly clock: Clock;
  /** For work that no client waits for; done before any figure is reported. */
  readonly deferredWork: DeferredWork;
  readonly providers: ReadonlyMap<ProviderName, Provider>;
  readonly upstream: Upstream;
  readonly ledger: Ledger;
  /** The name of this machine, for ledger rows; null if none is set. */
  readonly node: string | null;
  readonly traces: TraceLog;
  readonly prices: Prices;
  readonly streams: StreamSlots;
  /** The response cache, and the identical requests in flight. */
  readonly answers: { readonly store: AnswerStore; readonly flights: Flights };
  /** What is remembered of conversations, and which requests continue one. */
  readonly conversations: Conversations;
  /** The state of every provider: keys, breaker, health, pace. */
  readonly states: ProviderStates;
  /** How much of their limits is used, as providers report it with their answers. */
  readonly planLimits: PlanLimits;
  /** The rules that reroute requests. */
  readonly router: LiveRouter;
  /** The limits of what requests, sessions and days may cost. */
  readonly spending: SpendingGuard;
  /** Which deferred work at providers is already paid for. */
  readonly deferredBills: DeferredBills;
  /** What providers require back with their tool calls. */
  readonly callMarks: CallMarks;
  readonly compressor: CompressThread;
  readonly originals: Originals;
  readonly learned: Learned;
  /** The user's indexed files; undefined if the vault is off. */
  readonly vault: Vault | undefined;
  readonly log: StageLog;
  /**
   * Returns a provider's message as it may be kept: without our keys and those of the request,
   * which it may repeat.
   */
  readonly withoutKeys: (text: string, body: BodyFrame | undefined) => string;
  /** The HTTP status for a failure of this kind; null for a client that left and gets none. */
  readonly statusOf: (kind: ErrorKind) => number | null;
}

/** The services of one generation: they follow from the configuration's values alone. */
export type OwnServices = Pick<Services, 'providers' | 'prices'>;
/** All others: opened once, they outlive requests and reloads. */
export type SharedServices = Omit<Services, keyof OwnServices>;
