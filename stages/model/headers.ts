/**
 * Headers as they are on the wire: a flat list of names and values, `[name, value, name, value,
 * …]`, in order, with their case and duplicates. This is the format of node's `rawHeaders` and of
 * the dispatcher, so unknown headers survive without a copy.
 */
export type Headers = readonly string[];

/** Returns the first value of `name` (lower case), or undefined. */
export function headerValue(headers: Headers, name: string): string | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const field = headers[i]!;
    if (field.length === name.length && field.toLowerCase() === name) return headers[i + 1];
  }
  return undefined;
}

/** Returns the `Content-Type` in lower case; empty if there is none. */
export function contentType(headers: Headers): string {
  return headerValue(headers, 'content-type')?.toLowerCase() ?? '';
}

/**
 * Returns the value of one of our on/off headers, in any of the usual words; undefined if it is
 * missing or neither.
 */
export function headerSwitch(headers: Headers, name: string): boolean | undefined {
  const value = headerValue(headers, name)?.trim().toLowerCase();
  if (value === undefined) return undefined;
  if (/^(?:1|on|true|yes)$/.test(value)) return true;
  return /^(?:0|off|false|no)$/.test(value) ? false : undefined;
}

/**
 * Returns all values of the list field `name` (lower case) as one list (RFC 9110 §5.3), or
 * undefined.
 */
export function headerList(headers: Headers, name: string): string | undefined {
  let list: string | undefined;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const field = headers[i]!;
    if (field.length !== name.length || field.toLowerCase() !== name) continue;
    list = list === undefined ? headers[i + 1]! : `${list}, ${headers[i + 1]!}`;
  }
  return list;
}

/** Returns true if the body has no `Content-Encoding`. */
export function isPlain({ headers }: { readonly headers: Headers }): boolean {
  const encoding = headerValue(headers, 'content-encoding');
  return encoding === undefined || /^(?:identity)?$/i.test(encoding.trim());
}

/** Returns a copy without the headers for which `drop` (given a lower-case name) returns true. */
export function withoutHeaders(headers: Headers, drop: (lowerName: string) => boolean): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (!drop(headers[i]!.toLowerCase())) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept;
}

/**
 * Headers that carry a provider's key, whatever its dialect. No form, beacon or image can set one.
 */
export const KEY_FIELDS: readonly string[] = Object.freeze([
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
]);

const CREDENTIAL_FIELD =
  /^(?:set-)?cookie2?$|(?:^|[-_])(?:api-?key|(?<!idempotency-)key|token|secret|password|passwd|auth|authorization|credentials?)$/i;

/**
 * Returns true for a header that contains a credential, including those of gateways, whatever its
 * format; any case.
 */
export function isCredentialField(name: string): boolean {
  return CREDENTIAL_FIELD.test(name);
}

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns true for a header that concerns one connection only (RFC 9110 §7.6.1). */
export function isHopByHop(lowerName: string): boolean {
  return HOP_BY_HOP.has(lowerName);
}

/**
 * Returns a predicate for headers (by lower-case name) that are only for this hop: those of every
 * connection, and those that `Connection` lists.
 */
export function ofConnection(headers: Headers): (lowerName: string) => boolean {
  let named: Set<string> | undefined;
  for (const part of headerList(headers, 'connection')?.split(',') ?? []) {
    const name = part.trim().toLowerCase();
    if (name !== '' && name !== 'keep-alive' && name !== 'close') (named ??= new Set()).add(name);
  }
  return (name) => isHopByHop(name) || named?.has(name) === true;
}
