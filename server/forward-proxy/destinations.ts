/**
 * Where tunnels may lead. A name is resolved once, every address is checked, and the connection
 * uses a checked address, so that the name cannot resolve differently in between.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, connect, isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { forbidden, tunnelFailed, upstreamTimeout } from '../../stages/model/errors.ts';
import { reasonOf } from '../../stages/providers/failure-reason.ts';
import type { Connector } from '../../stages/providers/undici-upstream.ts';
import { isLoopbackHost } from '../config/address.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { TunnelTarget } from './admission.ts';

/** Resolves a name to its addresses. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

/** Non-public IPv4 addresses (RFC 6890 and its successors). */
const PRIVATE_V4: readonly (readonly [address: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

const PRIVATE_V6: readonly (readonly [address: string, bits: number])[] = [
  ['::', 96],
  // IPv4 in the form for translators (RFC 7915).
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

const PRIVATE = privateList();

/**
 * True for an address that is not on the public internet: loopback, link-local, private, reserved.
 */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return true;
  return PRIVATE.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

function privateList(): BlockList {
  const list = new BlockList();
  for (const [address, bits] of PRIVATE_V4) {
    list.addSubnet(address, bits, 'ipv4');
    // The same address behind a translator (RFC 6052), which many networks without IPv4 have.
    list.addSubnet(`64:ff9b::${address}`, 96 + bits, 'ipv6');
  }
  for (const [address, bits] of PRIVATE_V6) list.addSubnet(address, bits, 'ipv6');
  return list;
}

export const systemResolve: Resolve = (name) => lookup(name, { all: true });

/**
 * Resolves `host` and returns the addresses that a tunnel may lead to.
 *
 * @throws SvcError `forbidden` if any of them is private: a name with both kinds is a trick.
 * @throws SvcError `bad_gateway` if the name has none.
 */
export async function publicAddresses(
  host: string,
  resolve: Resolve,
): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  const found = family === 0 ? await resolveHost(host, resolve) : [{ address: host, family }];
  if (found.some(({ address }) => isPrivateAddress(address))) throw privateRefused(host);
  return found;
}

/**
 * Resolves a host whose addresses may be private. Throws like `publicAddresses`, except
 * `forbidden`.
 */
export async function anyAddresses(
  host: string,
  resolve: Resolve,
): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  return family === 0 ? resolveHost(host, resolve) : [{ address: host, family }];
}

export function privateRefused(host: string) {
  return forbidden(
    `'${host}' is not on the public internet; forward_proxy.private_hosts lists hosts that tunnels may still reach`,
  );
}

async function resolveHost(host: string, resolve: Resolve): Promise<readonly LookupAddress[]> {
  try {
    const found = await resolve(host);
    if (found.length > 0) return found;
  } catch (cause) {
    throw tunnelFailed(`${host}: ${reasonOf(cause as Error)}`, cause);
  }
  throw tunnelFailed(`${host} has no address`);
}

export interface TunnelOptions {
  /** `forward_proxy.private_hosts`: names and addresses in lower case. */
  readonly privateHosts: readonly string[];
  readonly outbound: Outbound;
  readonly resolve: Resolve;
  /** Aborts an attempt that takes too long. */
  readonly signal: AbortSignal;
}

/**
 * Connects to the other end of a tunnel, through the network's proxy if there is one, which then
 * resolves the name. Throws `forbidden` for a private host that is not listed, `bad_gateway` for
 * one that cannot be reached.
 */
export async function openTunnel(
  { host, port }: TunnelTarget,
  { privateHosts, outbound, resolve, signal }: TunnelOptions,
): Promise<Socket> {
  const isListed = privateHosts.includes(host);
  if (!isListed && isNamedPrivate(host)) throw privateRefused(host);
  const through = outbound.through({ protocol: 'https:', hostname: host, port: String(port) });
  if (through !== undefined) return connectThrough(through, host, port, signal);
  const addresses = isListed
    ? await anyAddresses(host, resolve)
    : await publicAddresses(host, resolve);
  return connectTo(addresses, port, signal);
}

/** True for a host that is known to be private without a resolver. */
function isNamedPrivate(host: string): boolean {
  return isIP(host) === 0 ? isLoopbackHost(host) : isPrivateAddress(host);
}

function connectThrough(
  through: Connector,
  hostname: string,
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((settle, reject) => {
    const stop = (): void => reject(upstreamTimeout());
    signal.addEventListener('abort', stop, { once: true });
    // Not `https:`: svc does not open the tunnel's content.
    const connectOptions = { protocol: 'http:', hostname, host: hostname, port: String(port) };
    through(connectOptions, (error, socket) => {
      signal.removeEventListener('abort', stop);
      if (error !== null) reject(error);
      else if (signal.aborted) socket.destroy();
      else settle(socket);
    });
  });
}

/** Connects to one of `addresses`, which are tried in the way node tries those of a name. */
export function connectTo(
  addresses: readonly LookupAddress[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const known: LookupFunction = (_name, options, done) => {
    if (options.all === true) done(null, [...addresses]);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  };
  return new Promise((settle, reject) => {
    // The name is never resolved again: the connection uses the checked addresses.
    const host = 'judged.invalid';
    const socket = connect({ host, port, lookup: known, allowHalfOpen: true, noDelay: true });
    const stop = (): void => void socket.destroy(new Error('it did not answer in time'));
    signal.addEventListener('abort', stop, { once: true });
    socket.once('connect', () => {
      signal.removeEventListener('abort', stop);
      socket.off('error', failed);
      settle(socket);
    });
    const failed = (error: Error): void => {
      signal.removeEventListener('abort', stop);
      reject(tunnelFailed(reasonOf(error), error));
    };
    socket.once('error', failed);
  });
}
