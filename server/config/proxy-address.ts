/** The address of an outbound proxy, in the forms that people and tools write. */

/** Adds a missing scheme: `host:port` means `http://host:port`, as in curl. */
export function withScheme(text: string): string {
  const trimmed = text.trim();
  return trimmed.includes('://') || /^https?:\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
}

/**
 * Returns why `text`, with a scheme, is not a valid proxy address; undefined if it is. The address
 * is not quoted, since it may contain a password.
 */
export function proxyFault(text: string): string | undefined {
  const cure = 'write http://host:port or https://host:port, or unset it';
  if (!URL.canParse(text)) return `it is not the address of a proxy; ${cure}`;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return `proxies of the kind ${JSON.stringify(url.protocol)} are not supported; ${cure}`;
  }
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return 'its user or password has a % that does not begin an escape; write it as %25';
  }
  return undefined;
}
