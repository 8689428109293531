/** Points a client at svc by its own settings file, and takes that back. */
import { existsSync, rmdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { isAddress, isOwnOrOfficial } from './addresses.ts';
import type { Change, Client, ClientFile, Surroundings } from './client.ts';
import { clientOf } from './clients.ts';
import { formats } from './formats.ts';
import {
  NARROWED,
  dropBackup,
  keepBackup,
  readIntegrations,
  savedBytes,
  savedPath,
  writeIntegration,
} from './records.ts';
import type { Integration, Written } from './records.ts';
import {
  fingerprint,
  readSettingsFile,
  removeSettingsFile,
  replaceSettingsFile,
  textOf,
} from './settings-file.ts';
import { isSamePath } from './text-format.ts';
import type { KeyPath, TextFormat } from './text-format.ts';

export interface ApplyOptions {
  readonly home: string;
  readonly where: Surroundings;
  /** Address of the proxy, without a slash at its end. */
  readonly url: string;
  /** In place of the client's usual file. */
  readonly file?: string;
  /** Replace an address that is neither a provider's own nor ours. */
  readonly force?: boolean;
  /** ISO 8601, for the list and the names of backups. */
  readonly now: string;
}

/** What was done to a file. */
export interface Applied {
  readonly file: string;
  readonly outcome: 'applied' | 'unchanged';
  readonly backup: string | null;
  readonly remarks: readonly string[];
}

/** What taking it back did. */
export interface Undone {
  readonly client: string;
  readonly file: string;
  /** `restored`: the former bytes; `removed`: there was no file before; `keys`: our settings alone, since the file was changed. */
  readonly outcome: 'restored' | 'removed' | 'keys' | 'gone';
  /** Where the former file is kept, if `gone` leaves it there. */
  readonly saved: string | null;
  /** Settings that somebody has changed since, which stay. */
  readonly kept: readonly string[];
}

/** Where the settings of `client` are. @throws SvcError `usage` where it has no file that svc could know. */
export function fileOf(
  client: Client,
  where: Surroundings,
  named: string | undefined,
): ClientFile & { readonly at: string } {
  const { file } = client;
  if (file === undefined)
    throw new SvcError('usage', `${client.name} has no settings file that svc could edit`, {
      cure: `\`svc integrate ${client.id}\` shows what to set, and where.`,
    });
  const at = named ?? file.path?.(where);
  if (at !== undefined) return { ...file, at };
  throw new SvcError('usage', `${client.name} has no settings file at a fixed place`, {
    cure: `Name it: \`svc integrate ${client.id} --apply --file <path>\`.`,
  });
}

/** Edits the client's file. @throws SvcError `conflict`, `config`, `not_found`; then nothing is changed. */
export function applyTo(client: Client, options: ApplyOptions): Applied {
  const { home, url } = options;
  const settings = fileOf(client, options.where, options.file);
  const format = formats[settings.format];
  const file = readSettingsFile(settings.at);
  const onFile = readIntegrations(home).entries.filter((one) => one.file === file.path);
  const earlier = onFile.find((one) => one.client === client.id);
  // That of the client's address, say, where this is its statusline.
  const maker = onFile.find((one) => one !== earlier && isMaker(one));
  const saved = earlier && savedBytes(home, earlier);
  if (file.bytes === undefined && !settings.mayBeCreated)
    throw new SvcError('not_found', `${client.name} has no ${settings.at} yet`, {
      cure: `Set ${client.name} up first, or name its file with --file.`,
    });
  // What an earlier run wrote is taken back first: what stood there before that is what `--undo` restores.
  const text = textOf(file);
  const isAsLeft =
    earlier !== undefined && file.bytes !== undefined && fingerprint(file.bytes) === earlier.left;
  const isExact = isAsLeft && (earlier.backup === null || saved !== undefined);
  const base =
    earlier === undefined
      ? text
      : isExact
        ? (saved?.toString('utf8') ?? '')
        : withoutOurs(text, earlier, { home, where: options.where }).text;
  const { changes, remarks } = within(file.path, () => settings.wanted(url, base, options.where));
  if (changes.length === 0)
    throw new SvcError('not_found', `${file.path} names nothing that could go through svc`, {
      ...(remarks.length > 0 && { cure: remarks.join('\n  ') }),
    });
  const { text: after, written } = within(file.path, () =>
    edit(base, changes, format, options.force === true),
  );
  const bytes = Buffer.from(after);
  if (file.bytes?.equals(bytes) === true)
    return { file: file.path, outcome: 'unchanged', backup: pathOf(home, earlier), remarks };
  const isOurs =
    earlier === undefined ? file.bytes === undefined : isBare(base) && earlier.backup === null;
  const former = Buffer.from(base);
  const mode = settings.holdsSecret === true ? file.mode & 0o700 : file.mode;
  const narrowed = earlier?.narrowed ?? file.mode & ~mode & NARROWED;
  const isKept = isExact && earlier !== undefined;
  const backup = isKept
    ? earlier.backup
    : isOurs
      ? null
      : basename(keepBackup(home, backupName(client, file.path, options.now), former));
  // The list comes first: after a crash between the two, `--undo` finds a file that was not changed.
  const entry: Integration = {
    client: client.id,
    file: file.path,
    format: settings.format,
    url,
    at: options.now,
    backup,
    ...(backup !== null && { before: fingerprint(former) }),
    ...(narrowed !== 0 && { narrowed }),
    madeFolder: (earlier ?? maker)?.madeFolder ?? !existsSync(dirname(file.path)),
    ...((maker !== undefined || earlier?.madeFile) && { madeFile: true as const }),
    left: fingerprint(bytes),
    written,
  };
  writeIntegration(home, entry, entry);
  try {
    replaceSettingsFile({ ...file, mode }, bytes);
  } catch (thrown) {
    // Nothing was written, so there is nothing to take back.
    writeIntegration(home, entry, earlier);
    if (backup !== earlier?.backup) dropBackup(home, entry);
    throw thrown;
  }
  if (earlier !== undefined && earlier.backup !== backup) dropBackup(home, earlier);
  return { file: file.path, outcome: 'applied', backup: pathOf(home, entry), remarks };
}

export interface UndoOptions {
  readonly home: string;
  readonly where: Surroundings;
}

/**
 * Takes one change back: to the former bytes, where the file is as it was left and what svc saved
 * of it is as it was saved; else only what is ours goes.
 *
 * @throws SvcError `conflict` for an entry of which the file shows that svc did not write it; then nothing is changed.
 */
export function undo(entry: Integration, options: UndoOptions): Undone {
  const { home } = options;
  const { client } = entry;
  const file = readSettingsFile(entry.file);
  const done = (outcome: Undone['outcome'], kept: readonly string[] = []): Undone => {
    writeIntegration(home, entry, undefined);
    // With the file gone it is all that is left of what stood there.
    if (outcome !== 'gone') dropBackup(home, entry);
    const saved = outcome === 'gone' ? pathOf(home, entry) : null;
    return { client, file: entry.file, outcome, kept, saved };
  };
  if (file.bytes === undefined) return done('gone');
  const { text, kept, taken } = within(entry.file, () => withoutOurs(textOf(file), entry, options));
  const isAsLeft = fingerprint(file.bytes) === entry.left;
  if (isAsLeft && (taken === 0 || taken < entry.written.length))
    throw new SvcError('conflict', `${entry.file} holds nothing that svc wrote`, {
      cure: 'It stays as it is; so does its entry in integrations.json, which you can delete there.',
    });
  // The client may have rewritten the file since; if nothing but our entries was in it, it goes too.
  if (isMaker(entry) && taken > 0 && isBare(text)) {
    removeSettingsFile(file);
    if (entry.madeFolder) removeIfEmpty(dirname(file.path));
    return done('removed');
  }
  const saved = isAsLeft ? savedBytes(home, entry) : undefined;
  const bytes = saved ?? Buffer.from(text);
  // The token is gone, so the former permissions come back.
  if (!bytes.equals(file.bytes))
    replaceSettingsFile({ ...file, mode: file.mode | (entry.narrowed ?? 0) }, bytes);
  return done(saved === undefined ? 'keys' : 'restored', kept);
}

/** Where what was saved for an entry is; null where nothing is. */
function pathOf(home: string, entry: Integration | undefined): string | null {
  if (entry === undefined || savedBytes(home, entry) === undefined) return null;
  return savedPath(home, entry);
}

function edit(
  base: string,
  changes: readonly Change[],
  format: TextFormat,
  force: boolean,
): { text: string; written: readonly Written[] } {
  let text = base;
  const written: Written[] = [];
  for (const { path, value, instead } of changes) {
    const before = format.find(base, path);
    if (before?.value === value) continue;
    const name = path.join('.');
    if (before !== undefined && !force && !isReplaceable(before.value, value))
      throw new SvcError('conflict', `${name} is ${before.raw} already`, {
        cure: instead
          ? `${instead} Nothing was changed; --force replaces it.`
          : isAddress(before.value)
            ? 'Requests that go there would go to the provider that svc is configured for. Nothing was changed; --force replaces it.'
            : 'Nothing was changed; --force replaces it.',
      });
    const raw = format.encode(value);
    text = format.put(text, path, raw);
    const made = path.findIndex((_, depth) => depth > 0 && !format.has(base, path.slice(0, depth)));
    written.push({ path, raw, made: made < 0 ? null : made });
  }
  return { text, written };
}

function isReplaceable(before: unknown, wanted: string | boolean): boolean {
  if (before === '' || before === null) return true;
  return typeof wanted === 'string' && isAddress(wanted) && isOwnOrOfficial(before, wanted);
}

/**
 * The text with our values taken out, or put back to what stood there when the file was saved; what
 * somebody changed since stays, and so does what svc never writes, whatever the entry says.
 */
function withoutOurs(
  text: string,
  entry: Integration,
  { home, where }: UndoOptions,
): { text: string; kept: readonly string[]; taken: number } {
  const format = formats[entry.format];
  const former = savedBytes(home, entry)?.toString('utf8');
  const isOurs = ownValues(entry, text, { home, where });
  let result = text;
  const kept: string[] = [];
  let taken = 0;
  for (const { path, raw, made } of entry.written.toReversed()) {
    const found = format.find(result, path);
    if (found === undefined) continue;
    const before = former === undefined ? undefined : format.find(former, path);
    if (found.raw !== raw || !isOurs(path, found.value)) {
      kept.push(path.join('.'));
      continue;
    }
    taken += 1;
    if (before !== undefined && before.raw !== '') result = format.put(result, path, before.raw);
    else {
      result = format.remove(result, path);
      for (let depth = path.length - 1; depth >= (made ?? path.length); depth -= 1) {
        const outer = path.slice(0, depth);
        if (format.isEmpty(result, outer)) result = format.remove(result, outer);
      }
    }
  }
  return { text: result, kept, taken };
}

/** Tells values that svc writes for the entry's client from all others: addresses of the proxy, and what goes with them. */
function ownValues(
  { client, format, url }: Integration,
  text: string,
  { home, where }: UndoOptions,
): (path: KeyPath, value: unknown) => boolean {
  const settings = clientOf(client, home)?.file;
  if (settings === undefined || settings.format !== format || !isAddress(url)) return () => false;
  let wanted: readonly Change[] | undefined;
  return (path, value) => {
    if (typeof value === 'string' && (value === url || value.startsWith(`${url}/`))) return true;
    if (settings.isOwn?.(path, value) === true) return true;
    wanted ??= settings.wanted(url, text, where).changes;
    return wanted.some((change) => change.value === value && isSamePath(change.path, path));
  };
}

/** Names the file in what a format says of its text. */
function within<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    const { kind, cure, message } = thrown;
    throw new SvcError(kind, `${path}: ${message}`, { cause: thrown, cure });
  }
}

/** True where there was no file before svc. */
function isMaker({ backup, madeFile }: Integration): boolean {
  return backup === null || madeFile === true;
}

/** A file that holds nothing: what is left of one that we made. */
function isBare(text: string): boolean {
  return ['', '{}'].includes(text.replaceAll(/\s/g, ''));
}

function backupName(client: Client, path: string, now: string): string {
  return `${client.id}-${now.replaceAll(/[:.]/g, '-')}-${basename(path)}`;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else is in it.
  }
}
