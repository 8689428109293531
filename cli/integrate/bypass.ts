/** Clients started by `svc run` that bypass svc because of where they read their base URL. */
import { SvcError } from '../../engine/error.ts';
import type { Client, ClientSurroundings } from './client.ts';
import { readSettingsFile, textOf } from './settings-file.ts';
import { readWiring } from './wiring.ts';

interface ClientLaunch {
  readonly home: string;
  /** Address of the proxy. */
  readonly url: string;
  readonly context: ClientSurroundings;
}

/**
 * Returns why `client` bypasses the proxy with its current settings, and how to change that;
 * undefined if it does not.
 */
export function bypassReason(
  client: Client,
  { home, url, context }: ClientLaunch,
): string | undefined {
  const { ownSettingsOnly: own, name, id } = client;
  if (own === undefined) return undefined;
  const wiring = readWiring(home, context, url).find((one) => one.client.id === id);
  const wired = wiring?.wired ?? 'unknown';
  const path = own.addressFile?.(context) ?? wiring?.file ?? undefined;
  // A trailing slash in the address makes no difference.
  if (wired !== 'partly' && path !== undefined && holds(path, url)) return undefined;
  const isKnown = wired !== 'unknown';
  const what = wired === 'partly' ? 'some of its models bypass svc' : 'it bypasses svc';
  const way =
    client.file === undefined
      ? `\`svc integrate ${id}\` shows what to set.`
      : `\`svc integrate ${id} --apply\` sets it.`;
  return `${name} reads its address only from its own settings, so ${isKnown ? '' : 'perhaps '}${what}. ${way}`;
}

/** True if a file contains the proxy's address; false if it cannot be read. */
function holds(path: string, url: string): boolean {
  try {
    return textOf(readSettingsFile(path)).includes(url);
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    return false;
  }
}
