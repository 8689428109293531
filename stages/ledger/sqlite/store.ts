/**
 * The ledger's SQLite file, opened for writing: the only code that changes it. Runs inside the
 * writer thread, where blocking on the disk is harmless.
 */
import { Database } from '../../sqlite.ts';
import type { SqliteConnection } from '../../sqlite.ts';
import { freePath } from '../../move-aside.ts';
import { createPrivate, inodeOf } from '../../private-file.ts';
import { ADD_TO_HOURS, NOTE_SUMMED, SUMMED_UPTO } from '../hours.ts';
import type { Cell } from '../tables.ts';
import type { Migration } from '../migrations.ts';
import { APPLICATION_ID, CELLS, ledgerColumns } from '../tables.ts';
import { addToToolDays, keepToolSets } from '../tools/tool-days.ts';
import { LedgerRefused } from '../writer/problem.ts';
import { newerText } from '../version.ts';
import type { WriterSetup } from '../writer/writer-messages.ts';
import type { LedgerStore } from '../writer/writing-thread.ts';
import { checkLedgerFile, prepareLedgerFile } from './file.ts';
import { withLedgerLock, LedgerLocked, moveDamagedAside } from './move-damaged-aside.ts';
import { rowInserts } from './row-inserts.ts';

/**
 * How long SQLite itself waits for another process's lock before the writer thread takes over with
 * its own retries.
 */
const BUSY_TIMEOUT_MS = 1000;
/** Before 3.51.3 two connections that checkpoint one WAL file can corrupt it. */
const OLDEST_SAFE_SQLITE = [3, 51, 3] as const;

const MAX_KNOWN_SETS = 500;
/** Positions of a row's tool results and of its tool set's id. */
const RESULTS = ledgerColumns.indexOf('tool_results');
const SET = ledgerColumns.indexOf('tool_set');

/** The open file; its calls are synchronous. Each may throw an error of SQLite. */
export interface FileStore extends LedgerStore {
  insert(cells: readonly Cell[]): void;
  prune(beforeMs: number, max: number): number;
  /** Identifies the open file, in case it is replaced. */
  readonly inode: bigint | undefined;
  /** False once the path leads to another file, or to none: further writes would be lost. */
  isInPlace(): boolean;
  /**
   * Closes and renames a damaged file; returns its new path, or undefined if another process did it
   * already.
   */
  moveAside(nowMs: number): string | undefined;
}

/** The file was damaged when it was opened, and has been moved aside. */
export class LedgerDamaged extends Error {
  /** Its new path; undefined if another process moved it first. */
  readonly aside: string | undefined;
  constructor(cause: Error, aside: string | undefined) {
    super(cause.message, { cause });
    this.name = 'LedgerDamaged';
    this.aside = aside;
  }
}

/**
 * Opens, checks and migrates the file. Throws `LedgerRefused` for a file that is not ours to write,
 * `LedgerDamaged` for a broken one (the next call creates a new one), or the error of the file
 * system.
 */
export function openStore(setup: WriterSetup, nowMs: number): FileStore {
  // Checked twice: nothing may be created beside a file that is not ours, and another process may
  // have moved this one.
  checkLedgerFile(setup.file, process.getuid?.());
  return withLedgerLock(setup.file, () => openLocked(setup, nowMs));
}

function openLocked(setup: WriterSetup, nowMs: number): FileStore {
  prepareLedgerFile(setup.file, process.getuid?.());
  const inode = inodeOf(setup.file);
  const db = new Database(setup.file, { timeout: BUSY_TIMEOUT_MS });
  try {
    assertSafeSqlite(db);
    migrate(db, setup, nowMs);
    db.pragma('journal_mode = WAL');
    db.pragma(`synchronous = ${setup.synchronous}`);
    return toStore(db, setup.file, inode);
  } catch (error) {
    db.close();
    if (isDamage(error)) {
      throw new LedgerDamaged(error as Error, moveDamagedAside(setup.file, inode, nowMs));
    }
    throw error;
  }
}

/** Returns true if SQLite reports that the file is not a database, or a damaged one. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));
}

/** Returns true if another process held a lock for longer than we or SQLite waited. */
export function isBusy(error: unknown): boolean {
  return error instanceof LedgerLocked || codeOf(error).startsWith('SQLITE_BUSY');
}

