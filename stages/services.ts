/**
 * The long-lived things that stages use. They are made once, in the server, and
 * reach a stage only through its `build`.
 */
import type { Clock, ErrorKind, Settlement } from '../engine/index.ts';
import type { LedgerRow } from './ledger/row.ts';
import type { ProxyFrame } from './model/frame.ts';
import type { Usage } from './model/usage.ts';
import type { Provider, ProviderName } from './providers/provider.ts';
import type { Upstream } from './providers/upstream.ts';

/** Where finished requests are written down. */
export interface Ledger {
  record(row: LedgerRow): void;
}

/** Where the settlements of runs are kept for `/trace`. */
export interface Traces {
  add(trace: RunTrace): void;
}

/** What the trace keeps of a run; it is rendered only when somebody asks. */
export interface RunTrace {
  readonly id: string;
  readonly startedWallMs: number;
  readonly settlement: Settlement<ProxyFrame>;
}

/** What a request costs, by the dated price table and the user's own prices. */
export interface Prices {
  /** Whole nano-dollars, or null for a model whose price is not known. */
  costNanoUsd(provider: string, model: string, usage: Usage, atMs: number): number | null;
}

export interface Services {
  readonly clock: Clock;
  readonly providers: ReadonlyMap<ProviderName, Provider>;
  readonly upstream: Upstream;
  readonly ledger: Ledger;
  readonly traces: Traces;
  readonly prices: Prices;
  /** The HTTP status that a client gets for a failure of this kind. */
  readonly statusOf: (kind: ErrorKind) => number;
}
