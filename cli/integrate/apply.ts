/** Points a client at svc through its own settings file, and reverts that. */
import { existsSync, rmdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { isAddress, isOwnOrOfficial } from './addresses.ts';
import type { Change, Client, ClientFile, ClientSurroundings } from './client.ts';
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
  readonly where: ClientSurroundings;
  /** Address of the proxy, without a trailing slash. */
  readonly url: string;
  /** Used instead of the client's usual file. */
  readonly file?: string;
  /** Replaces an address that is neither a provider's own nor ours. */
  readonly force?: boolean;
  /** ISO 8601 time, for the list and the names of backups. */
  readonly now: string;
}

/** What determines the text that is edited. */
type BaseOptions = Pick<ApplyOptions, 'home' | 'where' | 'file'>;

/** What determines the change. */
type PlanOptions = Omit<ApplyOptions, 'now'>;

/** Result of a change. */
export interface Applied {
  readonly file: string;
  readonly outcome: 'applied' | 'unchanged';
  readonly backup: string | null;
  readonly remarks: readonly string[];
}

/** Result of an undo. */
export interface Undone {
  readonly client: string;
  readonly file: string;
  /**
   * `restored`: the previous bytes; `removed`: there was no file before; `keys`: only our settings
   * were removed, since the file was changed.
   */
  readonly outcome: 'restored' | 'removed' | 'keys' | 'gone';
  /** Path of the backup, if `gone` leaves it there. */
  readonly saved: string | null;
  /** Settings changed by someone else since, which are kept. */
  readonly kept: readonly string[];
}

/**
 * Returns the path of `client`'s settings.
 *
 * @throws SvcError `usage` if svc cannot know its file.
 */
export function fileOf(
  client: Client,
  where: ClientSurroundings,
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

/**
 * Returns the text that `applyTo` would edit: the file's, without what an earlier run wrote.
 *
 * @throws SvcError `config` if it cannot be read.
 */
export function textToEdit(client: Client, options: BaseOptions): string {
  return baseOf(client, options).text;
}

/** The client's file, what svc knows of it, and its text before svc's changes. */
function baseOf(client: Client, { home, where, file: named }: BaseOptions) {
  const file = readSettingsFile(fileOf(client, where, named).at);
  const onFile = readIntegrations(home).entries.filter((one) => one.file === file.path);
  const earlier = onFile.find((one) => one.client === client.id);
  // For example the entry of the client's address, if this is its statusline.
  const creator = onFile.find((one) => one !== earlier && isCreatedBySvc(one));
  const saved = earlier && savedBytes(home, earlier);
  const present = textOf(file);
  const isUnchanged =
    earlier !== undefined && file.bytes !== undefined && fingerprint(file.bytes) === earlier.left;
  const isExact = isUnchanged && (earlier.backup === null || saved !== undefined);
  // An earlier run's changes are reverted first: `--undo` restores the state before them.
  const text =
    earlier === undefined
      ? present
      : isExact
        ? (saved?.toString('utf8') ?? '')
        : withoutOurs(present, earlier, { home, where }).text;
  return { file, earlier, creator, isExact, text };
}

/**
 * Returns why `applyTo` would change nothing; undefined if it would not fail. Writes nothing.
 */
export function refusalOf(client: Client, options: PlanOptions): SvcError | undefined {
  try {
    plannedChange(client, options);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof SvcError) return thrown;
    throw thrown;
  }
}

/** The edited text of the client's file, and what it was made from. */
function plannedChange(client: Client, options: PlanOptions) {
  const { where, url } = options;
  const settings = fileOf(client, where, options.file);
  const base = baseOf(client, options);
  const { file, text } = base;
  if (file.bytes === undefined && !settings.mayBeCreated)
    throw new SvcError('not_found', `${client.name} has no ${settings.at} yet`, {
      cure: `Set ${client.name} up first, or name its file with --file.`,
    });
  const { changes, remarks } = within(file.path, () => settings.requiredChanges(url, text, where));
  if (changes.length === 0)
    throw new SvcError('not_found', `${file.path} has no setting that could point to svc`, {
      ...(remarks.length > 0 && { cure: remarks.join('\n  ') }),
    });
  const changed = within(file.path, () =>
    edit(text, changes, formats[settings.format], options.force === true),
  );
  return { ...base, settings, changed, remarks };
}

/**
 * Edits the client's file.
 *
 * @throws SvcError `conflict`, `config`, `not_found`; then nothing is changed.
 */
