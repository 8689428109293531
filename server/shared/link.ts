/**
 * The link to Redis as the request path sees it: up, or away. While it is away no command is sent,
 * and every query returns undefined at once, so that no request waits for it.
 *
 * | state | event                                    | next | also                                     |
 * |-------|------------------------------------------|------|------------------------------------------|
 * | away  | connected, and a trial write succeeds    | up   | an info line, if a warning was written   |
 * | up    | no response within 50 ms                 | away | a trial; a warning if it lasts 1 s       |
 * | up    | it refuses a command (READONLY, OOM, …)  | away | a warning                                |
 * | up    | the connection is closed                 | away | a warning                                |
 * | away  | no response to a trial for 5 s           | away | the connection is dropped and reopened   |
 *
 * While there is a connection, a trial is sent every half second, one at a time: the number of
 * pending commands is bounded by the requests in progress when Redis stopped responding.
 */
import type { Clock } from '../../engine/index.ts';
import { reasonOf } from '../../stages/providers/failure-reason.ts';
import type { StageLog } from '../../stages/services.ts';
import { visible } from '../log/visible.ts';
import type { Connection, ConnectionEvents, Script } from './connection.ts';

/** Longest that anything waits for Redis. */
const LIMIT_MS = 50;
const TICK_MS = 500;
/** A shorter outage of Redis appears only in the counters. */
const TIMEOUT_MS = 1000;
/** After this long without a response, the connection itself may be dead. */
const GIVE_UP_MS = 5000;

/** Tests that scripts run and that Redis is writable. */
const TRIAL: Script = { lua: "return redis.call('SET', KEYS[1], '1', 'PX', 1000)" };

/** Errors which say that Redis as a whole is unusable, rather than one command. */
const REFUSALS =
  /^(?:NOAUTH|WRONGPASS|NOPERM|READONLY|OOM|LOADING|MISCONF|MASTERDOWN|CLUSTERDOWN|MOVED|ASK|NOREPLICAS|BUSY|UNKILLABLE|EXECABORT)\b/;

export interface LinkOptions {
  readonly connect: (events: ConnectionEvents) => Connection;
  readonly clock: Clock;
  readonly log: StageLog;
  /** Address of Redis, without user and password. */
  readonly place: string;
  /** The key that a trial writes. */
  readonly trialKey: string;
}

/** State of the link, safe to display. */
export interface LinkView {
  readonly state: 'up' | 'away';
  readonly place: string;
  /** Why it is away; null while it is up. */
  readonly reason: string | null;
  /** Requests to Redis so far, and how many of them got no response in time. */
  readonly asked: number;
  readonly unanswered: number;
}

