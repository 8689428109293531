/**
 * Limits per client: requests per source (`security.rate_limit_per_minute`, `rate_limit.*`) and
 * concurrent streams (`streaming.max_concurrent_streams`).
 *
 * A bucket is stored as one number, the time at which it would be full again (the generic cell rate
 * algorithm, ITU-T I.371). Sources live in two generations: when the young one is full it becomes
 * the old one and the previous old one is dropped, so a flood of addresses costs constant memory,
 * no timer, and no bookkeeping per request. A source that returns moves to the young generation, so
 * only idle ones are forgotten.
 */
import type { Clock } from '../../engine/clock.ts';

export interface RateLimits {
  /** Requests a minute, which is also the burst; 0 or undefined: no limit. */
  readonly perMinute?: number | undefined;
  /** Sustained requests a second; 0 or undefined: no limit. */
  readonly perSecond?: number | undefined;
  /** Requests at once under `perSecond`; default one second's worth, at least 1. */
  readonly burst?: number | undefined;
}

export interface RateLimitOptions extends RateLimits {
  readonly clock: Clock;
  /** Counts shared with other proxies; default: this process counts alone. */
  readonly shared?: SharedCounts | undefined;
}

/** One limit as a bucket of requests that refills one by one. */
export interface Bucket {
  readonly name: 'minute' | 'second';
  /** Requests that a full bucket holds. */
  readonly capacity: number;
  readonly intervalMs: number;
}

/** Deficit of each bucket of a source, in milliseconds at its own rate. */
export type Deficits = readonly number[];

/** Buckets of all sources, shared by several proxies. */
export interface SharedCounts {
  /** False while the shared store does not respond. */
  readonly isUp: boolean;
  /**
   * Takes one request from every bucket of `source`, or from none if one is empty, and returns the
   * deficits before that. `min` is the deficit known to this proxy. Undefined if the store does
   * not respond in time; never rejects.
   */
  take(source: string, buckets: readonly Bucket[], min: Deficits): Promise<Deficits | undefined>;
}

