/** Errors of the database or of the connection to it, in words for the user. Never a password. */
import { SvcError } from '../../../engine/index.ts';
import { ledgerName, passwordsOf } from '../address.ts';

const KEPT = 'rows are kept in memory as long as they fit, and the proxy keeps trying';

const REACH = `See that the server runs and that host and port in SVC_DB are right; ${KEPT}.`;
const TLS =
  'See that its certificate is that of the host in SVC_DB and signed by an authority that Node knows (`sslrootcert`, NODE_EXTRA_CA_CERTS); `sslmode=no-verify` encrypts without looking at it.';

/** By the code of Node or the prefix of the server's (SQLSTATE). */
const CURES: readonly (readonly [start: string, cure: string])[] = [
  ['28', 'Correct user and password in SVC_DB, and what pg_hba.conf on the server says of them.'],
  ['3D000', 'Make the database on its server (CREATE DATABASE); svc makes its tables by itself.'],
  [
    '42501',
    'Give the user in SVC_DB the right to it: GRANT USAGE, CREATE ON SCHEMA to make the tables, SELECT to read them.',
  ],
  ['25006', 'SVC_DB leads to a copy that cannot be written to; name the server that can.'],
  ['53100', `Free disk space on the database server; ${KEPT}.`],
  ['53300', 'Raise max_connections on the server, or put a connection pooler in front of it.'],
  ['57P', `The server stops or starts; ${KEPT}.`],
  ['ECONN', REACH],
  ['ENOTFOUND', REACH],
  ['EAI_AGAIN', REACH],
  ['ETIMEDOUT', REACH],
  ['EHOSTUNREACH', REACH],
  ['ENETUNREACH', REACH],
  ['EPIPE', REACH],
  ['ENOENT', REACH],
  ['EACCES', REACH],
  ['DEPTH_ZERO', TLS],
  ['SELF_SIGNED', TLS],
  ['UNABLE_TO_', TLS],
  ['CERT_', TLS],
  ['ERR_TLS', TLS],
];

/** Returns the SQLSTATE: five characters, which the server attaches to every refusal. */
export function stateOf(error: unknown): string | undefined {
  const code = codeOf(error);
  return /^[\dA-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined;
}

/** Returns true for a statement that no server could have understood. */
export function isOurFault(error: unknown): boolean {
  const state = stateOf(error) ?? '';
  return state.startsWith('42') && state !== '42501' && state !== '42P01';
}

/**
 * Returns true for rows that the server refuses because of their content: data, or constraints of
 * the schema.
 */
export function isContentFault(error: unknown): boolean {
  return /^2[23]/.test(stateOf(error) ?? '');
}

/**
 * Returns true if another connection may succeed: the server is shutting down, or is not the one
 * that accepts writes.
 */
export function isOfConnection(error: unknown): boolean {
  const state = stateOf(error);
  return state === undefined || /^(?:08|57|25|42P01)/.test(state);
}

/** Returns its message in one line, with the code, and what to do. */
export function inWords(error: unknown, url: string): { message: string; cure: string } {
  const code = codeOf(error);
  let text = textOf(error).split('\n')[0] ?? '';
  for (const password of passwordsOf(url)) text = text.replaceAll(password, '…');
  const why = code === '' || text.includes(code) ? text : `${text} (${code})`;
  return { message: `${ledgerName(url)}: ${why}`, cure: cureOf(code, text) };
}

/** Returns the same as an error for a failed query. */
export function readError(error: unknown, url: string): SvcError {
  const { message, cure } = questionInWords(error, url);
  return new SvcError('unavailable', `The ledger cannot be read: ${message}`, {
    code: 'RESOURCE_002',
    cure,
  });
}

/** As `inWords`, for a query: no rows wait for it. */
export function questionInWords(error: unknown, url: string): { message: string; cure: string } {
  const { message, cure } = inWords(error, url);
  return { message, cure: cure.replace(`; ${KEPT}`, '') };
}

function cureOf(code: string, text: string): string {
  if (/does not support SSL/.test(text))
    return 'Turn TLS on at the server, or write `sslmode=disable` in SVC_DB.';
  if (/altnames/i.test(text)) return TLS;
  if (/, open '/.test(text))
    return 'Correct the file that SVC_DB names: sslrootcert, sslcert or sslkey.';
  if (/timeout|terminated/i.test(text)) return REACH;
  const known = CURES.find(([start]) => code.startsWith(start));
  return known?.[1] ?? `See the log of the database server; ${KEPT}.`;
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** For a name with several addresses, Node's error has a list of them and no message. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return [...new Set(error.errors.map((one: unknown) => textOf(one)))].join(', ');
  return error instanceof Error ? error.message : String(error);
}