export class RedisLink {
  readonly #options: LinkOptions;
  readonly #connection: Connection;
  /** Callbacks for every tick while the link is up, and for the moment it comes up. */
  readonly #whileUp: (() => void)[] = [];
  #isUp = false;
  #reason = 'it has not answered yet';
  #asked = 0;
  #unanswered = 0;
  #hasWarned = false;
  #stopWarning: (() => void) | undefined;
  #stopTick: () => void;
  /** When the current trial began, and when a connection was last tried. */
  #triedMs: number | undefined;
  #quietSinceMs: number;
  #firstWord: (() => void) | undefined;
  #isClosed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#quietSinceMs = options.clock.monotonicMs();
    this.#connection = options.connect({
      ready: () => this.#try(),
      failed: (error) => {
        this.#reason = describeError(error);
      },
      closed: () => this.#onClosed(),
    });
    this.#stopTick = options.clock.after(TICK_MS, () => this.#tick());
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Resolves when the link is up or has failed once, at the latest after `withinMs`. */
  settled(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const stopTimer = this.#options.clock.after(withinMs, () => done());
      const done = (): void => {
        stopTimer();
        this.#firstWord = undefined;
        if (!this.#isUp) this.#warn();
        resolve();
      };
      this.#firstWord = done;
    });
  }

  /** Calls `work` while the link is up: twice a second, and when it comes up. */
  everyTick(work: () => void): void {
    this.#whileUp.push(work);
    if (this.#isUp) work();
  }

  /** Runs `send`; undefined if Redis is away or does not respond within 50 ms. Never rejects. */
  ask<T>(send: (connection: Connection) => Promise<T>): Promise<T | undefined> {
    if (!this.#isUp) return Promise.resolve(undefined);
    this.#asked += 1;
    return new Promise((resolve) => {
      let isOver = false;
      const end = (value: T | undefined): void => {
        if (isOver) return;
        isOver = true;
        stopTimer();
        if (value === undefined) this.#unanswered += 1;
        resolve(value);
      };
      const { clock } = this.#options;
      // If this process was busy, the response may be waiting in the socket: it is read before
      // `setImmediate`.
      const stopTimer = clock.after(LIMIT_MS, () =>
        setImmediate(() => {
          if (!isOver) this.#onSilence();
          end(undefined);
        }),
      );
      send(this.#connection).then(end, (thrown: unknown) => {
        this.#onRefusal(thrown);
        end(undefined);
      });
    });
  }

  view(): LinkView {
    const { place } = this.#options;
    return {
      state: this.#isUp ? 'up' : 'away',
      place,
      reason: this.#isUp ? null : this.#reason,
      asked: this.#asked,
      unanswered: this.#unanswered,
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#isUp = false;
    this.#stopTick();
    this.#stopWarning?.();
    this.#connection.close();
  }

  #tick(): void {
    const { clock } = this.#options;
    this.#stopTick = clock.after(TICK_MS, () => this.#tick());
    if (this.#isUp) for (const work of this.#whileUp) work();
    else if (this.#connection.isReady && this.#triedMs === undefined) this.#try();
    else if (clock.monotonicMs() - this.#quietSinceMs > GIVE_UP_MS) {
      this.#quietSinceMs = clock.monotonicMs();
      // Data still arriving on the old connection says nothing about the next one.
      this.#triedMs = undefined;
      this.#connection.reconnect();
    }
  }

  #try(): void {
    const { clock, trialKey } = this.#options;
    const triedMs = clock.monotonicMs();
    this.#triedMs = triedMs;
    this.#quietSinceMs = triedMs;
    const isOurs = (): boolean => this.#triedMs === triedMs && !this.#isClosed;
    this.#connection.run(TRIAL, [trialKey], []).then(
      () => {
        if (isOurs()) this.#onUp();
      },
      (thrown: unknown) => {
        if (!isOurs()) return;
        this.#triedMs = undefined;
        this.#onAway(describeError(thrown), 0);
      },
    );
  }

  #onUp(): void {
    this.#triedMs = undefined;
    if (this.#isUp) return;
    this.#isUp = true;
    this.#stopWarning?.();
    if (this.#hasWarned) this.#options.log.info('Redis is back', { redis: this.#options.place });
    this.#hasWarned = false;
    this.#firstWord?.();
    for (const work of this.#whileUp) work();
  }

  #onClosed(): void {
    if (this.#isClosed) return;
    this.#triedMs = undefined;
    this.#quietSinceMs = this.#options.clock.monotonicMs();
    this.#onAway(this.#isUp ? 'the connection was closed' : this.#reason, 0);
  }

  #onSilence(): void {
    if (!this.#isUp) return;
    this.#onAway(`no answer within ${LIMIT_MS} ms`, TIMEOUT_MS);
    this.#try();
  }

  #onRefusal(thrown: unknown): void {
    const isWhole = thrown instanceof Error && REFUSALS.test(thrown.message);
    if (isWhole) this.#onAway(describeError(thrown), 0);
  }

  #onAway(reason: string, patienceMs: number): void {
    this.#reason = reason;
    const wasUp = this.#isUp;
    this.#isUp = false;
    if (patienceMs === 0) {
      if (wasUp || this.#firstWord !== undefined) this.#warn();
    } else if (wasUp) {
      this.#stopWarning = this.#options.clock.after(patienceMs, () => this.#warn());
    }
    this.#firstWord?.();
  }

  #warn(): void {
    if (this.#hasWarned || this.#isUp || this.#isClosed) return;
    this.#hasWarned = true;
    this.#stopWarning?.();
    this.#options.log.warning(
      'Redis is unreachable: this proxy continues with its own limits and state',
      {
        redis: this.#options.place,
        reason: this.#reason,
      },
    );
  }
}

/** Redis's common error messages, and what to say instead. */
const ERROR_MESSAGES: readonly (readonly [prefix: string, words: string])[] = [
  ['WRONGPASS', 'it refuses the user or the password of shared.redis_url'],
  ['ERR invalid password', 'it refuses the password of shared.redis_url'],
  ['NOAUTH', 'it requires a password, and shared.redis_url has none'],
  ['NOPERM', 'its user may not do what sharing needs (scripts, and keys that begin with svc:)'],
  ['READONLY', 'it is a replica, which cannot be written to'],
  ['OOM', 'its memory is full (maxmemory, with a policy that removes nothing)'],
  ['MOVED', 'it is part of a cluster, which is not supported'],
  ['CLUSTERDOWN', 'it is part of a cluster, which is not supported'],
  ['LOADING', 'it is still loading its data'],
];

/**
 * Where Redis begins to quote the command it received: that includes the password, if it does not
 * know AUTH.
 */
const QUOTED = /\n|, with args beginning with:/;

/** Returns why Redis cannot be used, without the password, which the error itself contains. */
export function describeError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'the connection failed';
  const { message } = thrown;
  const known = ERROR_MESSAGES.find(([prefix]) => message.startsWith(prefix));
  if (known !== undefined) return known[1];
  if (thrown.name === 'ParserError') return 'what answers there is not Redis';
  if (thrown.name === 'ReplyError') return visible(message.split(QUOTED, 1)[0]!.slice(0, 200));
  return reasonOf(thrown);
}
