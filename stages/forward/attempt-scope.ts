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

/** What `forward` knows of one run. */
export interface ForwardState {
  /** Every try; undefined while no provider is to be asked. */
  attempts: readonly Attempt[] | undefined;
  readonly notes: string[];
  /** What the last provider that was asked was to cache. */
  caching: Caching | undefined;
  /** What is done with the frames of a live answer. */
  live: LiveSteps | undefined;
  /** What went out as it was sent before. */
  sent: AsSent | undefined;
  /** The node of the provider whose answer it is, where it has one. */
  served: InnerRun | undefined;
  /** Gives back the place that a stream holds until its run has settled. */
  release: (() => void) | undefined;
}

export interface AttemptScope {
  readonly state: ForwardState;
  readonly config: ForwardConfig;
  readonly services: Services;
  readonly run: RunInfo;
  /** The node of a provider that is code, by its name; undefined where there is none. */
  readonly inner: ((node: string) => InnerRun | undefined) | undefined;
  /** True if a stage behind this one reads the events of streams. */
  readonly needsEvents: boolean;
  /** Every try so far, for the trace; also where all of them failed. */
  readonly attempts: Attempt[];
  /** Chat providers that do not serve the responses path, as found out so far. */
  readonly chatOnly: Set<string>;
  /** What providers were found to refuse so far. */
  readonly unsupported: KnownUnsupported;
  /** Sealed thoughts that they refused so far. */
  readonly foreign: ForeignThoughts;
  /** Whose answer or failure the client sees. */
  servedBy(provider: string): void;
  /** Logs what a provider does not get, each of it once. */
  leftOut(provider: string, notes: readonly string[]): void;
}

export interface ReadOptions {
  /** True while another provider could still take over. */
  readonly mustHold: boolean;
  /** Is notified of how the exchange goes, and given back at its end. */
  readonly admission: Admission;
  readonly scope: AttemptScope;
}

/** Follows one body. Each of its ends is reported once. */
export interface BodyWatch {
  /** What may go on now: of a stream whole events, possibly none. */
  push(bytes: Buffer): Buffer;
  /** The body has ended; returns what was held. Throws PROVIDER_004 for a stream that is cut short, however cleanly the connection ends. */
  end(): Buffer;
  /** It broke off with `thrown`. */
  failed(thrown: unknown): void;
  /** The rest is not wanted. */
  left(): void;
}

/** What `forward` does with the frames of its own live answer, as handlers of the graph. */
export interface LiveSteps {
  readonly watch: BodyWatch;
  /** Absent where the stream that translates the answer does both. */
  readonly chunk?: (chunk: ChunkFrame) => Handled<ProxyFrame>;
  readonly end?: (end: EndFrame) => Handled<ProxyFrame>;
}
