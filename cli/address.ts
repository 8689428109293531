/** The addresses of a proxy, as a client on this machine has to spell them. */

/**
 * Returns the same origin without a trailing slash, with a wildcard replaced by loopback: a
 * wildcard can be listened on but not connected to.
 */
export function toReachableUrl(url: string): string {
  const target = new URL(url);
  if (target.hostname === '0.0.0.0') target.hostname = '127.0.0.1';
  if (target.hostname === '[::]') target.hostname = '[::1]';
  return `${target.protocol}//${target.host}`;
}
