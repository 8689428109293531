/** The limits of each credential, as its latest response states them. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { clientSession } from '../model/conversation.ts';
import { headerValue } from '../model/headers.ts';
import type { Headers } from '../model/headers.ts';
import { paceOf, usedUpAtMs } from './pace.ts';
import type { Sample } from './pace.ts';
import { statedWindows } from './windows.ts';
import type { StatedWindow } from './windows.ts';

/** Usage that did not count against a window because svc left it out or answered itself. */
export interface Spared {
  readonly tokens: number;
  readonly requests: number;
}

/** One window of one credential. */
export interface Limit extends StatedWindow {
  readonly provider: string;
  /**
   * A configured key's label, or `client` and the beginning of a hash for a client's credential.
   */
  readonly key: string;
  /** When the latest response stated it, in milliseconds since the epoch. */
  readonly seenAtMs: number;
  /** The share used per hour at the current pace; undefined if the window has no length. */
  readonly usedPerHour: number | undefined;
  /**
   * When it is used up at that pace; undefined if it resets before, or the reset time is unknown.
   */
  readonly usedUpAtMs: number | undefined;
  /** For a plan's window, since it began and svc saw it. */
  readonly spared: Spared;
}

/** The credential that a response belongs to. */
export interface LimitedKey {
  readonly provider: string;
  /** The label of a configured key; undefined for a client's credential. */
  readonly label: string | undefined;
  /** As the request was sent. */
  readonly sent: Headers;
  /** The request's id. */
  readonly request: string;
}

/** The owner of windows. */
export type Owner = Pick<Limit, 'provider' | 'key'>;

/** A window as stored, also on disk. */
export interface KnownWindow extends Owner {
  readonly window: StatedWindow;
  /** Since the window began, oldest first. */
  readonly samples: readonly Sample[];
  readonly spared: Spared;
}

/** Maximum number of windows remembered; clients can send any number of credentials. */
const MAX_WINDOWS = 500;
/** Sessions for which the owner of the used windows is remembered. */
const MAX_SESSIONS = 200;
/** Requests for which it is remembered until they are over. */
const MAX_REQUESTS = 2000;
/** Samples of a window, evenly over its length. */
const MAX_SAMPLES = 300;
/** Where neither a reset time nor a length is known: how long the figures are taken for true. */
const UNKNOWN_MINUTES = { plan: 24 * 60, rate: 60 } as const;
const HASH_CHARS = 8;
const NOTHING: Spared = { tokens: 0, requests: 0 };
const CREDENTIALS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'];

export type PlanLimits = ReturnType<typeof createPlanLimits>;

