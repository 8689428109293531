/** The expected outcome at the client for each scenario of the fake upstream. */
import type { ScenarioName, ScenarioOptions } from '../../../fixtures/upstream.ts';

/** How an exchange ends for the client. */
export type Ending =
  /** The same status, fields and bytes as without the proxy. */
  | { readonly as: 'passthrough'; readonly row: 'ok' | 'error' | 'partial' }
  /** An error of the proxy's own. */
  | { readonly as: 'refused'; readonly status: number; readonly code: string | undefined }
  /**
   * Status 200, then an error event at the end. `hasEndedCleanly`: the provider ended cleanly but
   * too soon, so its connection may be reused.
   */
  | { readonly as: 'error event'; readonly type: string; readonly hasEndedCleanly?: true }
  /** A connection that breaks off. */
  | { readonly as: 'destroyed' };

export interface Expected {
  /** Outcome for a request for one JSON document; absent if the scenario is about streams. */
  readonly whole?: Ending;
  readonly stream: Ending;
  readonly options?: ScenarioOptions;
}

const fine: Ending = { as: 'passthrough', row: 'ok' };
const failed: Ending = { as: 'passthrough', row: 'error' };
const halfDone: Ending = { as: 'passthrough', row: 'partial' };
export const unreachable: Ending = { as: 'refused', status: 502, code: 'PROVIDER_003' };
const brokenOff: Ending = { as: 'refused', status: 502, code: undefined };
export const late: Ending = { as: 'refused', status: 504, code: 'TIMEOUT_001' };
const cut: Ending = { as: 'error event', type: 'api_error' };
const endedEarly: Ending = { as: 'error event', type: 'api_error', hasEndedCleanly: true };
const stalled: Ending = { as: 'error event', type: 'timeout_error' };
const both = (ending: Ending, options: ScenarioOptions = {}): Expected => ({
  whole: ending,
  stream: ending,
  options,
});

/** Scenarios at the accept need separate connections and have their own test. */
export type AtAccept = 'reset-at-accept' | 'close-at-accept' | 'stall-at-accept';

export const EXPECTED: Readonly<Record<Exclude<ScenarioName, AtAccept>, Expected>> = {
  'reset-before-head': both(unreachable),
  'reset-on-request-head': both(unreachable),
  'close-before-head': both(unreachable),
  'reset-after-head': { whole: brokenOff, stream: cut },
  'reset-mid-body': { whole: brokenOff, stream: cut },
  'close-mid-body': { whole: brokenOff, stream: cut },
  'half-close-mid-body': { whole: brokenOff, stream: cut },
  'close-idle': both(fine, { delayMs: 1 }),
  'reset-idle': both(fine, { delayMs: 1 }),
  'extra-response': both(fine, { delayMs: 1 }),
  'trailing-bytes': both(fine),
  'early-response': both(failed),
  'stall-before-head': both(late),
  'stall-after-head': { whole: late, stream: stalled },
  'stall-mid-body': { whole: late, stream: stalled },
  'slow-head': both(fine, { delayMs: 30 }),
  'slow-first-event': both(fine, { delayMs: 30 }),
  'slow-drip': both(fine, { bytes: 100 }),
  'slow-body': both(fine, { bytes: 100 }),
  split: both(fine, { sizes: [50] }),
  'split-once': both(fine),
  events: { stream: fine, options: { count: 20, everyMs: 2 } },
  pings: { stream: fine },
  flood: { stream: endedEarly, options: { count: 20 } },
  status: both(failed, { status: 418 }),
  '400': both(failed),
  '401': both(failed),
  '403': both(failed),
  '404': both(failed),
  '413': both(failed),
  '429': both(failed),
  '429-seconds': both(failed),
  '429-date': both(failed, { retryAfter: 'Wed, 21 Oct 2037 07:28:00 GMT' }),
  '429-huge': both(failed),
  '429-nonsense': both(failed),
  '500': both(failed),
  '502': both(failed),
  '503': both(failed),
  '504': both(failed),
  '529': both(failed),
  '204': both(fine),
  '304': both(fine),
  redirect: both(fine),
  'html-error': both(failed),
  sized: both(fine),
  burst: both(fine),
  'length-short': both(fine),
  'length-long': { whole: brokenOff, stream: { as: 'destroyed' } },
  'length-and-chunked': both(unreachable),
  'bad-chunk-size': { whole: brokenOff, stream: cut },
  'until-close': both(fine),
  trailers: both(fine),
  gzip: both(fine),
  deflate: both(fine),
  br: both(fine),
  zstd: both(fine),
  'gzip-stream': { stream: fine },
  // A body that cannot be decoded is passed through unchanged, and its end stays unknown.
  'gzip-corrupt': { whole: fine, stream: halfDone },
  '100-first': both(fine),
  '103-first': both(fine),
  'huge-headers': both(unreachable, { bytes: 100_000 }),
  'error-event': { stream: halfDone },
  'no-terminator': { stream: halfDone },
  'no-final-blank': { stream: fine },
  garbage: { stream: fine },
  comments: { stream: fine },
  'unknown-events': { stream: fine },
  crlf: { stream: fine },
  cr: { stream: fine },
  'byte-order-mark': { stream: fine },
  'long-line': { stream: fine, options: { bytes: 3_000_000 } },
  'invalid-utf8': { stream: fine },
  raw: both(unreachable, { raw: 'this is no HTTP' }),
};
