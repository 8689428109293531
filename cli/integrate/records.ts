/**
 * What `svc integrate --apply` did, so that `--undo` can take it back: a list in the home folder,
 * and beside it each file as it was before.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { ensurePrivateFolder, writePrivateFile } from '../../server/config/home.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import type { FormatName } from './client.ts';
import type { KeyPath } from './text-format.ts';

/** One value that was written. */
export interface Written {
  readonly path: KeyPath;
  /** Its text in the file. */
  readonly raw: string;
  /** The text that stood there before; null where nothing did. */
  readonly before: string | null;
  /** How many names of `path` lead to the outermost object that was made for it; null where none was. */
  readonly made: number | null;
}

/** One file that was changed for a client. */
export interface Integration {
  readonly client: string;
  readonly file: string;
  readonly format: FormatName;
  /** The address that the client was given. */
  readonly url: string;
  readonly at: string;
  /** The file as it was before; null where there was none. */
  readonly backup: string | null;
  readonly mode: number;
  /** True where the folder of the file was made for it. */
  readonly madeFolder: boolean;
  /** SHA-256 of the file as it was left. */
  readonly left: string;
  readonly written: readonly Written[];
}

function listFile(home: string): string {
  return join(home, 'integrations.json');
}

/** All files that were changed and not changed back. @throws SvcError `config` where the list is damaged. */
export function readIntegrations(home: string): readonly Integration[] {
  const path = listFile(home);
  try {
    const { integrations } = JSON.parse(fs.readFileSync(path, 'utf8')) as {
      integrations: readonly Integration[];
    };
    if (!Array.isArray(integrations)) throw new Error('it is not a list');
    return integrations;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new SvcError('config', `Cannot read ${path}: ${reasonOf(cause)}`, {
      cause,
      cure: 'The files as they were before are in the folder backups beside it.',
    });
  }
}

/** Writes the list with `client` and `file`'s entry replaced by `entry`, or left out. */
export function writeIntegration(
  home: string,
  of: Pick<Integration, 'client' | 'file'>,
  entry: Integration | undefined,
): void {
  const others = readIntegrations(home).filter(
    (one) => one.client !== of.client || one.file !== of.file,
  );
  const integrations = entry === undefined ? others : [...others, entry];
  if (integrations.length === 0) {
    fs.rmSync(listFile(home), { force: true });
    return;
  }
  ensurePrivateFolder(home);
  writePrivateFile(listFile(home), `${JSON.stringify({ integrations }, undefined, 2)}\n`);
}

/** Keeps a file as it is, readable by this user alone. Returns where. */
export function keepBackup(home: string, name: string, bytes: Uint8Array): string {
  const folder = join(home, 'backups');
  ensurePrivateFolder(home);
  ensurePrivateFolder(folder);
  const path = join(folder, name);
  writePrivateFile(path, bytes);
  return path;
}

/** Removes a backup that nobody needs any more, and the folder with the last of them. */
export function dropBackup(path: string | null): void {
  if (path === null) return;
  fs.rmSync(path, { force: true });
  try {
    fs.rmdirSync(join(path, '..'));
  } catch {
    // Others are in it.
  }
}
