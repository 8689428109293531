/** What the attempts of one request share, and what reading an answer reports about its attempt. */
import type { Handled, InnerRun, RunInfo } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import type { ChunkFrame, EndFrame, ProxyFrame } from '../model/frame.ts';
import type { AsSent } from '../conversations/as-sent.ts';
import type { Admission } from '../providers/admission.ts';
import type { Services } from '../services.ts';
import type { Caching } from './request/caching.ts';
import type { ForwardConfig } from './config.ts';
import type { ForeignThoughts } from './request/foreign-thoughts.ts';
import type { KnownUnsupported } from './request/unsupported.ts';

/** The state of `forward` for one run. */
export interface ForwardState {
  /** Every attempt; undefined while no provider is to be called. */
  attempts: readonly Attempt[] | undefined;
  readonly notes: string[];
  /** What the last called provider was asked to cache. */
  caching: Caching | undefined;
  /** The handlers for frames of a live answer. */
  live: LiveSteps | undefined;
  /** The request as sent earlier in the conversation. */
  sent: AsSent | undefined;
  /** The node of the answering provider, if it has one. */
  servedNode: InnerRun | undefined;
  /** Frees the slot that a stream holds until its run has settled. */
  release: (() => void) | undefined;
}

/** What all requests have taught about providers, for the life of the process. */
export interface Learned {
  /** Chat providers known not to serve the responses path. */
  readonly chatOnly: Set<string>;
  /** What providers are known to refuse. */
  readonly unsupported: KnownUnsupported;
  /** Encrypted thinking that they have refused. */
  readonly foreign: ForeignThoughts;
  /** Logs what a provider does not receive, each item once. */
  readonly logOmissions: (provider: string, notes: readonly string[]) => void;
}

export interface AttemptScope {
  readonly state: ForwardState;
  readonly config: ForwardConfig;
  readonly services: Services;
  readonly run: RunInfo;
  /** Returns the node of a provider that is code, by its name; undefined if there is none. */
  readonly inner: ((node: string) => InnerRun | undefined) | undefined;
  /** True if a later stage reads the events of streams. */
  readonly needsEvents: boolean;
  /** Every attempt so far, for the trace, including failed ones. */
  readonly attempts: Attempt[];
  readonly learned: Learned;
  /** Sets the provider whose answer or failure the client sees. */
  servedBy(provider: string): void;
}

export interface ReadOptions {
  /** True while another provider could still take over. */
  readonly mustHold: boolean;
  /** Receives the outcome of the exchange, and is released at its end. */
  readonly admission: Admission;
  readonly scope: AttemptScope;
}

/** Follows one body. Exactly one of its ends is reported. */
export interface BodyWatch {
  /** Returns what may be passed on now: for a stream whole events, possibly none. */
  push(bytes: Buffer): Buffer;
  /**
   * Called at the end of the body; returns what was held. Throws PROVIDER_004 for a stream that is
   * cut short, however cleanly the connection ends.
   */
  end(): Buffer;
  /** Called when it broke off with `thrown`. */
  failed(thrown: unknown): void;
  /** Called when the rest of the body is not needed. */
  abandoned(): void;
}

/** What `forward` does with the frames of its own live answer, as handlers of the graph. */
export interface LiveSteps {
  readonly watch: BodyWatch;
  /** Absent if the stream that translates the answer does both. */
  readonly chunk?: (chunk: ChunkFrame) => Handled<ProxyFrame>;
  readonly end?: (end: EndFrame) => Handled<ProxyFrame>;
}
