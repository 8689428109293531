/**
 * Keeps a proxy's keys the same as those in the Postgres of its shared ledger, by looking there twice a
 * second: a notification would not come through a pooler. While the database is away the keys that were
 * seen last go on for an hour, and what was revoked stays so; then none of them counts until it is back.
 */
import type { Clock } from '../../engine/clock.ts';
import { SvcError } from '../../engine/error.ts';
import { connect } from '../../stages/ledger/postgres/client.ts';
import type { Connection } from '../../stages/ledger/postgres/client.ts';
import { inWords } from '../../stages/ledger/postgres/trouble.ts';
import { readSharedTexts, toSharedKeys } from './shared-keys.ts';
import type { StoredKey } from './store.ts';

/** So long keys hold that cannot be looked at. */
export const KEPT_MS = 3_600_000;
const LOOK_MS = 400;

export interface SharedKeysWatch {
  /** Looks once; true if the database answered. */
  look(): Promise<boolean>;
  /** Goes on looking. */
  start(): void;
  close(): void;
}

interface Watched {
  readonly url: string;
  readonly clock: Clock;
  readonly onKeys: (keys: readonly StoredKey[]) => void;
  readonly onFault: (fault: SvcError) => void;
}

/** `onKeys` gets all keys when they differ from before; `onFault` one error for each outage. Nothing is asked before `look` or `start`. */
export function watchSharedKeys(options: Watched): SharedKeysWatch {
  const { url, clock, onKeys, onFault } = options;
  let connection: Connection | undefined;
  let seen: string | undefined;
  let keys: readonly StoredKey[] = [];
  let seenMs = clock.monotonicMs();
  let isAway = false;
  let isOver = false;
  let isClosed = false;
  let cancel = (): void => undefined;

  const drop = (): void => {
    connection?.close();
    connection = undefined;
  };

  async function read(): Promise<void> {
    connection ??= await connect(url, () => (connection = undefined));
    const texts = (await readSharedTexts(connection)).toSorted();
    const state = texts.join('\n');
    if (state !== seen || isOver) {
      keys = toSharedKeys(texts);
      seen = state;
      if (!isClosed) onKeys(keys);
    }
    seenMs = clock.monotonicMs();
    isAway = false;
    isOver = false;
  }

  function onFailure(error: unknown): void {
    drop();
    if (isClosed) return;
    if (!isAway) onFault(toFault(error, url));
    isAway = true;
    if (isOver || clock.monotonicMs() - seenMs < KEPT_MS) return;
    isOver = true;
    const revoked = new Date(clock.wallMs()).toISOString();
    // Marked and not left out: a copy in the home folder must not count either.
    onKeys(keys.map((key) => ({ revoked, ...key })));
  }

  const watch: SharedKeysWatch = {
    async look() {
      try {
        await read();
        return true;
      } catch (error) {
        onFailure(error);
        return false;
      } finally {
        if (isClosed) drop();
      }
    },
    start() {
      if (isClosed) return;
      cancel = clock.after(LOOK_MS, () => void watch.look().then(() => watch.start()));
    },
    close() {
      isClosed = true;
      cancel();
      drop();
    },
  };
  return watch;
}

/** Keys are there before the first request where the database answers; where it does not, the start waits no longer than this. */
const FIRST_KEYS_MS = 3000;

/** Watches from now on; resolves when the keys were read once, or after three seconds without an answer. */
export async function followSharedKeys(options: Watched): Promise<SharedKeysWatch> {
  const watch = watchSharedKeys(options);
  await new Promise<void>((resolve) => {
    const cancel = options.clock.after(FIRST_KEYS_MS, resolve);
    void watch.look().then(() => {
      watch.start();
      cancel();
      resolve();
    });
  });
  return watch;
}

function toFault(error: unknown, url: string): SvcError {
  if (error instanceof SvcError) return error;
  const { message } = inWords(error, url);
  return new SvcError('unavailable', `The keys of the shared ledger cannot be read: ${message}`, {
    cause: error,
    cure: 'Keys that were read before hold for an hour; the proxy goes on trying.',
  });
}
