/**
 * Ledger files, named one by one or by their folder, and opened without changing anything next to
 * them.
 */
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { isPostgresUrl, isUrl, ledgerName } from '../../stages/ledger/address.ts';
import type { LedgerReader } from '../../stages/ledger/tables.ts';
import { ownerOf } from '../../stages/ledger/sqlite/header.ts';

/** A ledger named on the command line. */
export interface LedgerFile {
  /** Its name for people. */
  readonly name: string;
  readonly path: string;
  /** Name of an earlier argument for the same file. */
  readonly sameAs?: string;
}

/**
 * Returns the ledgers named by paths, each once and in order; for a folder, those in it. Throws
 * `not_found` for a missing path, `bad_request` for a file that is not a ledger.
 */
export function findLedgers(paths: readonly string[], cwd: string): readonly LedgerFile[] {
  const found: LedgerFile[] = [];
  const byFile = new Map<string, string>();
  const add = (name: string, path: string): void => {
    const { dev, ino } = fs.statSync(path, { bigint: true });
    const id = `${dev}:${ino}`;
    const sameAs = byFile.get(id);
    if (sameAs === undefined) byFile.set(id, name);
    found.push({ name, path, ...(sameAs !== undefined && { sameAs }) });
  };
  for (const typed of paths) {
    if (isUrl(typed)) throw noFile(typed);
    const path = resolve(cwd, typed);
    const stat = withNamedErrors(typed, () => fs.statSync(path));
    if (!stat.isDirectory()) {
      if (!stat.isFile() || !isLedger(typed, path)) throw noLedger(typed);
      add(typed, path);
      continue;
    }
    const inside = withNamedErrors(typed, () => fs.readdirSync(path, { withFileTypes: true }))
      .filter((one) => one.isFile() && isLedger(join(typed, one.name), join(path, one.name)))
      .map((one) => one.name)
      .toSorted();
    if (inside.length === 0)
      throw new SvcError('not_found', `There is no svc ledger in the folder ${typed}`);
    for (const name of inside) add(join(typed, name), join(path, name));
  }
  return found;
}

function isLedger(name: string, path: string): boolean {
  const owner = withNamedErrors(name, () => ownerOf(path));
  return owner === 'ours';
}

function noFile(url: string): SvcError {
  const name = isPostgresUrl(url) ? ledgerName(url) : 'a URL';
  return new SvcError('bad_request', `${name} is not a file; only files can be given here`, {
    cure: 'A ledger in Postgres is added up where SVC_DB names it: `svc aggregate` without files.',
  });
}

function noLedger(name: string): SvcError {
  return new SvcError('bad_request', `${name} is not an svc ledger`, {
    cure: 'The ledger of a machine is ~/.svc/monitor.db there, or where its SVC_DB says.',
  });
}

function withNamedErrors<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw new SvcError('not_found', `There is no file ${name}`, { cause });
    throw new SvcError('bad_request', `${name} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

const CURES = {
  older:
    'Update svc on the machine that it comes from, start the proxy there once, and copy it again.',
  newer: 'Update svc here.',
};

/** An open ledger. */
export interface OpenFile {
  readonly reader: LedgerReader;
  close(): Promise<void>;
}

/**
 * Opens a ledger for reading. SQLite creates files next to a database that it reads, and cannot
 * read one in a read-only folder: so if no program has the ledger open, a copy is read, including
 * its log if that was copied along. A ledger opened by a proxy is read in place.
 */
export async function openFile({ name, path }: LedgerFile): Promise<OpenFile> {
  const { openLedgerReader } = await import('../../stages/ledger/sqlite/database.ts');
  if (fs.existsSync(`${path}-shm`)) {
    const reader = withFileName(name, path, () => openLedgerReader(path, CURES));
    return { reader, close: () => reader.destroy() };
  }
  const folder = fs.mkdtempSync(join(tmpdir(), 'svc-ledger-'));
  const remove = () => fs.rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, basename(path));
    for (const end of ['', '-wal'].filter((one) => fs.existsSync(path + one)))
      withNamedErrors(name, () =>
        fs.copyFileSync(path + end, copy + end, fs.constants.COPYFILE_FICLONE),
      );
    const reader = withFileName(name, copy, () => openLedgerReader(copy, CURES));
    return { reader, close: () => reader.destroy().finally(remove) };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

/** Replaces `path` in errors by the name that the user gave. */
function withFileName<T>(name: string, path: string, open: () => T): T {
  try {
    return open();
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    const { kind, code, cure } = thrown;
    throw new SvcError(kind, thrown.message.replaceAll(path, name), {
      cause: thrown,
      ...(code !== undefined && { code }),
      cure: kind === 'config' && cure !== undefined ? cure : 'Copy it again from its machine.',
    });
  }
}