/** Outcome for one request. Of two limits, the tighter one is reported. */
export interface RateDecision {
  readonly isAllowed: boolean;
  /** Requests a full bucket holds. */
  readonly limit: number;
  /** Requests that would pass right now, after this one. */
  readonly remaining: number;
  /** When the bucket is full again, in seconds since the epoch. */
  readonly resetEpochS: number;
  /** How long a refused source should wait, in whole seconds, at least 1; 0 when allowed. */
  readonly retryAfterS: number;
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** Configured limits; the first of them is a source's first bucket. */
interface Buckets {
  readonly minute: Bucket | undefined;
  readonly second: Bucket | undefined;
}

/** When each of the two buckets of a source is full again, in monotonic milliseconds. */
interface Client {
  firstFullMs: number;
  secondFullMs: number;
}

/** Number of sources that are always remembered; at most twice as many are held. */
const CLIENTS = 10_000;

/**
 * Creates a limiter in this process's memory, which asks the shared store first if there is one.
 */
export function createRateLimiter(options: RateLimitOptions) {
  const { clock, shared } = options;
  let buckets = toBuckets(options);
  let [first, second] = inOrder(buckets);
  const clients = createClientTable(CLIENTS);

  function take(name: string): RateDecision | undefined {
    return first && takeOne(clients.recall(name), first, second, clock);
  }

  /**
   * Without a response from the store, the local counts decide; they include all requests allowed
   * before.
   */
  async function takeShared(counts: SharedCounts, name: string, limit: Bucket) {
    const client = clients.recall(name);
    const other = second;
    const sentMs = clock.monotonicMs();
    const min = [client.firstFullMs - sentMs, client.secondFullMs - sentMs];
    const limits = other === undefined ? [limit] : [limit, other];
    const deficits = await counts.take(name, limits, min);
    if (deficits === undefined) return take(name);
    const [firstFullMs = 0, secondFullMs = 0] = deficits;
    const sharedClient = { firstFullMs, secondFullMs };
    const decision = decide(sharedClient, limit, other, 0, clock);
    // A reload in the meantime has replaced the buckets.
    if (limit === first && other === second) {
      client.firstFullMs = Math.max(client.firstFullMs, sentMs + sharedClient.firstFullMs);
      client.secondFullMs = Math.max(client.secondFullMs, sentMs + sharedClient.secondFullMs);
    }
    return decision;
  }

  return {
    /** Sources held in memory now. */
    get size(): number {
      return clients.size;
    },
    /**
     * Takes one request from `client`, the address of the socket's peer, by the local counts.
     * Undefined when nothing is limited.
     */
    take,
    /**
     * Takes one request by the counts of all proxies; returns a promise only if counts are shared.
     * Never rejects.
     */
    takeTogether(name: string): RateDecision | undefined | Promise<RateDecision | undefined> {
      if (shared?.isUp !== true || first === undefined) return take(name);
      return takeShared(shared, name, first);
    },
    /** Replaces the limits. Requests already used stay used, up to a full bucket. */
    configure(limits: RateLimits): void {
      const next = toBuckets(limits);
      const nowMs = clock.monotonicMs();
      if (!isSame(next.minute, buckets.minute) || !isSame(next.second, buckets.second))
        for (const client of clients.all()) carryOver(client, buckets, next, nowMs);
      buckets = next;
      [first, second] = inOrder(next);
    },
  };
}

function takeOne(client: Client, first: Bucket, second: Bucket | undefined, clock: Clock) {
  return decide(client, first, second, clock.monotonicMs(), clock);
}

/**
 * Takes one request from both buckets of `client`, or from neither. `nowMs` is on the clock that
 * the deficits of `client` use.
 */
function decide(
  client: Client,
  first: Bucket,
  second: Bucket | undefined,
  nowMs: number,
  clock: Clock,
): RateDecision {
  const firstMs = afterOneMore(first, client.firstFullMs, nowMs);
  const secondMs = second === undefined ? 0 : afterOneMore(second, client.secondFullMs, nowMs);
  const firstWaitMs = waitMs(first, firstMs, nowMs);
  const secondWaitMs = second === undefined ? 0 : waitMs(second, secondMs, nowMs);
  if (firstWaitMs > 0 || secondWaitMs > 0) {
    return second === undefined || firstWaitMs >= secondWaitMs
      ? toDecision(first, client.firstFullMs - nowMs, clock, firstWaitMs)
      : toDecision(second, client.secondFullMs - nowMs, clock, secondWaitMs);
  }
  client.firstFullMs = firstMs;
  client.secondFullMs = secondMs;
  return second === undefined ||
    freeTokens(first, firstMs - nowMs) <= freeTokens(second, secondMs - nowMs)
    ? toDecision(first, firstMs - nowMs, clock, 0)
    : toDecision(second, secondMs - nowMs, clock, 0);
}

/** Recently seen sources, in two generations of at most `max` each. */
function createClientTable(max: number) {
  let young = new Map<string, Client>();
  let old = new Map<string, Client>();
  return {
    get size(): number {
      return young.size + old.size;
    },
    recall(name: string): Client {
      const known = young.get(name);
      if (known !== undefined) return known;
      if (young.size >= max) {
        old = young;
        young = new Map();
      }
      const client = old.get(name) ?? { firstFullMs: 0, secondFullMs: 0 };
      young.set(name, client);
      return client;
    },
    // A source that moved to the young generation is still in the old one too.
    all: (): Iterable<Client> => new Set([...young.values(), ...old.values()]),
  };
}

function carryOver(client: Client, before: Buckets, after: Buckets, nowMs: number): void {
  const minuteMs = before.minute === undefined ? 0 : client.firstFullMs;
  const secondMs = before.minute === undefined ? client.firstFullMs : client.secondFullMs;
  const minute = refilledMs(minuteMs, before.minute, after.minute, nowMs);
  const second = refilledMs(secondMs, before.second, after.second, nowMs);
  client.firstFullMs = after.minute === undefined ? second : minute;
  client.secondFullMs = after.minute === undefined ? 0 : second;
}

/** Returns when the bucket `after` is full, given as many used requests as `before` had. */
function refilledMs(
  fullMs: number,
  before: Bucket | undefined,
  after: Bucket | undefined,
  nowMs: number,
): number {
  if (before === undefined || after === undefined) return 0;
  const used = Math.max(0, fullMs - nowMs) / before.intervalMs;
  return nowMs + Math.min(used, after.capacity) * after.intervalMs;
}

/**
 * Returns the `X-RateLimit-*` headers of a decision as a flat list of names and values.
 * `Retry-After` comes with the error.
 */
export function rateLimitHeaders(decision: RateDecision): string[] {
  return [
    'X-RateLimit-Limit',
    String(decision.limit),
    'X-RateLimit-Remaining',
    String(decision.remaining),
    'X-RateLimit-Reset',
    String(decision.resetEpochS),
  ];
}

export type StreamLimit = ReturnType<typeof createStreamLimit>;

/** Counts concurrent streams up to `max`; undefined or 0: counts without a limit. */
export function createStreamLimit(first: number | undefined) {
  let max = first;
  let active = 0;
  return {
    /** Streams open now. */
    get active(): number {
      return active;
    },
    /** Claims a slot; the returned function releases it, once. Undefined when all are taken. */
    acquire(): (() => void) | undefined {
      if (max !== undefined && max > 0 && active >= max) return undefined;
      active += 1;
      let isHeld = true;
      return () => {
        if (isHeld) active -= 1;
        isHeld = false;
      };
    },
    /** Replaces the limit; running streams continue. */
    configure(next: number | undefined): void {
      max = next;
    },
  };
}

function toBuckets({ perMinute = 0, perSecond = 0, burst = perSecond }: RateLimits): Buckets {
  const capacity = Math.max(1, Math.floor(burst));
  return {
    minute:
      perMinute > 0
        ? { name: 'minute', capacity: perMinute, intervalMs: 60_000 / perMinute }
        : undefined,
    second: perSecond > 0 ? { name: 'second', capacity, intervalMs: 1000 / perSecond } : undefined,
  };
}

function inOrder({ minute, second }: Buckets): [first?: Bucket, second?: Bucket] {
  if (minute === undefined) return second === undefined ? [] : [second];
  return second === undefined ? [minute] : [minute, second];
}

function isSame(one: Bucket | undefined, other: Bucket | undefined): boolean {
  return one?.capacity === other?.capacity && one?.intervalMs === other?.intervalMs;
}

function afterOneMore(bucket: Bucket, fullMs: number, nowMs: number): number {
  return Math.max(fullMs, nowMs) + bucket.intervalMs;
}

function waitMs(bucket: Bucket, fullMs: number, nowMs: number): number {
  // Half a microsecond of slack, or rounding refuses the last request of a full bucket.
  return fullMs - nowMs - bucket.capacity * bucket.intervalMs - 5e-4;
}

/** `deficitMs` until the bucket is full again; `delayMs` is positive for a refusal. */
function toDecision(
  bucket: Bucket,
  deficitMs: number,
  clock: Clock,
  delayMs: number,
): RateDecision {
  return {
    isAllowed: delayMs <= 0,
    limit: bucket.capacity,
    remaining: freeTokens(bucket, deficitMs),
    resetEpochS: Math.ceil((clock.wallMs() + Math.max(0, deficitMs)) / 1000),
    retryAfterS: delayMs <= 0 ? 0 : Math.max(1, Math.ceil(delayMs / 1000)),
  };
}

function freeTokens(bucket: Bucket, deficitMs: number): number {
  // The same slack, in requests.
  return Math.max(
    0,
    Math.floor(bucket.capacity - Math.max(0, deficitMs) / bucket.intervalMs + 1e-6),
  );
}
