/** Finds installed clients, and whether they go through svc. */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { isAddress } from './addresses.ts';
import type { Client, ClientSurroundings } from './client.ts';
import { clients } from './clients.ts';
import { formats } from './formats.ts';
import { pointsAt } from './forward-apply.ts';
import { forwardIdOf, tokenOf } from './forward.ts';
import { readIntegrations } from './records.ts';
import type { Integration } from './records.ts';
import { readSettingsFile, textOf } from './settings-file.ts';

/**
 * `yes`: its file contains this proxy's address; `other`: an outdated address of svc; `unknown`:
 * svc cannot tell.
 */
export type Wired = 'yes' | 'partly' | 'other' | 'no' | 'unknown';

export interface Wiring {
  readonly client: Client;
  readonly isInstalled: boolean;
  /** Path of its settings file, which may not exist; null if unknown. */
  readonly file: string | null;
  readonly wired: Wired;
  /** True if set by `svc integrate --apply`. */
  readonly isApplied: boolean;
  /** True if svc is its proxy instead of its base URL. */
  readonly isForward: boolean;
  /** Why its file cannot be read. */
  readonly fault: string | null;
}

/** Returns each client's relation to the proxy at `url`. Read-only. */
export function readWiring(
  home: string,
  where: ClientSurroundings,
  url: string,
): readonly Wiring[] {
  const applied = readIntegrations(home).entries;
  return clients.map((client) => {
    const forward = applied.find((one) => one.client === forwardIdOf(client.id));
    const own = forward ?? applied.find((one) => one.client === client.id);
    const file = own?.file ?? client.file?.path?.(where) ?? null;
    const base = {
      client,
      isInstalled: isInstalled(client, where),
      file,
      isApplied: own !== undefined,
      isForward: forward !== undefined,
      fault: null,
    };
    if (file === null) return { ...base, wired: 'unknown' };
    try {
      if (forward !== undefined) return { ...base, wired: forwardIn(forward, url) };
      return { ...base, wired: wiredIn(client, where, { path: file, url, formerUrl: own?.url }) };
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown;
      return { ...base, wired: 'unknown', fault: thrown.message };
    }
  });
}

function wiredIn(
  { file }: Client,
  where: ClientSurroundings,
  {
    path,
    url,
    formerUrl,
  }: { readonly path: string; readonly url: string; readonly formerUrl: string | undefined },
): Wired {
  const text = textOf(readSettingsFile(path));
  if (file === undefined || text === '') return 'no';
  const holds = (address: string): readonly boolean[] =>
    file
      .requiredChanges(address, text, where)
      .changes.filter(({ value }) => isAddress(value))
      .map(({ path: at, value }) => formats[file.format].find(text, at)?.value === value);
  const now = holds(url);
  if (now.length > 0 && now.every(Boolean)) return 'yes';
  if (now.some(Boolean)) return 'partly';
  return formerUrl !== undefined && holds(formerUrl).some(Boolean) ? 'other' : 'no';
}

function forwardIn({ file, format, written }: Integration, url: string): Wired {
  const text = textOf(readSettingsFile(file));
  const path = written.find((one) => one.path.at(-1) === 'HTTPS_PROXY')?.path;
  const value = path && formats[format].find(text, path)?.value;
  if (tokenOf(value) === undefined) return 'no';
  return pointsAt(value, url) ? 'yes' : 'other';
}

function isInstalled(client: Client, where: ClientSurroundings): boolean {
  return (
    client.programs.some((program) => onPath(program, where)) ||
    client.traces.some((trace) => existsSync(join(where.userHome, trace)))
  );
}

/** True if a program of this name is on the path. */
export function onPath(program: string, { env }: Pick<ClientSurroundings, 'env'>): boolean {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .some((folder) => {
      try {
        accessSync(join(folder, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
