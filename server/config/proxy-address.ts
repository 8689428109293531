/** The address of an outbound proxy, as people and their tools write it. */

/** The address with a scheme: `host:port` means `http://host:port`, as curl reads it. */
export function withScheme(text: string): string {
  const trimmed = text.trim();
  return trimmed.includes('://') || /^https?:\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
}

/** Why `text`, with a scheme, is no address of a proxy; undefined for one that is. It may hold a password, so it is not quoted. */
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
