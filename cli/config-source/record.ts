/** Records the last source of the config file, for `svc config sync`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '../../server/config/home.ts';
import type { RemoteConfig } from './fetch.ts';

export interface RemoteRecord extends RemoteConfig {
  /** Fetched commit; null for a file. */
  readonly commit: string | null;
  /** SHA-256 of the file as written, to detect later changes. */
  readonly written: string;
}

const fileOf = (home: string) => join(home, 'config-source.json');

/** Reads the last source; undefined if there is none. */
export function readRemote(home: string): RemoteRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(fileOf(home), 'utf8'));
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { location, path, ref, commit, written } = value as Record<string, unknown>;
  const isText = (one: unknown): one is string | null => one === null || typeof one === 'string';
  if (typeof location !== 'string' || typeof written !== 'string') return undefined;
  if (!isText(path) || !isText(ref) || !isText(commit)) return undefined;
  return { location, path, ref, commit, written };
}

/** Stores a source. */
export function writeRemote(home: string, record: RemoteRecord): void {
  writePrivateFile(fileOf(home), `${JSON.stringify(record, undefined, 2)}\n`);
}
