/**
 * Sessions for browsers on other machines: a person cannot type a header into one, so a key or a
 * one-time link is exchanged for a cookie. The session is bound to the key and ends with it, with
 * its time, at logout, or with this process, whose secret signs it; nothing about it is stored.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../engine/clock.ts';
import { SvcError } from '../../engine/error.ts';
import type { Keyed, Keyring, RandomBytes } from './auth.ts';

/** Path to which the browser sends it: the page and its data, nothing that costs money. */
export const COOKIE_PATH = '/dashboard';
const COOKIE = 'svc_dashboard';
const SESSION_S = 7 * 86_400;
const LINK_MS = 5 * 60_000;
/** Unused links kept at most; the oldest are dropped first. */
const MAX_LINKS = 16;
const TOKEN_BYTES = 32;
/** No legitimate cookie header is longer. */
const MAX_HEADER_CHARS = 4096;

export type BrowserSessions = ReturnType<typeof createBrowserSessions>;

export function createBrowserSessions(options: {
  readonly keys: Keyring;
  readonly clock: Clock;
  readonly random: RandomBytes;
}) {
  const { keys, clock, random } = options;
  const secret = random(TOKEN_BYTES);
  /** By the token's hash, so that comparison times reveal nothing about the token. */
  const links = new Map<string, { readonly keyId: string; readonly untilMs: number }>();

  /** Sessions that were logged out early, with their original end in seconds since the epoch. */
  const ended = new Map<string, number>();

  const sign = (keyId: string, expires: string): Buffer | undefined => {
    const bound = keys.digestOf(keyId);
    if (bound === undefined) return undefined;
    return createHmac('sha256', secret).update(`${keyId} ${expires} `).update(bound).digest();
  };
  const hashOf = (token: string): string =>
    createHmac('sha256', secret).update(token).digest('base64url');
  const cookieFor = (keyId: string, isSecure: boolean): string | undefined => {
    const expires = Math.floor(clock.wallMs() / 1000 + SESSION_S).toString(36);
    const signature = sign(keyId, expires)?.toString('base64url');
    if (signature === undefined) return undefined;
    const value = `${keyId}.${expires}.${signature}`;
    return `${COOKIE}=${value}; Path=${COOKIE_PATH}; Max-Age=${SESSION_S}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  };

  /** Returns the session of these cookies: the key that it is bound to, its name and its end. */
  const sessionOf = (cookies: string) => {
    if (cookies.length > MAX_HEADER_CHARS) return undefined;
    const [keyId = '', expires = '', signature = ''] = valueOf(cookies)?.split('.') ?? [];
    const expected = sign(keyId, expires);
    const presented = Buffer.from(signature, 'base64url');
    if (expected === undefined || presented.length !== expected.length) return undefined;
    if (!timingSafeEqual(presented, expected)) return undefined;
    const untilS = Number.parseInt(expires, 36);
    // Not the text as sent: the same bytes can be spelled in several ways.
    const name = expected.toString('base64url');
    return untilS * 1000 <= clock.wallMs() || ended.has(name) ? undefined : { keyId, name, untilS };
  };

  return {
    /**
     * Returns the sender of these cookies (the header's value); undefined without a valid session.
     */
    check(cookies: string): Omit<Keyed, 'caller'> | undefined {
      const session = sessionOf(cookies);
      return session === undefined ? undefined : { verdict: 'keyed', keyId: session.keyId };
    },
    /**
     * Ends the session of these cookies, if there is one. Returns the `Set-Cookie` value that
     * removes it from the browser.
     */
    end(cookies: string): string {
      const session = sessionOf(cookies);
      if (session !== undefined) {
        for (const [name, untilS] of ended) if (untilS * 1000 <= clock.wallMs()) ended.delete(name);
        ended.set(session.name, session.untilS);
      }
      return `${COOKIE}=; Path=${COOKIE_PATH}; Max-Age=0; HttpOnly; SameSite=Strict`;
    },
    /** Returns the `Set-Cookie` value for a valid key; undefined for any other. */
    withKey(key: string, isSecure: boolean): string | undefined {
      const found = keys.check(key);
      return found === 'dead' || found === 'unknown' ? undefined : cookieFor(found.keyId, isSecure);
    },
    /** Returns the `Set-Cookie` value for the token of a link, which works once. */
    withLink(token: string, isSecure: boolean): string | undefined {
      const name = hashOf(token);
      const link = links.get(name);
      links.delete(name);
      if (link === undefined || link.untilMs <= clock.monotonicMs()) return undefined;
      return cookieFor(link.keyId, isSecure);
    },
    /** Creates a link token. Throws `conflict` if there is no valid key to bind it to. */
    newLink(): { readonly token: string; readonly keyId: string; readonly expiresInS: number } {
      const keyId = keys.newestId();
      if (keyId === undefined)
        throw new SvcError('conflict', 'There is no proxy key that a login could be bound to', {
          cure: '`svc auth --generate` makes one.',
        });
      const token = random(TOKEN_BYTES).toString('base64url');
      links.set(hashOf(token), { keyId, untilMs: clock.monotonicMs() + LINK_MS });
      for (const oldest of [...links.keys()].slice(0, -MAX_LINKS)) links.delete(oldest);
      return { token, keyId, expiresInS: LINK_MS / 1000 };
    },
  };
}

function valueOf(cookies: string): string | undefined {
  const start = `${COOKIE}=`;
  const found = cookies.split(';').find((one) => one.trimStart().startsWith(start));
  return found?.trim().slice(start.length);
}
