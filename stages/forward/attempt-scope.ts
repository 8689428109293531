/** What the attempts of one request share, and what reading an answer reports about its attempt. */
import type { RunInfo } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import type { Admission } from '../providers/admission.ts';
import type { Services } from '../services.ts';
import type { Caching } from './caching.ts';
import type { ForwardConfig } from './config.ts';
import type { KnownUnsupported } from './unsupported.ts';

export interface AttemptScope {
  readonly config: ForwardConfig;
  readonly services: Services;
  readonly run: RunInfo;
  /** True if a stage behind this one reads the events of streams. */
  readonly needsEvents: boolean;
  /** Every try so far, for the trace; also where all of them failed. */
  readonly attempts: Attempt[];
  /** Chat providers that do not serve the responses path, as found out so far. */
  readonly chatOnly: Set<string>;
  /** What providers were found to refuse so far. */
  readonly unsupported: KnownUnsupported;
  /** Whose answer or failure the client sees. */
  servedBy(provider: string): void;
  /** Something that was left out or changed knowingly. */
  note(text: string): void;
  /** What the provider that is asked now was asked to cache. */
  cached(caching: Caching | undefined): void;
  /** The same for the log, where each stands once. */
  leftOut(provider: string, notes: readonly string[]): void;
}

export interface ReadOptions {
  /** True while another provider could still take over. */
  readonly mustHold: boolean;
  /** Is notified of how the exchange goes, and given back at its end. */
  readonly admission: Admission;
  readonly scope: AttemptScope;
}
