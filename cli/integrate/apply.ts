/** Points a client at svc by its own settings file, and takes that back. */
import { existsSync, readFileSync, rmdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { isAddress, isOwnOrOfficial } from './addresses.ts';
import type { Change, Client, ClientFile, Surroundings } from './client.ts';
import { formats } from './formats.ts';
import { dropBackup, keepBackup, readIntegrations, writeIntegration } from './records.ts';
import type { Integration, Written } from './records.ts';
import {
  fingerprint,
  readSettingsFile,
  removeSettingsFile,
  replaceSettingsFile,
  textOf,
} from './settings-file.ts';
import type { TextFormat } from './text-format.ts';

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
  const earlier = readIntegrations(home).find(
    (one) => one.client === client.id && one.file === file.path,
  );
  if (file.bytes === undefined && !settings.mayBeCreated)
    throw new SvcError('not_found', `${client.name} has no ${settings.at} yet`, {
      cure: `Set ${client.name} up first, or name its file with --file.`,
    });
  // What an earlier run wrote is taken back first: what stood there before that is what `--undo` restores.
  const text = textOf(file);
  const isAsLeft =
    earlier !== undefined && file.bytes !== undefined && fingerprint(file.bytes) === earlier.left;
  const isExact = isAsLeft && (earlier.backup === null || existsSync(earlier.backup));
  const base =
    earlier === undefined
      ? text
      : isExact
        ? formerText(earlier)
        : withoutOurs(text, earlier, format).text;
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
    return { file: file.path, outcome: 'unchanged', backup: earlier?.backup ?? null, remarks };
  const isOurs =
    earlier === undefined ? file.bytes === undefined : isBare(base) && earlier.backup === null;
  const backup =
    isExact && earlier !== undefined
      ? earlier.backup
      : isOurs
        ? null
        : keepBackup(home, backupName(client, file.path, options.now), Buffer.from(base));
  // The list comes first: after a crash between the two, `--undo` finds a file that was not changed.
  writeIntegration(
    home,
    { client: client.id, file: file.path },
    {
      client: client.id,
      file: file.path,
      format: settings.format,
      url,
      at: options.now,
      backup,
      mode: file.mode,
      madeFolder: earlier?.madeFolder ?? !existsSync(dirname(file.path)),
      left: fingerprint(bytes),
      written,
    },
  );
  try {
    replaceSettingsFile(file, bytes);
  } catch (thrown) {
    // Nothing was written, so there is nothing to take back.
    writeIntegration(home, { client: client.id, file: file.path }, earlier);
    if (backup !== earlier?.backup) dropBackup(backup);
    throw thrown;
  }
  if (earlier !== undefined && earlier.backup !== backup) dropBackup(earlier.backup);
  return { file: file.path, outcome: 'applied', backup, remarks };
}

/** Takes one change back: to the former bytes, or, where the file was changed since, without what is ours. */
export function undo(home: string, entry: Integration): Undone {
  const { client } = entry;
  const file = readSettingsFile(entry.file);
  const done = (outcome: Undone['outcome'], kept: readonly string[] = []): Undone => {
    writeIntegration(home, entry, undefined);
    dropBackup(entry.backup);
    return { client, file: entry.file, outcome, kept };
  };
  if (file.bytes === undefined) return done('gone');
  if (fingerprint(file.bytes) === entry.left) {
    if (entry.backup === null) {
      removeSettingsFile(file);
      if (entry.madeFolder) removeIfEmpty(dirname(file.path));
      return done('removed');
    }
    if (existsSync(entry.backup)) {
      replaceSettingsFile({ ...file, mode: entry.mode }, readFileSync(entry.backup));
      return done('restored');
    }
  }
  const { text, kept } = within(entry.file, () =>
    withoutOurs(textOf(file), entry, formats[entry.format]),
  );
  const bytes = Buffer.from(text);
  if (!bytes.equals(file.bytes)) replaceSettingsFile(file, bytes);
  return done('keys', kept);
}

function edit(
  base: string,
  changes: readonly Change[],
  format: TextFormat,
  force: boolean,
): { text: string; written: readonly Written[] } {
  let text = base;
  const written: Written[] = [];
  for (const { path, value } of changes) {
    const before = format.find(base, path);
    if (before?.value === value) continue;
    const name = path.join('.');
    if (before !== undefined && !force && !isReplaceable(before.value, value))
      throw new SvcError('conflict', `${name} is ${before.raw} already`, {
        cure: isAddress(before.value)
          ? 'Requests that go there would go to the provider that svc is configured for. Nothing was changed; --force replaces it.'
          : 'Nothing was changed; --force replaces it.',
      });
    const raw = format.encode(value);
    text = format.put(text, path, raw);
    const made = path.findIndex((_, depth) => depth > 0 && !format.has(base, path.slice(0, depth)));
    written.push({ path, raw, before: before?.raw ?? null, made: made < 0 ? null : made });
  }
  return { text, written };
}

function isReplaceable(before: unknown, wanted: string | boolean): boolean {
  if (before === '' || before === null) return true;
  return typeof wanted === 'string' && isAddress(wanted) && isOwnOrOfficial(before, wanted);
}

/** The text with our values taken out, or put back to what stood there; what somebody changed since stays. */
function withoutOurs(
  text: string,
  entry: Integration,
  format: TextFormat,
): { text: string; kept: readonly string[] } {
  let result = text;
  const kept: string[] = [];
  for (const { path, raw, before, made } of entry.written.toReversed()) {
    const found = format.find(result, path);
    if (found === undefined) continue;
    if (found.raw !== raw) kept.push(path.join('.'));
    else if (before !== null) result = format.put(result, path, before);
    else {
      result = format.remove(result, path);
      for (let depth = path.length - 1; depth >= (made ?? path.length); depth -= 1) {
        const outer = path.slice(0, depth);
        if (format.isEmpty(result, outer)) result = format.remove(result, outer);
      }
    }
  }
  return { text: result, kept };
}

function formerText({ backup }: Integration): string {
  return backup === null ? '' : readFileSync(backup, 'utf8');
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

/** A file that holds nothing: what is left of one that we made. */
function isBare(text: string): boolean {
  return ['', '{}'].includes(text.trim());
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
