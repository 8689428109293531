/**
 * Tokens of forward mode, which clients send in `Proxy-Authorization`. `svc run --forward` creates
 * one and revokes it when the client ends. They are stored like proxy keys, as hashes in a file of
 * their own, and only open tunnels.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Clock } from '../../engine/index.ts';
import { createKeyring, openKeyStore } from '../auth/auth.ts';
import type { KeyCheck } from '../auth/auth.ts';
import { changeKeys } from '../auth/store.ts';
import type { StoredKey } from '../auth/store.ts';
import { ensurePrivateFolder } from '../config/home.ts';
import { forwardFiles } from './ca/files.ts';

/**
 * A client killed together with `svc run` leaves its token behind; no session lasts longer than
 * this.
 */
const RUN_TOKEN_S = 30 * 24 * 3600;

/** User name in a proxy URL; the token is the password. */
export const TOKEN_USER = 'svc';

/** Creates a token for `label`. Without `expires` it is valid until revoked. */
export function createToken(
  home: string,
  clock: Clock,
  { label, expires }: { readonly label: string; readonly expires: boolean },
): { readonly token: string; readonly id: string } {
  const { folder, tokens } = forwardFiles(home);
  ensurePrivateFolder(folder);
  const nowMs = clock.wallMs();
  changeKeys(tokens, nowMs, (all) => all.filter((token) => isLive(token, nowMs)));
  const store = openKeyStore({ file: tokens, clock, random: randomBytes });
  const { key, stored } = store.create({ label, ...(expires && { expiresInS: RUN_TOKEN_S }) });
  return { token: key, id: stored.id };
}

/** Revokes a token; one that no longer exists is not an error. */
export function revokeToken(home: string, clock: Clock, id: string): void {
  const { tokens } = forwardFiles(home);
  // After forward mode was removed, its files must not be created again.
  if (!existsSync(tokens)) return;
  changeKeys(tokens, clock.wallMs(), (all) => all.filter((key) => key.id !== id));
}

/** Revokes every token made for `label`. */
export function revokeTokensOf(home: string, clock: Clock, label: string): void {
  const { folder, tokens } = forwardFiles(home);
  if (!existsSync(folder)) return;
  changeKeys(tokens, clock.wallMs(), (all) => all.filter((key) => key.label !== label));
}

/** Creates the check of presented tokens; it accepts a token that was made a moment ago. */
export function createTokenCheck(
  home: string,
  clock: Clock,
  onFault: (fault: Error) => void,
): KeyCheck {
  return createKeyring({ file: forwardFiles(home).tokens, clock, onFault, rereadMs: 0 });
}

/** Returns the token in a `Proxy-Authorization` value; undefined if it holds none. */
export function tokenIn(value: string): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]{1,2048}={0,2})$/i.exec(value)?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon < 0 ? undefined : pair.slice(colon + 1);
}

function isLive({ revoked, expires }: StoredKey, nowMs: number): boolean {
  return revoked === undefined && (expires === undefined || Date.parse(expires) > nowMs);
}
