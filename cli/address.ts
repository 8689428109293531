/** Addresses on which a proxy listens, as a client on this machine has to spell them. */

/** The same origin, without a slash at the end, with a wildcard replaced by loopback: one listens on it but cannot go there. */
export function reachable(url: string): string {
  const target = new URL(url);
  if (target.hostname === '0.0.0.0') target.hostname = '127.0.0.1';
  if (target.hostname === '[::]') target.hostname = '[::1]';
  return `${target.protocol}//${target.host}`;
}
