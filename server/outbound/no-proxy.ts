/** Which hosts `NO_PROXY` names. Every program reads it a little differently; this is what most agree on. */
import { portOf } from '../../stages/providers/tunnel.ts';
import type { TunnelEnd } from '../../stages/providers/tunnel.ts';

/**
 * Whether a host is in `NO_PROXY`: names apart by commas or spaces, each for itself and all below
 * it, with `.` or `*.` before it or not, with a port or without; `*` is every host.
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
  // A bare IPv6 address is full of colons, none of which is before a port.
  const [, host = text, port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(text) ?? [];
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/^\*?\./, '');
  return { name: name.toLowerCase(), port };
}
