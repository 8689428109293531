/**
 * Keeps a proxy's keys in step with those in the Postgres of its shared ledger by polling twice a
 * second: a notification would not pass through a pooler. While the database is unreachable, the
 * last known keys stay valid for an hour, and revoked ones stay revoked; after that none is valid
 * until it is back.
 */
import type { Clock } from '../../engine/clock.ts';
import { SvcError } from '../../engine/error.ts';
import { connect } from '../../stages/ledger/postgres/client.ts';
import type { Connection } from '../../stages/ledger/postgres/client.ts';
import { describeError } from '../../stages/ledger/postgres/query-errors.ts';
import { readSharedTexts, toSharedKeys } from './shared-keys.ts';
import type { StoredKey } from './store.ts';

/** How long keys stay valid while the database is unreachable. */
export const KEPT_MS = 3_600_000;
const POLL_MS = 400;

export interface SharedKeysWatch {
  /** Polls once; true if the database responded. */
  poll(): Promise<boolean>;
  /** Starts polling. */
  start(): void;
  close(): void;
}

interface WatchOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly onKeys: (keys: readonly StoredKey[]) => void;
  readonly onFault: (fault: SvcError) => void;
}

/**
 * Creates the watch. `onKeys` receives all keys when they have changed; `onFault` one error per
 * outage. Nothing is queried before `poll` or `start`.
 */
export function watchSharedKeys(options: WatchOptions): SharedKeysWatch {
  const { url, clock, onKeys, onFault } = options;
  let connection: Connection | undefined;
  let lastState: string | undefined;
  let keys: readonly StoredKey[] = [];
  let lastReadMs = clock.monotonicMs();
  let isUnreachable = false;
  let haveExpired = false;
  let isClosed = false;
  let cancel = (): void => undefined;

  const disconnect = (): void => {
    connection?.close();
    connection = undefined;
  };

  async function read(): Promise<void> {
    connection ??= await connect(url, () => (connection = undefined));
    const texts = (await readSharedTexts(connection)).toSorted();
    const state = texts.join('\n');
    if (state !== lastState || haveExpired) {
      keys = toSharedKeys(texts);
      lastState = state;
      if (!isClosed) onKeys(keys);
    }
    lastReadMs = clock.monotonicMs();
    isUnreachable = false;
    haveExpired = false;
  }

  function onFailure(error: unknown): void {
    disconnect();
    if (isClosed) return;
    if (!isUnreachable) onFault(toFault(error, url));
    isUnreachable = true;
    if (haveExpired || clock.monotonicMs() - lastReadMs < KEPT_MS) return;
    haveExpired = true;
    const revoked = new Date(clock.wallMs()).toISOString();
    // Marked as revoked rather than removed: a copy in the home folder must not count either.
    onKeys(keys.map((key) => ({ revoked, ...key })));
  }

  const watch: SharedKeysWatch = {
    async poll() {
      try {
        await read();
        return true;
      } catch (error) {
        onFailure(error);
        return false;
      } finally {
        if (isClosed) disconnect();
      }
    },
    start() {
      if (isClosed) return;
      cancel = clock.after(POLL_MS, () => void watch.poll().then(() => watch.start()));
    },
    close() {
      isClosed = true;
      cancel();
      disconnect();
    },
  };
  return watch;
}

/** Longest that a start waits for the first keys. */
const FIRST_KEYS_MS = 3000;

/**
 * Starts watching; resolves when the keys have been read once, or after three seconds without a
 * response.
 */
export async function followSharedKeys(options: WatchOptions): Promise<SharedKeysWatch> {
  const watch = watchSharedKeys(options);
  await new Promise<void>((resolve) => {
    const cancel = options.clock.after(FIRST_KEYS_MS, resolve);
    void watch.poll().then(() => {
      watch.start();
      cancel();
      resolve();
    });
  });
  return watch;
}

function toFault(error: unknown, url: string): SvcError {
  if (error instanceof SvcError) return error;
  const { message } = describeError(error, url);
  return new SvcError('unavailable', `The keys of the shared ledger cannot be read: ${message}`, {
    cause: error,
    cure: 'Keys that were read before stay valid for an hour; the proxy keeps trying.',
  });
}