function toStore(db: SqliteConnection, file: string, inode: bigint | undefined): FileStore {
  const width = ledgerColumns.length;
  const insertRows = rowInserts(db);
  const summedUpto = db.prepare(SUMMED_UPTO).pluck();
  const addToHours = db.prepare(ADD_TO_HOURS);
  const noteSummed = db.prepare(NOTE_SUMMED);
  const keepSet = db.prepare(keepToolSets('SELECT ? AS id, ? AS tools'));
  const addToTools = addToToolDays('(SELECT * FROM requests WHERE rowid > ?) AS stored').map(
    (text) => db.prepare(text),
  );
  /** Stored tool sets, as far as this store has seen them. */
  let knownSets: ReadonlySet<Cell> = new Set();
  const pruneSome = db.prepare(
    `DELETE FROM requests WHERE rowid IN
     (SELECT rowid FROM requests WHERE started_ms < ? ORDER BY started_ms LIMIT ?)`,
  );
  const insertAll = db.transaction((cells: readonly Cell[]) => {
    const upto = summedUpto.get();
    let hasTools = false;
    const sets = new Set(knownSets.size < MAX_KNOWN_SETS ? knownSets : []);
    for (let at = 0; at < cells.length; at += CELLS) {
      const set = cells[at + SET] ?? null;
      if (set !== null && !sets.has(set)) keepSet.run(set, cells[at + width]);
      sets.add(set);
      hasTools ||= set !== null || cells[at + RESULTS] !== null;
    }
    insertRows(cells);
    // A row that already existed got no new number, and is not added again.
    addToHours.run(upto);
    if (hasTools) for (const add of addToTools) add.run(upto);
    noteSummed.run();
    return sets;
  });
  return {
    insert(cells) {
      try {
        knownSets = insertAll.immediate(cells);
      } catch (error) {
        throw damageBehind(error, db) ?? error;
      }
    },
    isContentFault,
    prune: (beforeMs, max) => pruneSome.run(beforeMs, max).changes,
    inode,
    isInPlace: () => inodeOf(file) === inode,
    moveAside(nowMs) {
      db.close();
      return withLedgerLock(file, () => moveDamagedAside(file, inode, nowMs));
    },
    close: () => db.close(),
  };
}

/**
 * Returns damage of the file that shows as a constraint: rows whose page was half written have no
 * values, and the sums of all later batches fail with them. Sums are only made of rows that were
 * checked, so their constraints cannot fail in a sound file.
 */
function damageBehind(error: unknown, db: SqliteConnection): Error | undefined {
  const [, table] = /constraint failed: (\w+)\./.exec((error as Error).message) ?? [];
  if (table === undefined || table === 'requests') return undefined;
  const finding = String(db.pragma('quick_check(1)', { simple: true }));
  if (finding === 'ok') return undefined;
  return new Database.SqliteError(finding.replaceAll('\n', ' '), 'SQLITE_CORRUPT');
}

function migrate(db: SqliteConnection, setup: WriterSetup, nowMs: number): void {
  const foundVersion = checkVersion(db, setup.file, setup.migrations);
  if (foundVersion === setup.migrations.length) return;
  if (foundVersion > 0) {
    const copy = freePath(setup.file, `v${foundVersion}`, nowMs);
    createPrivate(copy);
    db.prepare('VACUUM INTO ?').run(copy);
  }
  db.transaction(() => {
    // Another proxy may have migrated between the check above and this lock.
    const version = checkVersion(db, setup.file, setup.migrations);
    for (const step of setup.migrations.slice(version)) for (const sql of step) db.exec(sql);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${setup.migrations.length}`);
  }).immediate();
}

/**
 * Returns the schema's version in the file, 0 for an empty one. Throws `LedgerRefused` for a newer
 * or a foreign file.
 */
function checkVersion(
  db: SqliteConnection,
  file: string,
  migrations: readonly Migration[],
): number {
  const version = Number(db.pragma('user_version', { simple: true }));
  const owner = Number(db.pragma('application_id', { simple: true }));
  const tables = Number(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get());
  if (owner !== APPLICATION_ID && (owner !== 0 || tables > 0)) {
    throw new LedgerRefused(`${file} is another program's database`, 'Set SVC_DB to another file.');
  }
  if (version > migrations.length) {
    throw new LedgerRefused(
      newerText(file, version, migrations.length),
      'Update svc, or set SVC_DB to another file.',
    );
  }
  return version;
}

function assertSafeSqlite(db: SqliteConnection): void {
  const version = String(db.prepare('SELECT sqlite_version()').pluck().get());
  const parts = version.split('.').map(Number);
  for (const [place, oldest] of OLDEST_SAFE_SQLITE.entries()) {
    const part = parts[place] ?? 0;
    if (part > oldest) return;
    if (part < oldest) {
      throw new LedgerRefused(
        `SQLite ${version} can corrupt a ledger that two processes share; 3.51.3 is needed`,
        'Reinstall svc, so that its own SQLite is built.',
      );
    }
  }
}

function isContentFault(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/.test(codeOf(error))
  );
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | null)?.code ?? '';
}