export function applyTo(client: Client, options: ApplyOptions): Applied {
  const { home, url } = options;
  const { settings, changed, remarks, ...known } = plannedChange(client, options);
  const { file, earlier, creator, isExact, text: base } = known;
  const { text: after, written } = changed;
  const bytes = Buffer.from(after);
  if (file.bytes?.equals(bytes) === true)
    return { file: file.path, outcome: 'unchanged', backup: pathOf(home, earlier), remarks };
  const isOurs =
    earlier === undefined
      ? file.bytes === undefined
      : isEmptyContent(base) && earlier.backup === null;
  const former = Buffer.from(base);
  const mode = settings.holdsSecret === true ? file.mode & 0o700 : file.mode;
  const narrowed = earlier?.narrowed ?? file.mode & ~mode & NARROWED;
  const isKept = isExact && earlier !== undefined;
  const backup = isKept
    ? earlier.backup
    : isOurs
      ? null
      : basename(keepBackup(home, backupName(client, file.path, options.now), former));
  // The list is written first: after a crash in between, `--undo` finds an unchanged file.
  const entry: Integration = {
    client: client.id,
    file: file.path,
    format: settings.format,
    url,
    at: options.now,
    backup,
    ...(backup !== null && { before: fingerprint(former) }),
    ...(narrowed !== 0 && { narrowed }),
    madeFolder: (earlier ?? creator)?.madeFolder ?? !existsSync(dirname(file.path)),
    ...((creator !== undefined || earlier?.madeFile) && { madeFile: true as const }),
    left: fingerprint(bytes),
    written,
  };
  writeIntegration(home, entry, entry);
  try {
    replaceSettingsFile({ ...file, mode }, bytes);
  } catch (thrown) {
    // Nothing was written, so there is nothing to undo.
    writeIntegration(home, entry, earlier);
    if (backup !== earlier?.backup) dropBackup(home, entry);
    throw thrown;
  }
  if (earlier !== undefined && earlier.backup !== backup) dropBackup(home, earlier);
  return { file: file.path, outcome: 'applied', backup: pathOf(home, entry), remarks };
}

export interface UndoOptions {
  readonly home: string;
  readonly where: ClientSurroundings;
}

/**
 * Undoes one change: restores the previous bytes if neither the file nor the backup was changed;
 * otherwise removes only our settings.
 *
 * @throws SvcError `conflict` for an entry that, judging by the file, svc did not write; then
 * nothing is changed.
 */
export function undo(entry: Integration, options: UndoOptions): Undone {
  const { home } = options;
  const { client } = entry;
  const file = readSettingsFile(entry.file);
  const done = (outcome: Undone['outcome'], kept: readonly string[] = []): Undone => {
    writeIntegration(home, entry, undefined);
    // If the file is gone, the backup is all that is left.
    if (outcome !== 'gone') dropBackup(home, entry);
    const saved = outcome === 'gone' ? pathOf(home, entry) : null;
    return { client, file: entry.file, outcome, kept, saved };
  };
  if (file.bytes === undefined) return done('gone');
  const { text, kept, taken } = within(entry.file, () => withoutOurs(textOf(file), entry, options));
  const isUnchanged = fingerprint(file.bytes) === entry.left;
  if (isUnchanged && (taken === 0 || taken < entry.written.length))
    throw new SvcError('conflict', `${entry.file} holds nothing that svc wrote`, {
      cure: 'It stays as it is; so does its entry in integrations.json, which you can delete there.',
    });
  // The client may have rewritten the file since; if it contained only our entries, it is removed.
  if (isCreatedBySvc(entry) && taken > 0 && isEmptyContent(text)) {
    removeSettingsFile(file);
    if (entry.madeFolder) removeIfEmpty(dirname(file.path));
    return done('removed');
  }
  const saved = isUnchanged ? savedBytes(home, entry) : undefined;
  const bytes = saved ?? Buffer.from(text);
  // The token is gone, so the previous permissions are restored.
  if (!bytes.equals(file.bytes))
    replaceSettingsFile({ ...file, mode: file.mode | (entry.narrowed ?? 0) }, bytes);
  return done(saved === undefined ? 'keys' : 'restored', kept);
}

/** Returns the path of an entry's backup; null if there is none. */
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
  for (const { path, value, conflictCure, includes } of changes) {
    const before = format.find(base, path);
    if (before?.value === value) continue;
    const name = path.join('.');
    if (before !== undefined && !force && !includes && !isReplaceable(before.value, value))
      throw new SvcError('conflict', `${name} is ${before.raw} already`, {
        cure: conflictCure
          ? `${conflictCure} Nothing was changed; --force replaces it.`
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
 * Returns the text with our values removed, or reset to those in the backup; values changed since
 * are kept, and so are values that svc never writes, whatever the entry says.
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

/**
 * Returns a test for values that svc writes for the entry's client: addresses of the proxy, and
 * related settings.
 */
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
    wanted ??= settings.requiredChanges(url, text, where).changes;
    return wanted.some((change) => change.value === value && isSamePath(change.path, path));
  };
}

/** Adds the file name to errors about its text. */
function within<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    const { kind, cure, message } = thrown;
    throw new SvcError(kind, `${path}: ${message}`, { cause: thrown, cure });
  }
}

/** True if svc created the file. */
function isCreatedBySvc({ backup, madeFile }: Integration): boolean {
  return backup === null || madeFile === true;
}

/** True for a file without content: the remainder of one that we created. */
function isEmptyContent(text: string): boolean {
  return ['', '{}'].includes(text.replaceAll(/\s/g, ''));
}

function backupName(client: Client, path: string, now: string): string {
  return `${client.id}-${now.replaceAll(/[:.]/g, '-')}-${basename(path)}`;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder contains something else.
  }
}
