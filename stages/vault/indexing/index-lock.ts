/**
 * The start of every change to whole folders: checks the index's ownership, takes the lock, and
 * reads the log.
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { makePrivateDir } from '../../private-file.ts';
import { openLock, underLock } from '../../lock.ts';
import type { IndexOptions } from './index-run.ts';
import { createKnownFiles, type KnownFiles } from '../log/known-files.ts';
import { layoutOf, type Layout } from '../log/layout.ts';
import { brokenLogError, LogFollower } from '../log/log.ts';
import type { AppendTarget } from '../log/log.ts';
import { refuseForeignLog } from '../log/owner.ts';

/** An index locked against other indexers; `known` is fed by `follower`. */
export interface LockedIndex {
  readonly layout: Layout;
  readonly known: KnownFiles;
  readonly follower: LogFollower;
  readonly target: AppendTarget;
}

/**
 * Calls `work` with the locked index at `indexDir`, which is created if missing. Throws
 * `unavailable` when the log is broken, `config` when a foreign file is in its place, `cancelled`
 * when the signal is aborted while waiting for another indexer.
 */
export async function withIndexLocked<T>(
  options: Pick<IndexOptions, 'indexDir' | 'newId' | 'signal' | 'onWait'>,
  work: (index: LockedIndex) => Promise<T>,
): Promise<T> {
  const { signal, onWait, newId } = options;
  refuseForeignLog(layoutOf(resolve(options.indexDir)));
  makePrivateDir(resolve(options.indexDir));
  const layout = layoutOf(realpathSync(options.indexDir));
  const appendLock = openLock(layout.appendLock);
  const known = createKnownFiles();
  const follower = new LogFollower(layout.log, known);
  const runLocked = async (): Promise<T> => {
    const state = await follower.catchUp();
    if (state === 'corrupt' || state === 'outdated') throw brokenLogError(state);
    const target = { path: layout.log, lock: appendLock, newLogId: newId };
    return work({ layout, known, follower, target });
  };
  try {
    const waiting = { ...(signal && { signal }), ...(onWait && { onWait }) };
    return await underLock(layout.indexLock, runLocked, waiting);
  } finally {
    await follower.close();
    appendLock.close();
  }
}
