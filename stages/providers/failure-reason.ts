/** The reason given for a failed connection: text without addresses or secrets. */

/** What this machine, not the provider, has too little of. */
const SHORTAGES = new Map([
  ['EMFILE', 'this proxy has too many connections and files open'],
  ['ENFILE', 'this machine has too many files open'],
  ['EADDRNOTAVAIL', 'this machine has no free port'],
  ['ENOBUFS', 'this machine has no memory for connections'],
]);

const REASONS = new Map([
  ...SHORTAGES,
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
  ['ENOTFOUND', 'host name not found'],
  ['EAI_AGAIN', 'host name lookup failed'],
  ['ETIMEDOUT', 'connection timed out'],
  ['EHOSTUNREACH', 'host unreachable'],
  ['ENETUNREACH', 'network unreachable'],
  ['EPIPE', 'connection closed'],
  ['UND_ERR_SOCKET', 'connection closed before an answer'],
  ['UND_ERR_HEADERS_OVERFLOW', 'the response head is too large'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'the response contradicts its own length'],
]);

/** Codes of Node and of OpenSSL; those for certificates have no common prefix. */
const OF_TLS = /^(?:ERR_TLS|ERR_SSL|UNABLE_TO_|EPROTO$)|CERT|CRL|ISSUER|_CA$/;

/** Returns a short cause, by the codes of `error` and of what caused it. */
export function reasonOf(error: Error): string {
  // Parser errors are named after the unexpected input, if at all.
  if (error.name === 'HTTPParserError' || codeOf(error)?.startsWith('HPE_') === true) {
    return REASONS.get(codeOf(error) ?? '') ?? 'the response is not valid HTTP';
  }
  const codes = [codeOf(error), codeOf(error.cause)].filter((code) => code !== undefined);
  for (const code of codes) {
    const reason = REASONS.get(code);
    if (reason !== undefined) return reason;
    if (OF_TLS.test(code)) return `TLS failed (${code})`;
  }
  return codes[0] ?? 'the connection failed';
}

/** True if the connection failed for want of something on this machine. */
export function isShortage(error: unknown): boolean {
  return SHORTAGES.has(codeOf(error) ?? '');
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
