/** What is known of the limits of each credential, from the newest answer to it. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { clientSession } from '../model/conversation.ts';
import { headerValue } from '../model/headers.ts';
import type { Headers } from '../model/headers.ts';
import { paceOf, usedUpAtMs } from './pace.ts';
import type { Sample } from './pace.ts';
import { statedWindows } from './windows.ts';
import type { StatedWindow } from './windows.ts';

/** One window of one credential. */
export interface Limit extends StatedWindow {
  readonly provider: string;
  /** A configured key's label, or `client` and the beginning of a hash for a credential of a client. */
  readonly key: string;
  /** When the newest answer stated it, in milliseconds since the epoch. */
  readonly seenAtMs: number;
  /** The share that is used in an hour at the present pace; undefined where it has no length. */
  readonly usedPerHour: number | undefined;
  /** When it is used up at that pace; undefined where it starts again before, or nothing says when that is. */
  readonly usedUpAtMs: number | undefined;
}

/** Whose answer it is. */
export interface LimitedKey {
  readonly provider: string;
  /** The label of a configured key; undefined for a credential of the client. */
  readonly label: string | undefined;
  /** As the request was sent. */
  readonly sent: Headers;
}

interface Known {
  readonly provider: string;
  readonly key: string;
  readonly window: StatedWindow;
  /** Since the window began, oldest first. */
  readonly samples: readonly Sample[];
}

/** Windows of credentials that are remembered; clients can send any number of credentials. */
const MOST_WINDOWS = 500;
/** Sessions of which it is remembered whose windows they used. */
const MOST_SESSIONS = 200;
/** Samples of a window, evenly over its length. */
const MOST_SAMPLES = 300;
const HASH_CHARS = 8;
const CREDENTIALS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'];

export type PlanLimits = ReturnType<typeof createPlanLimits>;

export function createPlanLimits(clock: { wallMs(): number }) {
  const known = new LRUCache<string, Known>({ max: MOST_WINDOWS });
  const bySession = new LRUCache<string, Pick<Limit, 'provider' | 'key'>>({ max: MOST_SESSIONS });
  return {
    /** Reads the limits that the head of an answer states, if it states any. */
    note(limited: LimitedKey, headers: Headers): void {
      const nowMs = clock.wallMs();
      const windows = statedWindows(headers, nowMs);
      if (windows.length === 0) return;
      const { provider, label } = limited;
      const key = label ?? `client ${hashOf(limited.sent)}`;
      const session = clientSession(limited.sent);
      if (session !== undefined) bySession.set(session, { provider, key });
      for (const window of windows) {
        const id = `${provider}\n${key}\n${window.kind}\n${window.name}`;
        const samples = withSample(known.peek(id), window, nowMs);
        known.set(id, { provider, key, window, samples });
      }
    },
    /** Whose windows the client's session used last; undefined where no answer to it stated any. */
    keyOf: (session: string) => bySession.get(session),
    /** All that are known and have not started again since, plans first and the fullest first. */
    list(): readonly Limit[] {
      const nowMs = clock.wallMs();
      return [...known.values()]
        .filter(({ window }) => (window.resetsAtMs ?? nowMs) >= nowMs)
        .map(toLimit)
        .toSorted((a, b) => a.kind.localeCompare(b.kind) || b.used - a.used);
    },
  };
}

function toLimit({ provider, key, window, samples }: Known): Limit {
  const { minutes, resetsAtMs } = window;
  const newest = samples.at(-1)!;
  const base = { ...window, provider, key, seenAtMs: newest.atMs };
  if (minutes === undefined || resetsAtMs === undefined)
    return { ...base, usedPerHour: undefined, usedUpAtMs: undefined };
  const pace = paceOf(samples, { minutes, resetsAtMs });
  return {
    ...base,
    usedPerHour: pace * 3_600_000,
    usedUpAtMs: usedUpAtMs(newest, pace, resetsAtMs),
  };
}

/** Without samples of an earlier window; of those that lie close together the newest alone is kept. */
function withSample(
  before: Known | undefined,
  { used, resetsAtMs, minutes }: StatedWindow,
  atMs: number,
): readonly Sample[] {
  const sample = { atMs, used };
  if (resetsAtMs === undefined || minutes === undefined) return [sample];
  const lengthMs = minutes * 60_000;
  const kept = (before?.samples ?? []).filter((one) => one.atMs >= resetsAtMs - lengthMs);
  const last = kept.at(-2);
  const isClose = last !== undefined && atMs - last.atMs < lengthMs / MOST_SAMPLES;
  return [...(isClose ? kept.slice(0, -1) : kept), sample];
}

function hashOf(sent: Headers): string {
  const values = CREDENTIALS.map((name) => headerValue(sent, name) ?? '');
  return createHash('sha256').update(values.join('\n')).digest('hex').slice(0, HASH_CHARS);
}
