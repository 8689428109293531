/**
 * Names of shared things in Redis. Every name begins with `svc:` and the version of the data, so
 * that another version of svc does not misread it, and ends in a hash: client addresses, keys and
 * providers must not be readable there.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isLoopbackHost } from '../config/address.ts';

/** Prefix of all names. A change of the data format changes the number. */
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

/** Returns the name of one thing; `parts` identify it, and only their hash is in the name. */
export function sharedName(kind: SharedKind, ...parts: readonly string[]): string {
  const hash = createHash('sha256').update(kind);
  // With lengths, so that different lists of parts never produce the same text.
  for (const part of parts) hash.update(`\0${part.length}:${part}`);
  return `${PREFIX}${kind}:${hash.digest('base64url')}`;
}

/**
 * Returns the server that a base URL means to every proxy: a loopback address is a different one on
 * each machine.
 */
export function placeOf(baseUrl: string, machine: string): string {
  return isLoopbackHost(new URL(baseUrl).hostname) ? `${baseUrl} on ${machine}` : baseUrl;
}

/**
 * Distinguishes this machine's loopback from any other's, including containers, until the next
 * boot.
 */
export function thisMachine(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/net')}`;
  } catch {
    // Not Linux: there, all programs of a machine share one loopback.
    return hostname();
  }
}
