/** The faults of a provider, and how a request that meets one must end. */
import { scenarios } from '../../../fixtures/upstream.ts';
import type { ScenarioName, ScenarioOptions } from '../../../fixtures/upstream.ts';

/** How an exchange ends for the client where nobody takes over. */
export type Ending =
  /** The same status and bytes as without the proxy. */
  | { readonly as: 'relayed'; readonly row: 'ok' | 'error' | 'partial' }
  /** An error of the proxy's own. */
  | { readonly as: 'refused'; readonly status: number; readonly code: string | undefined }
  /** Status 200, then an error event in the client's dialect as the last thing. */
  | { readonly as: 'error event' }
  /** A connection that breaks off. */
  | { readonly as: 'destroyed' };

/** Whether another provider takes over; `either` where the seed decides if content came first. */
type Takes = boolean | 'either';

export interface Fault {
  readonly label: string;
  /** `refused`: nobody listens. */
  readonly scenario: ScenarioName | 'refused';
  readonly options: ScenarioOptions;
  /** Absent where the fault is about streams. */
  readonly whole?: Ending;
  readonly stream: Ending;
  /** Where a chat stream ends otherwise. */
  readonly streamInChat?: Ending;
  readonly takenOver: { readonly whole: Takes; readonly stream: Takes };
}

const fine: Ending = { as: 'relayed', row: 'ok' };
const failed: Ending = { as: 'relayed', row: 'error' };
const halfDone: Ending = { as: 'relayed', row: 'partial' };
const unreachable: Ending = { as: 'refused', status: 502, code: 'PROVIDER_003' };
const broken: Ending = { as: 'refused', status: 502, code: undefined };
const late: Ending = { as: 'refused', status: 504, code: 'TIMEOUT_001' };
const cut: Ending = { as: 'error event' };

type Entry = readonly [Fault['scenario'], ScenarioOptions?, string?];

function faults(
  takenOver: Takes | Fault['takenOver'],
  endings: Pick<Fault, 'whole' | 'stream' | 'streamInChat'>,
  entries: readonly Entry[],
): Fault[] {
  const takes = typeof takenOver === 'object' ? takenOver : { whole: takenOver, stream: takenOver };
  return entries.map(([scenario, options = {}, label = scenario]) => ({
    label,
    scenario,
    options,
    takenOver: takes,
    ...endings,
  }));
}

const both = (ending: Ending) => ({ whole: ending, stream: ending });
const EARLY = 20;

/** Faults that meet a connection before it has carried a request. */
export const FAULTS_OF_CONNECTIONS: readonly Fault[] = [
  ...faults(true, both(unreachable), [['refused'], ['reset-at-accept'], ['close-at-accept']]),
  ...faults(true, both(late), [['stall-at-accept']]),
];

/** Every other one. */
export const FAULTS: readonly Fault[] = [
  // Nothing was answered.
  ...faults(true, both(unreachable), [
    ['reset-before-head'],
    ['reset-on-request-head'],
    ['close-before-head'],
    ['length-and-chunked'],
    ['huge-headers', { bytes: 100_000 }],
    ['raw', { raw: 'this is no HTTP' }],
  ]),
  ...faults(true, both(late), [['stall-before-head']]),
  // The provider says that it cannot.
  ...faults(true, both(failed), [
    ['429'],
    ['429-seconds'],
    ['429-date', { retryAfter: 'Wed, 21 Oct 2037 07:28:00 GMT' }],
    ['429-huge'],
    ['429-nonsense'],
    ['500'],
    ['502'],
    ['503'],
    ['504'],
    ['529'],
    ['html-error'],
  ]),
  // The request is at fault; another provider would say the same.
  ...faults(false, both(failed), [
    ['status', { status: 418 }],
    ['400'],
    ['401'],
    ['403'],
    ['404'],
    ['413'],
    ['early-response'],
  ]),
  // It breaks off or falls silent before it has sent anything.
  ...faults(true, { whole: broken, stream: cut }, [
    ['reset-after-head'],
    ['bad-chunk-size'],
    ['reset-mid-body', { atByte: EARLY }, 'reset-mid-body, early'],
    ['close-mid-body', { atByte: EARLY }, 'close-mid-body, early'],
    ['half-close-mid-body', { atByte: EARLY }, 'half-close-mid-body, early'],
  ]),
  ...faults(true, { whole: late, stream: cut }, [
    ['stall-after-head'],
    ['stall-mid-body', { atByte: EARLY }, 'stall-mid-body, early'],
  ]),
  ...faults(true, { stream: halfDone }, [['error-event', { count: 1 }, 'error-event, early']]),
  // Anywhere: a document can still come from elsewhere, a stream only if it has sent nothing.
  ...faults({ whole: true, stream: 'either' }, { whole: broken, stream: cut }, [
    ['reset-mid-body'],
    ['close-mid-body'],
    ['half-close-mid-body'],
  ]),
  ...faults({ whole: true, stream: 'either' }, { whole: late, stream: cut }, [['stall-mid-body']]),
  ...faults({ whole: true, stream: false }, { whole: broken, stream: { as: 'destroyed' } }, [
    ['length-long'],
  ]),
  // After content there is no way back.
  ...faults(false, { stream: halfDone }, [['error-event']]),
  ...faults(false, { stream: cut }, [['flood', { count: 20 }]]),
  // It was asked for without an encoding, and is read before it is shown: nothing comes out of it.
  ...faults(true, { stream: halfDone }, [['gzip-corrupt']]),
  // A chat stream that gave its reason for stopping has ended.
  ...faults(false, { stream: halfDone, streamInChat: fine }, [['no-terminator']]),
  // Odd, and passed through to the byte.
  ...faults(false, both(fine), [
    ['100-first'],
    ['close-idle', { delayMs: 1 }],
    ['reset-idle', { delayMs: 1 }],
    ['extra-response', { delayMs: 1 }],
    ['trailing-bytes'],
    ['slow-head', { delayMs: 30 }],
    ['slow-first-event', { delayMs: 30 }],
    ['slow-drip', { bytes: 100 }],
    ['slow-body', { bytes: 100 }],
    ['split', { sizes: [50] }],
    ['split-once'],
    ['204'],
    ['304'],
    ['redirect'],
    ['sized'],
    ['burst'],
    ['length-short'],
    ['until-close'],
    ['trailers'],
    ['gzip'],
    ['deflate'],
    ['br'],
    ['zstd'],
    ['103-first'],
  ]),
  ...faults(false, { stream: fine }, [
    ['events', { count: 20, everyMs: 2 }],
    ['pings'],
    ['gzip-stream'],
    ['no-final-blank'],
    ['garbage'],
    ['comments'],
    ['unknown-events'],
    ['crlf'],
    ['cr'],
    ['byte-order-mark'],
    ['long-line', { bytes: 3_000_000 }],
    ['invalid-utf8'],
  ]),
];

/** Scenarios that the table has forgotten. */
export function forgotten(): string[] {
  const named = new Set<string>(
    [...FAULTS, ...FAULTS_OF_CONNECTIONS].map((fault) => fault.scenario),
  );
  return Object.keys(scenarios).filter((name) => !named.has(name));
}
