/**
 * Matches hosts against `NO_PROXY`. Programs differ in how they read it; this follows the majority.
 */
import { portOf } from '../../stages/providers/tunnel.ts';
import type { TunnelEnd } from '../../stages/providers/tunnel.ts';

/**
 * Returns a test for `NO_PROXY`: names separated by commas or spaces, each matching itself and its
 * subdomains, with or without a leading `.` or `*.`, with or without a port; `*` matches every
 * host.
 */
export function exemptions(noProxy: string): (end: TunnelEnd) => boolean {
  const entries = noProxy
    .split(/[,\s]+/)
    .filter(Boolean)
    .map(toEntry);
  return (end) => {
    const name = end.hostname.toLowerCase();
    return entries.some(
      (entry) =>
        (entry.port === undefined || entry.port === portOf(end)) &&
        (entry.name === '*' || name === entry.name || name.endsWith(`.${entry.name}`)),
    );
  };
}

interface Entry {
  readonly name: string;
  readonly port: string | undefined;
}

function toEntry(text: string): Entry {
  // A bare IPv6 address contains colons, none of which precedes a port.
  const [, host = text, port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(text) ?? [];
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/^\*?\./, '');
  return { name: name.toLowerCase(), port };
}
