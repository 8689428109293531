/** A client's settings file on the disk: read whole, replaced whole, its mode and links kept. */
import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { reasonOf } from '../../stages/disk-reason.ts';

/** Larger files are no settings. */
const MOST_BYTES = 8 * 1024 * 1024;

/** A file as it was read. */
export interface SettingsFile {
  /** Where it really is: behind links. */
  readonly path: string;
  /** Undefined where there is none. */
  readonly bytes: Buffer | undefined;
  /** Permission bits; 0600 for a file that is made. */
  readonly mode: number;
}

/** Reads what is at `path`. @throws SvcError `config` for what cannot be read or is no text. */
export function readSettingsFile(path: string): SettingsFile {
  try {
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return { path: linkTarget(path), bytes: undefined, mode: 0o600 };
    if (!stat.isFile()) throw new Error('it is not a file');
    if (stat.size > MOST_BYTES) throw new Error('it is too large for a settings file');
    const real = fs.realpathSync(path);
    return { path: real, bytes: fs.readFileSync(real), mode: stat.mode & 0o777 };
  } catch (cause) {
    throw new SvcError('config', `Cannot read ${path}: ${reasonOf(cause)}`, { cause });
  }
}

/** The text of a file; empty where there is none. @throws SvcError `config` for what is not UTF-8. */
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
 * Puts `content` in the place of what was read, so that a reader sees all of the one or of the other.
 *
 * @throws SvcError `conflict` when the file has changed since it was read, `config` when it cannot be written.
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

/** Removes what was read, under the same condition. */
export function removeSettingsFile(file: SettingsFile): void {
  refuseChanged(file);
  fs.rmSync(file.path, { force: true });
}

/** A short name of the content, to see whether it is still the same. */
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
const MOST_LINKS = 40;

/**
 * Where a file that is not there yet will be: behind the links that lead to it, which stay.
 * Throws for a link into a folder that does not exist, which svc does not make.
 */
function linkTarget(path: string): string {
  let at = path;
  for (let links = 0; links < MOST_LINKS; links += 1) {
    const target = readLink(at);
    if (target === undefined) {
      const folder = realFolder(dirname(at));
      if (folder === undefined && links > 0)
        throw new Error(`it is a link to ${at}, in a folder that does not exist`);
      return folder === undefined ? at : join(folder, basename(at));
    }
    at = resolve(realFolder(dirname(at)) ?? dirname(at), target);
  }
  throw new Error('it is a link that leads in a circle');
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
