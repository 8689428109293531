/** Checks an index from outside, byte by byte, and rebuilds it. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Database } from '../../sqlite.ts';
import { toSvcError } from '../../../engine/error.ts';
import { makePrivateDir } from '../../private-file.ts';
import { openLock } from '../../lock.ts';
import { salvage } from './compact.ts';
import { indexFolder } from '../indexing/indexer.ts';
import type { IndexOptions, IndexReport } from '../indexing/index-run.ts';
import { createKnownFiles } from './known-files.ts';
import { layoutOf, movedAside, stampOf, type Layout } from './layout.ts';
import { LogFollower } from './log.ts';
import { isFile, isForeignLog, refuseForeignLog, foreignFileError } from './owner.ts';
import { isDatabaseDamage } from '../backends/sqlite-damage.ts';
import { isForeign } from '../backends/sqlite-schema.ts';

/** Result of a check. */
export interface VaultHealth {
  readonly status: 'ok' | 'missing' | 'broken';
  /** The faults, as text for the user; empty if there are none. */
  readonly reasons: readonly string[];
  /** Paths of foreign files where svc would write its own; no repair touches them. */
  readonly inTheWay: readonly string[];
  readonly path: string;
  readonly files: number;
  readonly roots: readonly string[];
  readonly logBytes: number;
  /** Dead bytes of the log; the next large indexing run frees them. */
  readonly deadBytes: number;
  /** True while another process is indexing. */
  readonly indexing: boolean;
  /** Names of damaged files moved aside earlier; they may be deleted. */
  readonly movedAside: readonly string[];
}

/** Reads the whole index at `indexDir` and checks every record. Changes nothing. */
export async function checkVault(indexDir: string): Promise<VaultHealth> {
  const layout = layoutOf(resolve(indexDir));
  const known = createKnownFiles();
  const follower = new LogFollower(layout.log, known);
  try {
    const isTaken = isForeignLog(layout);
    const inTheWay = isTaken ? [layout.log] : [];
    const isThere = existsSync(layout.dir) && !isTaken;
    const state = isThere ? await follower.catchUp() : 'missing';
    const logBytes = statSync(layout.log, { throwIfNoEntry: false })?.size ?? 0;
    const reasons: string[] = [];
    if (state === 'corrupt') reasons.push(`The log is damaged at byte ${follower.offset}`);
    if (state === 'outdated') reasons.push('The log was written by another version');
    for (const root of known.owed.keys()) {
      // For a missing folder, what is missing is unknown.
      if (existsSync(root)) reasons.push(`The folder ${root} has not been read again yet`);
    }
    const database = databaseFault(layout);
    if (database === 'foreign') inTheWay.push(layout.database);
    else if (database !== undefined) reasons.push(database.what);
    reasons.push(...inTheWay.map((path) => foreignFileError(path).message));
    return {
      status: reasons.length > 0 ? 'broken' : state === 'missing' ? 'missing' : 'ok',
      reasons,
      inTheWay,
      path: layout.dir,
      files: [...known.all()].length,
      roots: [...known.roots()].toSorted(),
      logBytes,
      deadBytes: Math.max(0, follower.offset - known.liveBytes),
      indexing: isIndexing(indexDir),
      movedAside: movedAside(layout),
    };
  } finally {
    await follower.close();
  }
}

/** Result of a rebuild. */
export interface RebuildReport {
  /** New path of the old log; undefined when all of it was copied. */
  readonly movedTo: string | undefined;
  readonly reports: readonly IndexReport[];
  /** Folders that cannot be read now; their known files were kept. */
  readonly unreadable: readonly string[];
  /**
   * Folders left partly unread because of the signal: their old blocks stay, and the reread is
   * owed.
   */
  readonly pending: readonly string[];
}

/**
 * Rebuilds the index at `indexDir`: ingested blocks are kept, all files are reread. A damaged log
 * is moved aside, not deleted. Undefined when there is no log. Until a file is reread its old
 * blocks stay, and so do those of a missing folder. An interrupted rebuild is owed: the next
 * indexing of each folder, or the next process that opens the vault, continues it. Throws `config`
 * when a foreign file is in the log's place.
 */
export async function rebuildVault(
  options: Omit<IndexOptions, 'root' | 'only'>,
): Promise<RebuildReport | undefined> {
  const layout = layoutOf(resolve(options.indexDir));
  refuseForeignLog(layout);
  makePrivateDir(layout.dir);
  if (!existsSync(layout.log)) return undefined;
  const lock = openLock(layout.appendLock);
  const target = { path: layout.log, lock, newLogId: options.newId };
  const nowMs = options.clock.wallMs();
  try {
    const { movedTo, roots } = await salvage(layout, target, stampOf(options.clock), {
      owe: (root, before) => (existsSync(root) ? nowMs : (before ?? 0)),
    });
    return { movedTo, ...(await rereadFolders(options, roots)) };
  } finally {
    lock.close();
  }
}

async function rereadFolders(
  options: Omit<IndexOptions, 'root' | 'only'>,
  roots: readonly string[],
): Promise<Omit<RebuildReport, 'movedTo'>> {
  const reports: IndexReport[] = [];
  const unreadable: string[] = [];
  for (const [index, root] of roots.entries()) {
    const pending = roots.slice(index);
    if (options.signal?.aborted === true) return { reports, unreadable, pending };
    try {
      const report = await indexFolder({ ...options, root });
      reports.push(report);
      if (!report.complete) return { reports, unreadable, pending };
    } catch (error) {
      const { kind } = toSvcError(error);
      if (kind === 'cancelled') return { reports, unreadable, pending };
      if (kind !== 'not_found') throw error;
      unreadable.push(root);
    }
  }
  return { reports, unreadable, pending: [] };
}

function databaseFault(layout: Layout): { what: string } | 'foreign' | undefined {
  const { database, syncLock } = layout;
  if (!existsSync(database)) return undefined;
  if (!isFile(database)) return 'foreign';
  try {
    const opened = new Database(database, { readonly: true });
    try {
      if (isForeign(opened)) return 'foreign';
      const found = opened.pragma('quick_check(1)', { simple: true });
      return found === 'ok' ? undefined : { what: `The database is damaged: ${String(found)}` };
    } finally {
      opened.close();
    }
  } catch (error) {
    if (isDatabaseDamage(error) && !existsSync(syncLock)) return 'foreign';
    return { what: `The database cannot be opened: ${(error as Error).message}` };
  }
}

/** Returns whether another process is indexing into `indexDir` now. */
export function isIndexing(indexDir: string): boolean {
  const { indexLock } = layoutOf(resolve(indexDir));
  if (!existsSync(indexLock)) return false;
  const lock = openLock(indexLock);
  try {
    const release = lock.tryAcquire();
    release?.();
    return release === undefined;
  } finally {
    lock.close();
  }
}