/** `earlier` is what another process knew; `changed` is called for every change. */
export function createPlanLimits(
  clock: { wallMs(): number },
  earlier: readonly KnownWindow[] = [],
  changed: () => void = () => undefined,
) {
  const known = new LRUCache<string, KnownWindow>({ max: MAX_WINDOWS });
  const bySession = new LRUCache<string, Owner>({ max: MAX_SESSIONS });
  const byRequest = new LRUCache<string, Owner>({ max: MAX_REQUESTS });
  for (const one of earlier) known.set(idOf(one, one.window), one);
  return {
    /** Reads the limits that the head of a response states, if any. */
    note(limited: LimitedKey, headers: Headers): void {
      const nowMs = clock.wallMs();
      const windows = statedWindows(headers, nowMs);
      if (windows.length === 0) return;
      const owner = ownerOf(limited);
      const session = clientSession(limited.sent);
      if (session !== undefined) bySession.set(session, owner);
      byRequest.set(limited.request, owner);
      for (const window of windows) {
        const id = idOf(owner, window);
        const before = known.peek(id);
        const samples = withSample(before, window, nowMs);
        // The usage of an earlier window no longer counts.
        const isSame = before !== undefined && samples.some(({ atMs }) => atMs < nowMs);
        const spared = isSame ? before.spared : NOTHING;
        known.set(id, { ...owner, window, samples, spared });
      }
      changed();
    },
    /**
     * Adds what a finished request did not use of the plan it was, or would have been, sent with.
     */
    noteSpared({ id: request, sessionId }: SparedBy, spared: Spared): void {
      if (spared.tokens <= 0 && spared.requests === 0) return;
      const session = sessionId === null ? undefined : bySession.get(sessionId);
      const owner = byRequest.get(request) ?? session;
      if (owner === undefined) return;
      const ownWindows = [...known.entries()].filter(
        ([, one]) =>
          one.provider === owner.provider && one.key === owner.key && one.window.kind === 'plan',
      );
      for (const [id, one] of ownWindows)
        known.set(id, {
          ...one,
          spared: {
            tokens: one.spared.tokens + Math.max(0, spared.tokens),
            requests: one.spared.requests + spared.requests,
          },
        });
      changed();
    },
    /** Returns the owner of the windows that a request sent this way would use. */
    ownerOf,
    /** Returns what can be stored, the oldest first. */
    remembered: (): readonly KnownWindow[] => [...known.values()].toReversed(),
    /**
     * Returns the owner of the windows that the client's session used last; undefined if no
     * response to it stated any.
     */
    keyOf: (session: string) => bySession.get(session),
    /**
     * Returns all known windows that may not have reset since, plans first and the fullest first.
     */
    list(): readonly Limit[] {
      const nowMs = clock.wallMs();
      return [...known.values()]
        .filter((one) => endMs(one) >= nowMs)
        .map((one) => toLimit(one, nowMs))
        .toSorted((a, b) => a.kind.localeCompare(b.kind) || b.used - a.used);
    },
  };
}

/** A request that is over. */
export interface SparedBy {
  readonly id: string;
  readonly sessionId: string | null;
}

function ownerOf({ provider, label, sent }: Omit<LimitedKey, 'request'>): Owner {
  return { provider, key: label ?? `client ${hashOf(sent)}` };
}

function idOf({ provider, key }: Owner, { kind, name }: StatedWindow): string {
  return `${provider}\n${key}\n${kind}\n${name}`;
}

/**
 * Returns when the window has reset for certain: a full window must not be considered full for
 * ever.
 */
function endMs({ window: { kind, minutes, resetsAtMs }, samples }: KnownWindow): number {
  return resetsAtMs ?? samples.at(-1)!.atMs + (minutes ?? UNKNOWN_MINUTES[kind]) * 60_000;
}

function toLimit({ provider, key, window, samples, spared }: KnownWindow, nowMs: number): Limit {
  const { minutes, resetsAtMs } = window;
  const newest = samples.at(-1)!;
  const base = { ...window, provider, key, seenAtMs: newest.atMs, spared };
  if (minutes === undefined || resetsAtMs === undefined)
    return { ...base, usedPerHour: undefined, usedUpAtMs: undefined };
  const pace = paceOf(samples, { minutes, resetsAtMs }, nowMs);
  return {
    ...base,
    usedPerHour: pace * 3_600_000,
    usedUpAtMs: usedUpAtMs({ atMs: nowMs, used: newest.used }, pace, resetsAtMs),
  };
}

/**
 * Without samples of an earlier window; of samples that are close together only the newest is kept.
 */
function withSample(
  before: KnownWindow | undefined,
  { used, resetsAtMs, minutes }: StatedWindow,
  atMs: number,
): readonly Sample[] {
  const sample = { atMs, used };
  if (resetsAtMs === undefined || minutes === undefined) return [sample];
  const lengthMs = minutes * 60_000;
  const recent = (before?.samples ?? []).filter((one) => one.atMs >= resetsAtMs - lengthMs);
  const last = recent.at(-2);
  const isClose = last !== undefined && atMs - last.atMs < lengthMs / MAX_SAMPLES;
  return [...(isClose ? recent.slice(0, -1) : recent), sample];
}

function hashOf(sent: Headers): string {
  const values = CREDENTIALS.map((name) => headerValue(sent, name) ?? '');
  return createHash('sha256').update(values.join('\n')).digest('hex').slice(0, HASH_CHARS);
}
