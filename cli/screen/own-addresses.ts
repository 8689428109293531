/** Addresses of this machine that other machines can reach. */
import { networkInterfaces } from 'node:os';
import { isIP } from 'node:net';
import { isLoopback } from '../../server/gate/addresses.ts';

/**
 * Returns the origins under which others reach a listener at `url`; none if only this machine can.
 */
export function originsElsewhere(url: string): string[] {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || isLoopback(host)) return [];
  if (host !== '0.0.0.0' && host !== '::') return [`http://${hostname}:${port}`];
  const addresses = Object.values(networkInterfaces())
    .flatMap((found) => found ?? [])
    // A link-local address is useless without the name of an interface.
    .filter(({ internal, address }) => !internal && !/^(?:fe80:|169\.254\.)/i.test(address))
    .map(({ address }) => address)
    .filter((address) => host === '::' || isIP(address) === 4);
  return addresses.map(
    (address) => `http://${isIP(address) === 6 ? `[${address}]` : address}:${port}`,
  );
}
