/**
 * By which names proxies find the same thing in Redis. Every name begins with `svc:` and the
 * version of what lies under it, so that another version of svc does not read it wrongly, and ends
 * in a hash: neither addresses of clients nor keys nor providers are to be read there.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isLoopbackHost } from '../config/address.ts';

/** What all names begin with. A change of what lies under them changes the number. */
export const PREFIX = 'svc:1:';

export type SharedKind =
  | 'rate'
  | 'key'
  | 'breaker'
  | 'probe'
  | 'answer'
  | 'budget'
  | 'bill'
  | 'trial';

/** The name of one thing; `parts` say which it is, and only their hash is in the name. */
export function sharedName(kind: SharedKind, ...parts: readonly string[]): string {
  const hash = createHash('sha256').update(kind);
  // With lengths, so that no two lists of parts run together into the same text.
  for (const part of parts) hash.update(`\0${part.length}:${part}`);
  return `${PREFIX}${kind}:${hash.digest('base64url')}`;
}

/** Which server a base URL means to every proxy: one on loopback is another one on each machine. */
export function placeOf(baseUrl: string, machine: string): string {
  return isLoopbackHost(new URL(baseUrl).hostname) ? `${baseUrl} on ${machine}` : baseUrl;
}

/** What tells this machine's loopback from that of any other, containers included, until it is started anew. */
export function thisMachine(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/net')}`;
  } catch {
    // Not Linux: there, programs of one machine share one loopback.
    return hostname();
  }
}
