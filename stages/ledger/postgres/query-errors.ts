/**
 * Messages for the user about errors of the database or of the connection to it. They never contain
 * a password.
 */
import { SvcError } from '../../../engine/index.ts';
import { ledgerName, passwordsOf } from '../address.ts';

const ROWS_ARE_KEPT = 'rows are kept in memory as long as they fit, and the proxy keeps trying';

const CHECK_SERVER = `Check that the server runs and that host and port in SVC_DB are right; ${ROWS_ARE_KEPT}.`;
const TLS =
  'Check that its certificate is for the host in SVC_DB and signed by an authority that Node knows (`sslrootcert`, NODE_EXTRA_CA_CERTS); `sslmode=no-verify` encrypts without looking at it.';

/** By the code of Node or the prefix of the server's (SQLSTATE). */
const CURES: readonly (readonly [start: string, cure: string])[] = [
  ['28', 'Correct the user and password in SVC_DB, or their entry in pg_hba.conf on the server.'],
  ['3D000', 'Create the database on its server (CREATE DATABASE); svc creates its tables itself.'],
  [
    '42501',
    'Grant the user in SVC_DB the rights: GRANT USAGE, CREATE ON SCHEMA to create the tables, SELECT to read them.',
  ],
  ['25006', 'SVC_DB names a read-only replica; name the server that accepts writes.'],
  ['53100', `Free disk space on the database server; ${ROWS_ARE_KEPT}.`],
  ['53300', 'Raise max_connections on the server, or put a connection pooler in front of it.'],
  ['57P', `The server is stopping or starting; ${ROWS_ARE_KEPT}.`],
  ['ECONN', CHECK_SERVER],
  ['ENOTFOUND', CHECK_SERVER],
  ['EAI_AGAIN', CHECK_SERVER],
  ['ETIMEDOUT', CHECK_SERVER],
  ['EHOSTUNREACH', CHECK_SERVER],
  ['ENETUNREACH', CHECK_SERVER],
  ['EPIPE', CHECK_SERVER],
  ['ENOENT', CHECK_SERVER],
  ['EACCES', CHECK_SERVER],
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

/** Returns the error's message in one line, with its code, and what to do. */
export function describeError(error: unknown, url: string): { message: string; cure: string } {
  const code = codeOf(error);
  let text = textOf(error).split('\n')[0] ?? '';
  for (const password of passwordsOf(url)) text = text.replaceAll(password, '…');
  const why = code === '' || text.includes(code) ? text : `${text} (${code})`;
  return { message: `${ledgerName(url)}: ${why}`, cure: cureOf(code, text) };
}

/** Returns the same as an error for a failed query. */
export function readError(error: unknown, url: string): SvcError {
  const { message, cure } = describeQueryError(error, url);
  return new SvcError('unavailable', `The ledger cannot be read: ${message}`, {
    code: 'RESOURCE_002',
    cure,
  });
}

/** Like `describeError`, for a query: no rows wait for it. */
export function describeQueryError(error: unknown, url: string): { message: string; cure: string } {
  const { message, cure } = describeError(error, url);
  return { message, cure: cure.replace(`; ${ROWS_ARE_KEPT}`, '') };
}

function cureOf(code: string, text: string): string {
  if (/does not support SSL/.test(text))
    return 'Turn TLS on at the server, or write `sslmode=disable` in SVC_DB.';
  if (/altnames/i.test(text)) return TLS;
  if (/, open '/.test(text))
    return 'Correct the file that SVC_DB names: sslrootcert, sslcert or sslkey.';
  if (/timeout|terminated/i.test(text)) return CHECK_SERVER;
  const known = CURES.find(([start]) => code.startsWith(start));
  return known?.[1] ?? `See the log of the database server; ${ROWS_ARE_KEPT}.`;
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
