/**
 * The files of an index folder, all private: a vault contains its user's own text.
 *
 *   blocks.jsonl       the log of all blocks: the source of truth, and the `json_blocks` format
 *   blocks.db          the `sqlite` format, derived from the log and kept in sync with it
 *   index.lock         held while a folder is indexed
 *   append.lock        held while something is appended to the log
 *   sync.lock          held while the database is brought up to date with the log
 *   calibration.json   the best number of workers for this machine
 *   *.corrupt-<time>   damaged files moved aside; never deleted by svc
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../engine/clock.ts';

/** Paths of the parts of an index. */
export interface Layout {
  readonly dir: string;
  readonly log: string;
  readonly database: string;
  readonly indexLock: string;
  readonly appendLock: string;
  readonly syncLock: string;
  readonly calibration: string;
}

/** Returns the layout below `dir`, an absolute path. Does not access the disk. */
export function layoutOf(dir: string): Layout {
  return {
    dir,
    log: join(dir, 'blocks.jsonl'),
    database: join(dir, 'blocks.db'),
    indexLock: join(dir, 'index.lock'),
    appendLock: join(dir, 'append.lock'),
    syncLock: join(dir, 'sync.lock'),
    calibration: join(dir, 'calibration.json'),
  };
}

/** Returns the names of files moved aside, in order. */
export function movedAside({ dir }: Layout): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => name.includes('.corrupt-'))
    .toSorted();
}

/** Returns the suffix for a file moved aside: time and process id. */
export function stampOf(clock: Pick<Clock, 'wallMs'>): string {
  return `${new Date(clock.wallMs()).toISOString().replaceAll(/[:.]/g, '-')}-${process.pid}`;
}
