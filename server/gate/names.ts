/**
 * Which `Host` names and `Origin`s belong to this proxy. A page that rebinds its name to 127.0.0.1
 * still sends that name in `Host`, so names are compared with a closed list and never resolved.
 */
import { isIP } from 'node:net';
import { SvcError } from '../../engine/error.ts';
import { canonicalAddress, isLoopback } from './addresses.ts';

/**
 * A parsed `Host` value: the name in lower case (an IPv6 literal without brackets) and the port, if
 * given.
 */
export interface Authority {
  readonly name: string;
  readonly port: number | undefined;
}

/** What determines the names: how the listeners were opened and what the user added. */
export interface NameOptions {
  /** `server.host`: an address or a name. A wildcard (`0.0.0.0`, `::`) matches no name. */
  readonly boundHost: string;
  /** The ports that we currently listen on. */
  readonly ports: () => readonly number[];
  /** `server.allowed_hosts`: `name` for any port, or `name:port`. */
  readonly allowedHosts: readonly string[];
}

export type Names = ReturnType<typeof createNames>;

const AUTHORITY = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::([0-9]{1,5}))?$/;

/**
 * Parses a `Host` value; undefined when it is not `name[:port]` (RFC 9110 §7.2, without the forms
 * no client sends).
 */
export function parseAuthority(value: string): Authority | undefined {
  const match = AUTHORITY.exec(value);
  if (match === null) return undefined;
  const [, literal, name, digits] = match;
  if (literal !== undefined && isIP(literal) !== 6) return undefined;
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port === 0 || port > 65_535)) return undefined;
  return { name: (literal ?? name ?? '').toLowerCase(), port };
}

/** Creates the closed list. Throws `config` for an entry of `allowedHosts` that is not a host. */
export function createNames(options: NameOptions) {
  const allowed = options.allowedHosts.map(parseAllowedHost);
  const bound = canonicalName(options.boundHost.toLowerCase());
  const isWildcard = bound === '0.0.0.0' || bound === '::';
  let usualPorts: readonly number[] = [];
  let usual: ReadonlySet<string> = new Set();

  function isOwnName(name: string, localAddress: string | undefined): boolean {
    if (name === 'localhost' || isLoopback(name)) return true;
    const canonical = canonicalName(name);
    if (!isWildcard) return canonical === bound;
    // When bound to every address, ours is the one this connection arrived on. Only a literal can
    // equal it, and a literal cannot be rebound.
    return localAddress !== undefined && canonical === canonicalAddress(localAddress);
  }

  return {
    /**
     * True when `authority` has one of our names, with any port. `localAddress` is the socket's.
     */
    isOurHost({ name, port }: Authority, localAddress: string | undefined): boolean {
      // A tunnel or a container's port map changes the port, and a rebound name is recognised by
      // the name.
      if (isOwnName(name, localAddress)) return true;
      const canonical = canonicalName(name);
      return allowed.some((entry) => {
        return entry.name === canonical && (entry.port === undefined || entry.port === port);
      });
    },
    /**
     * True for a `Host` in one of its usual spellings: same result as `isOurHost`, without parsing.
     */
    isUsualHost(host: string): boolean {
      const ports = options.ports();
      if (!isSame(ports, usualPorts)) {
        usualPorts = ports;
        usual = new Set(
          ports.flatMap((port) => [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]),
        );
      }
      return usual.has(host);
    },
    /** True when a page of `origin` was served by us, for a request with this (accepted) `host`. */
    isOurOrigin(origin: string, host: string, localAddress: string | undefined): boolean {
      if (!origin.startsWith('http://')) return false;
      const text = origin.slice('http://'.length);
      if (text.toLowerCase() === host.toLowerCase()) return true;
      const authority = parseAuthority(text);
      if (authority === undefined) return false;
      // In an origin, no port means 80: the page of some other server on this machine.
      if (!options.ports().includes(authority.port ?? 80)) return false;
      return isOwnName(authority.name, localAddress);
    },
  };
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((port, index) => port === b[index]);
}

function parseAllowedHost(entry: string): Authority {
  const authority = parseAuthority(isIP(entry) === 6 ? `[${entry}]` : entry);
  if (authority === undefined) {
    throw new SvcError(
      'config',
      `server.allowed_hosts: '${entry}' is not a host name or host:port`,
    );
  }
  return { name: canonicalName(authority.name), port: authority.port };
}

function canonicalName(name: string): string {
  return canonicalAddress(name) ?? name;
}
