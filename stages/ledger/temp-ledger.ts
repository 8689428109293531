/** A ledger in a temporary folder, for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import type { SvcError } from '../../engine/index.ts';
import { systemClock } from '../../engine/index.ts';
import { openLedgerReader } from './database.ts';
import type { LedgerRow } from './row.ts';
import { ledgerRow } from './row.ts';
import { fromStored } from './tables.ts';
import type { LedgerWriter, LedgerWriterOptions } from './writer-contract.ts';
import { createLedgerWriter } from './writer.ts';

/** A writer with what it complained of. */
export interface OpenLedger {
  readonly writer: LedgerWriter;
  readonly file: string;
  readonly troubles: SvcError[];
}

/** Makes a new temporary folder. */
function makeFolder(): string {
  return mkdtempSync(path.join(os.tmpdir(), 'svc-ledger-'));
}

/** Removes a folder and all that is in it. */
function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Opens a writer on `<folder>/home/monitor.db`, or as the options say. */
export function openIn(folder: string, options: Partial<LedgerWriterOptions> = {}): OpenLedger {
  const troubles: SvcError[] = [];
  const file = options.file ?? path.join(folder, 'home', 'monitor.db');
  const writer = createLedgerWriter({
    file,
    clock: systemClock,
    onTrouble: (error) => troubles.push(error),
    ...options,
  });
  return { writer, file, troubles };
}

/** The part of a suite of tests that is needed here. */
interface Suite {
  readonly before: { each(hook: () => void): void };
  readonly after: { each(hook: () => void): void };
}

/** A folder of its own for each test of a suite, with what opens a writer in it. */
export function folderForEach(suite: Suite) {
  let folder = '';
  suite.before.each(() => {
    folder = makeFolder();
  });
  suite.after.each(() => removeFolder(folder));
  return {
    open: (options?: Partial<LedgerWriterOptions>): OpenLedger => openIn(folder, options),
    /** The path of `name` in this test's folder; the folder's own without one. */
    at: (name = ''): string => path.join(folder, name),
  };
}

/** The n-th row of a day, with id `req_<n>`. */
export function rowOf(n: number, more: Partial<LedgerRow> = {}): LedgerRow {
  return ledgerRow({
    id: `req_${n}`,
    startedMs: Date.UTC(2026, 10, 20) + n,
    endpoint: '/v1/messages',
    outcome: 'ok',
    ...more,
  });
}

/** All rows in the file, oldest first. */
export async function stored(file: string): Promise<LedgerRow[]> {
  const reader = openLedgerReader(file);
  try {
    const rows = await reader.selectFrom('requests').selectAll().orderBy('startedMs').execute();
    return rows.map(fromStored);
  } finally {
    await reader.destroy();
  }
}

/** Reads the whole file and returns what SQLite finds wrong with it; empty for a sound one. */
export function ledgerFaults(file: string): string[] {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    const findings = database.pragma('integrity_check') as { integrity_check: string }[];
    return findings.map((finding) => finding.integrity_check).filter((text) => text !== 'ok');
  } catch (error) {
    return [(error as Error).message];
  } finally {
    database.close();
  }
}
