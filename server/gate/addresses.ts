/**
 * Which addresses belong to this machine. A socket's peer and a literal in a `Host` are both
 * checked with one `net.BlockList`, which understands mapped IPv6 forms; addresses are never parsed
 * by hand (see npm `ip`, CVE-2024-29415).
 */
import { BlockList, SocketAddress, isIP } from 'node:net';

const LOOPBACK = loopbackList();
/** The spellings of nearly every local peer, which need no check against the list. */
const USUAL: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/**
 * True for 127.0.0.0/8, ::1 and the mapped forms of the former. False for anything that is not an
 * address literal to node, and for an absent address (the socket is gone).
 */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  if (USUAL.has(address)) return true;
  const family = isIP(address);
  if (family === 0) return false;
  return LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Returns one spelling per address: lower case, shortest IPv6 form, a mapped IPv4 address as IPv4.
 * Undefined if `address` is not an address literal or has a zone.
 */
export function canonicalAddress(address: string): string | undefined {
  const family = isIP(address);
  if (family === 4) return address;
  if (family === 0 || address.includes('%')) return undefined;
  const text = new SocketAddress({ address, family: 'ipv6' }).address.toLowerCase();
  const mapped = text.startsWith('::ffff:') ? text.slice(7) : '';
  return isIP(mapped) === 4 ? mapped : text;
}

function loopbackList(): BlockList {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  list.addAddress('::1', 'ipv6');
  return list;
}
