/**
 * Who may open a tunnel, and where to, judged by the head of a `CONNECT` (RFC 9110 §9.3.6). A
 * tunnel is for a program on this machine that svc has started, which shows its token. Browsers and
 * intermediaries get none, since a page must not reach providers with the user's keys.
 */
import type { SvcError } from '../../engine/index.ts';
import {
  forbidden,
  headersTooLarge,
  malformedRequest,
  tunnelUnauthorized,
} from '../../stages/model/errors.ts';
import type { KeyCheck } from '../auth/auth.ts';
import { isLoopback } from '../gate/addresses.ts';
import { MAX_HEADER_FIELDS } from '../gate/gate.ts';
import { parseAuthority } from '../gate/names.ts';
import { scanHeaders } from '../gate/scan.ts';
import type { GateRequest } from '../gate/scan.ts';
import { tokenIn } from './tokens.ts';

/** Destination of a tunnel. */
export interface TunnelTarget {
  /** A name in lower case, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** An admitted tunnel, which stays open as long as its token is valid. */
export interface AdmittedTunnel extends TunnelTarget {
  readonly token: string;
}

export interface AdmissionOptions {
  readonly tokens: KeyCheck;
  /** `forward_proxy.ports`. */
  readonly ports: readonly number[];
}

/** Headers that identify a browser, besides those that the gate checks. */
const OF_BROWSERS = /^(?:sec-|cookie$|referer$|access-control-)/i;

/**
 * A name whose last part is a number, which some resolvers treat as an address: `127.1`,
 * `0x7f000001` (WHATWG URL, "ends in a number").
 */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i;
const NAME = /^(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*$/;

/** Judges the head of a `CONNECT`. Never throws. */
export function admitTunnel(
  request: GateRequest,
  { tokens, ports }: AdmissionOptions,
): AdmittedTunnel | SvcError {
  if (!isLoopback(request.socket.remoteAddress))
    return forbidden('Tunnels are for programs on this machine');
  const fields = request.rawHeaders;
  if (fields.length > MAX_HEADER_FIELDS * 2)
    return headersTooLarge(`More than ${MAX_HEADER_FIELDS} header fields`);
  // Python's own client up to 3.11 uses HTTP/1.0, which needs no Host.
  const isOld = request.httpVersion === '1.0';
  if (!isOld && request.httpVersion !== '1.1') return malformedRequest('A tunnel needs HTTP/1.1');
  const scan = scanHeaders(fields);
  if (scan.unclean)
    return malformedRequest('A header field contains characters that are not allowed');
  if (scan.lengths + scan.codings > 0) return malformedRequest('A CONNECT has no body');
  if (scan.forwarded) return forbidden('A tunnel cannot be opened for another machine');
  if (scan.origins > 0 || fields.some((name, index) => index % 2 === 0 && OF_BROWSERS.test(name)))
    return forbidden('A tunnel cannot be opened by a browser');
  const target = targetOf(request.url ?? '');
  if (target === undefined) return malformedRequest('The target is not host:port');
  const hostField = parseAuthority(scan.host ?? '');
  const isNamed = scan.hosts === 1 && hostField !== undefined && isSameHost(hostField, target);
  if (!isNamed && !(isOld && scan.hosts === 0))
    return malformedRequest('The Host is not that of the target');
  const credentials = valuesOf(fields, 'proxy-authorization');
  const token = credentials.length === 1 ? tokenIn(credentials[0]!) : undefined;
  const verdict = token === undefined ? 'unknown' : tokens.check(token);
  if (token === undefined || typeof verdict === 'string') return tunnelUnauthorized();
  if (!ports.includes(target.port))
    return forbidden(`Tunnels to port ${target.port} are not allowed; see forward_proxy.ports`);
  return { ...target, token };
}

function targetOf(url: string): TunnelTarget | undefined {
  const authority = parseAuthority(url);
  if (authority?.port === undefined) return undefined;
  const { name, port } = authority;
  if (name.includes(':') || isDotted(name)) return { host: name, port };
  return NAME.test(name) && !ENDS_IN_NUMBER.test(name) ? { host: name, port } : undefined;
}

/** True for an IPv4 address in its usual form: some parsers read a leading zero as octal. */
function isDotted(name: string): boolean {
  return (
    /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(name) && !/(?:^|\.)0\d/.test(name)
  );
}

function isSameHost(
  { name, port }: { readonly name: string; readonly port: number | undefined },
  target: TunnelTarget,
): boolean {
  return name === target.host && (port === undefined || port === target.port);
}

function valuesOf(fields: readonly string[], name: string): string[] {
  return fields.filter((_, index) => index % 2 === 1 && fields[index - 1]!.toLowerCase() === name);
}
