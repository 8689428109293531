/**
 * Tokens of forward mode: what a client shows in `Proxy-Authorization`. `svc run --forward` makes
 * one and takes it back at the client's end. They are kept as proxy keys are, as hashes in a file
 * of their own, and open tunnels and nothing else.
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

/** A client that was killed with `svc run` leaves its token behind; nobody works on for longer. */
const RUN_TOKEN_S = 30 * 24 * 3600;

/** The user in a proxy's URL; the token is the password. */
export const TOKEN_USER = 'svc';

/** Makes a token for `label`. Without `expires` it holds until it is taken back. */
export function makeToken(
  home: string,
  clock: Clock,
  { label, expires }: { readonly label: string; readonly expires: boolean },
): { readonly token: string; readonly id: string } {
  const { folder, tokens } = forwardFiles(home);
  ensurePrivateFolder(folder);
  const nowMs = clock.wallMs();
  changeKeys(tokens, nowMs, (all) => all.filter((one) => isLive(one, nowMs)));
  const store = openKeyStore({ file: tokens, clock, random: randomBytes });
  const { key, stored } = store.create({ label, ...(expires && { expiresInS: RUN_TOKEN_S }) });
  return { token: key, id: stored.id };
}

/** Takes a token back; one that is gone already is no error. */
export function dropToken(home: string, clock: Clock, id: string): void {
  const { tokens } = forwardFiles(home);
  // Once forward mode is removed, nothing of it comes back.
  if (!existsSync(tokens)) return;
  changeKeys(tokens, clock.wallMs(), (all) => all.filter((one) => one.id !== id));
}

/** Takes back every token that was made for `label`. */
export function dropTokensOf(home: string, clock: Clock, label: string): void {
  const { folder, tokens } = forwardFiles(home);
  if (!existsSync(folder)) return;
  changeKeys(tokens, clock.wallMs(), (all) => all.filter((one) => one.label !== label));
}

/** Judges presented tokens; one that was made a moment ago is known. */
export function createTokenCheck(
  home: string,
  clock: Clock,
  onFault: (fault: Error) => void,
): KeyCheck {
  return createKeyring({ file: forwardFiles(home).tokens, clock, onFault, rereadMs: 0 });
}

/** The token in a `Proxy-Authorization`; undefined for what holds none. */
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
