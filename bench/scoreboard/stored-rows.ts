/** Stores judged rows in a file, so that an interrupted run can be resumed. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { projectRoot } from '../../fixtures/paths.ts';
import type { Judged } from './judge.ts';

/** A judged row, with the state of the sources and the time. */
export interface StoredRow extends Judged {
  /** The commit, with `+` if files differ from it. */
  readonly commit: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Returns the current state of the sources: the commit, with `+` if files differ from it. */
export function currentCommit(): string {
  const git = (...argv: string[]): string =>
    execFileSync('git', argv, { cwd: projectRoot, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain') === '' ? '' : '+';
  return `${git('rev-parse', '--short=12', 'HEAD')}${changed}`;
}

/**
 * Returns the newest result of each row in `file`; none if it does not exist. Throws for an invalid
 * line.
 */
export function readStoredRows(file: string): ReadonlyMap<string, StoredRow> {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `storeRow`
  const rows = lines.map((line) => JSON.parse(line) as StoredRow);
  return new Map(rows.map((row) => [row.id, row]));
}

export function storeRow(file: string, row: StoredRow): void {
  appendFileSync(file, `${JSON.stringify(row)}\n`);
}
