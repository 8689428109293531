/**
 * Which addresses are the machine's own. Both questions, about a socket's peer and about a
 * literal in a `Host`, go to one `net.BlockList`, which knows mapped IPv6 forms; addresses
 * are never taken apart by hand (npm `ip`, CVE-2024-29415, is what that leads to).
 */
import { BlockList, SocketAddress, isIP } from 'node:net';

const LOOPBACK = loopbackList();
/** As nearly every socket spells its local peer: whole literals, for which nobody has to be asked. */
const USUAL: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/**
 * True for 127.0.0.0/8, ::1 and the mapped forms of the former. Anything that node does not
 * take for an address literal, and an absent address (the socket is gone), is false.
 */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  if (USUAL.has(address)) return true;
  const family = isIP(address);
  if (family === 0) return false;
  return LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * One spelling for each address: lower case, shortest IPv6 form, a mapped IPv4 address as
 * IPv4. Undefined for what is no address literal or carries a zone.
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
