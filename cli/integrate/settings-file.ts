/** A client's settings file on disk: read and replaced as a whole, keeping its mode and links. */
import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { reasonOf } from '../../stages/disk-reason.ts';

/** Larger files are not settings. */
const MAX_BYTES = 8 * 1024 * 1024;

/** A file as read. */
export interface SettingsFile {
  /** Its real path, with links resolved. */
  readonly path: string;
  /** Undefined if there is no file. */
  readonly bytes: Buffer | undefined;
  /** Permission bits; 0600 for a new file. */
  readonly mode: number;
}

/**
 * Reads the file at `path`.
 *
 * @throws SvcError `config` if it cannot be read or is not text.
 */
export function readSettingsFile(path: string): SettingsFile {
  try {
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return { path: linkTarget(path), bytes: undefined, mode: 0o600 };
    if (!stat.isFile()) throw new Error('it is not a file');
    if (stat.size > MAX_BYTES) throw new Error('it is too large for a settings file');
    const real = fs.realpathSync(path);
    return { path: real, bytes: fs.readFileSync(real), mode: stat.mode & 0o777 };
  } catch (cause) {
    throw new SvcError('config', `Cannot read ${path}: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * Returns the text of a file; empty if there is none.
 *
 * @throws SvcError `config` if it is not UTF-8.
 */
export function textOf(file: SettingsFile): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      file.bytes ?? Buffer.alloc(0),
    );
  } catch (cause) {
    throw new SvcError('config', `Cannot read ${file.path}: it is not UTF-8 text`, { cause });
  }
}

/**
 * Replaces the file atomically with `content`.
 *
 * @throws SvcError `conflict` if the file has changed since it was read, `config` if it cannot be
 * written.
 */
export function replaceSettingsFile(file: SettingsFile, content: Uint8Array): void {
  const temporary = `${file.path}.svc-${randomBytes(6).toString('hex')}.tmp`;
  try {
    fs.mkdirSync(dirname(file.path), { recursive: true, mode: 0o700 });
    const descriptor = fs.openSync(temporary, 'wx', file.mode);
    try {
      fs.fchmodSync(descriptor, file.mode);
      fs.writeFileSync(descriptor, content);
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
    refuseChanged(file);
    fs.renameSync(temporary, file.path);
  } catch (cause) {
    fs.rmSync(temporary, { force: true });
    if (cause instanceof SvcError) throw cause;
    throw new SvcError('config', `Cannot write ${file.path}: ${reasonOf(cause)}`, { cause });
  }
}

/** Removes the file, under the same condition. */
export function removeSettingsFile(file: SettingsFile): void {
  refuseChanged(file);
  fs.rmSync(file.path, { force: true });
}

/** Returns a hash of the content, to detect changes. */
export function fingerprint(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function refuseChanged(file: SettingsFile): void {
  const now = fs.existsSync(file.path) ? fs.readFileSync(file.path) : undefined;
  const isSame = now === undefined ? file.bytes === undefined : file.bytes?.equals(now) === true;
  if (isSame) return;
  throw new SvcError('conflict', `${file.path} was changed by another program just now`, {
    cure: 'Close the client and run the command again. Nothing was changed.',
  });
}

/** As many links as a system follows. */
const MAX_LINKS = 40;

/**
 * Returns the path of a file to be created, with links resolved, so that these are kept. Throws for
 * a link into a folder that does not exist, which svc does not create.
 */
function linkTarget(path: string): string {
  let at = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const target = readLink(at);
    if (target === undefined) {
      const folder = realFolder(dirname(at));
      if (folder === undefined && links > 0)
        throw new Error(`it is a link to ${at}, in a folder that does not exist`);
      return folder === undefined ? at : join(folder, basename(at));
    }
    at = resolve(realFolder(dirname(at)) ?? dirname(at), target);
  }
  throw new Error('it is a circular link');
}

function readLink(path: string): string | undefined {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? fs.readlinkSync(path)
    : undefined;
}

function realFolder(folder: string): string | undefined {
  try {
    return fs.realpathSync(folder);
  } catch {
    return undefined;
  }
}
