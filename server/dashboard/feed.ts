/**
 * Live updates of open dashboards, as server-sent events: finished requests, the log, and the
 * current state. Everything is built once for all of them, and nothing while none is open.
 */
import type { Clock } from '../../engine/index.ts';
import { SvcError } from '../../engine/index.ts';
import { requestJson } from '../../stages/ledger/request-json.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import type { Log } from '../log/log.ts';
import type { LiveRequests } from './live-rows.ts';

/** How long events are collected into a batch. */
const BATCH_MS = 400;
/**
 * Interval at which the state and each viewer's admission are checked; an unchanged state is sent
 * after several checks.
 */
const STATE_MS = 2000;
const IDLE_CHECKS = 3;
/**
 * Limits of one event: requests, of which further ones are only counted, and the newest log lines.
 */
const MAX_ROWS = 100;
const MAX_LINES = 200;
/** Dashboards that may be open at once. */
export const MAX_VIEWERS = 16;
/** Events queued for a slow reader; one that lags further is disconnected, and reconnects. */
const MAX_WAITING = 64;

/** The event `rows`. */
export interface LiveRows {
  /** Oldest first. */
  readonly requests: readonly ReturnType<typeof requestJson>[];
  /** Number of further finished requests that are left out. */
  readonly skipped: number;
}

export interface FeedOptions {
  readonly clock: Clock;
  readonly live: LiveRequests;
  readonly log: Pick<Log, 'watch'>;
  /** Returns the current state as JSON. */
  readonly state: () => Promise<string>;
}

/** The event `log`: lines as in the log, oldest first. */
export interface LiveLog {
  readonly lines: readonly string[];
}

type Viewer = ReadableStreamDefaultController<Uint8Array>;

interface Viewing {
  readonly isAdmitted: () => boolean;
  readonly endLog: () => void;
}

export class Feed {
  readonly #options: FeedOptions;
  readonly #viewers = new Map<Viewer, Viewing>();
  readonly #encoder = new TextEncoder();
  #stop: (() => void)[] = [];
  #rows: LedgerRow[] = [];
  #skipped = 0;
  #stopBatch: (() => void) | undefined;
  #hasUpdates = false;
  #quietChecks = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /**
   * Opens a stream of events that continues until it is cancelled or `isAdmitted` is false,
   * including the log if `withLog`. Throws `unavailable` for one viewer too many.
   */
  open(withLog: boolean, isAdmitted: () => boolean): ReadableStream<Uint8Array> {
    if (this.#viewers.size >= MAX_VIEWERS)
      throw new SvcError('unavailable', `${MAX_VIEWERS} dashboards are open already`, {
        cure: 'Close one of them.',
      });
    let own: Viewer | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (viewer) => {
          own = viewer;
          const endLog = withLog ? this.#showLog(viewer) : () => undefined;
          this.#add(viewer, { isAdmitted, endLog });
        },
        cancel: () => this.#remove(own!),
      },
      { highWaterMark: MAX_WAITING },
    );
  }

  #add(viewer: Viewer, viewing: Viewing): void {
    this.#viewers.set(viewer, viewing);
    // Sent at once, so that the client sees that the connection is open.
    viewer.enqueue(this.#encoder.encode('retry: 2000\n\n'));
    if (this.#viewers.size === 1) {
      this.#stop.push(this.#options.live.watch((row) => this.#onRow(row)));
      this.#scheduleCheck();
    }
    void this.#sendState();
  }

  #remove(viewer: Viewer): void {
    this.#viewers.get(viewer)?.endLog();
    if (!this.#viewers.delete(viewer) || this.#viewers.size > 0) return;
    for (const stop of this.#stop) stop();
    this.#stopBatch?.();
    this.#stop = [];
    this.#stopBatch = undefined;
    this.#rows = [];
    this.#skipped = 0;
  }

  /** Only some viewers may see the log, and it is rarely busy: each gets its own events. */
  #showLog(viewer: Viewer): () => void {
    let lines: string[] = [];
    let stopTimer: (() => void) | undefined;
    const send = (): void => {
      stopTimer = undefined;
      const event: LiveLog = { lines };
      lines = [];
      this.#sendTo(viewer, this.#encode('log', JSON.stringify(event)));
    };
    const stop = this.#options.log.watch((line) => {
      lines.push(line);
      if (lines.length > MAX_LINES) lines.shift();
      stopTimer ??= this.#options.clock.after(BATCH_MS, send);
    });
    return () => {
      stop();
      stopTimer?.();
    };
  }

  #onRow(row: LedgerRow): void {
    this.#hasUpdates = true;
    if (this.#rows.length < MAX_ROWS) this.#rows.push(row);
    else this.#skipped += 1;
    this.#stopBatch ??= this.#options.clock.after(BATCH_MS, () => this.#sendRows());
  }

  #sendRows(): void {
    this.#stopBatch = undefined;
    const event: LiveRows = { requests: this.#rows.map(requestJson), skipped: this.#skipped };
    this.#rows = [];
    this.#skipped = 0;
    this.#send('rows', JSON.stringify(event));
  }

  #scheduleCheck(): void {
    const stop = this.#options.clock.after(STATE_MS, () => {
      this.#stop = this.#stop.filter((other) => other !== stop);
      for (const [viewer, { isAdmitted }] of this.#viewers) if (!isAdmitted()) this.#end(viewer);
      if (this.#viewers.size === 0) return;
      this.#quietChecks += 1;
      if (this.#hasUpdates || this.#quietChecks >= IDLE_CHECKS) void this.#sendState();
      this.#scheduleCheck();
    });
    this.#stop.push(stop);
  }

  async #sendState(): Promise<void> {
    this.#hasUpdates = false;
    this.#quietChecks = 0;
    try {
      this.#send('state', await this.#options.state());
    } catch {
      // On failure the state is read again at the next check; the connection stays open.
    }
  }

  #send(event: string, json: string): void {
    const bytes = this.#encode(event, json);
    for (const viewer of this.#viewers.keys()) this.#sendTo(viewer, bytes);
  }

  #encode(event: string, json: string): Uint8Array {
    return this.#encoder.encode(`event: ${event}\ndata: ${json}\n\n`);
  }

  #sendTo(viewer: Viewer, bytes: Uint8Array): void {
    if ((viewer.desiredSize ?? 0) > 0) viewer.enqueue(bytes);
    else this.#end(viewer);
  }

  #end(viewer: Viewer): void {
    this.#remove(viewer);
    viewer.close();
  }
}
