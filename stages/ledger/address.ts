/**
 * The address of a ledger: a file path, or the URL of a Postgres database, which may contain a
 * password.
 */

const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;
const POSTGRES = /^postgres(?:ql)?:\/\//i;

export function isPostgresUrl(db: string): boolean {
  return POSTGRES.test(db);
}

/** Returns true for text that is a server's address and not a path. */
export function isUrl(db: string): boolean {
  return SCHEME.test(db);
}

/** Returns the ledger's name for display: a path unchanged, a URL without its secrets. */
export function ledgerName(db: string): string {
  if (!isPostgresUrl(db)) return db;
  const url = faultOfUrl(db) === undefined ? parsed(db) : undefined;
  if (url === undefined) return 'postgres://…';
  return `postgres://${url.searchParams.get('host') ?? decoded(url.host)}${url.pathname}`;
}

/** Returns the parts of a URL that must not be shown, as written and as sent to the server. */
export function passwordsOf(db: string): readonly string[] {
  const url = isPostgresUrl(db) ? parsed(db) : undefined;
  if (url === undefined) return [];
  const written = [url.password, url.searchParams.get('password') ?? ''];
  return [...new Set([...written, ...written.map(decoded)])].filter((one) => one !== '');
}

/** Returns why such a URL names no database; undefined if it does. */
export function faultOfUrl(db: string): string | undefined {
  if (!isPostgresUrl(db)) return 'it is an address that is neither a path nor a postgres:// URL';
  const url = parsed(db);
  // A password with such a character in it can look like a host followed by a name.
  if (url === undefined || url.hash !== '' || /[@/]/.test(url.pathname.slice(1)))
    return 'not a valid URL: in its password write / ? # @ : and % as %2F %3F %23 %40 %3A and %25';
  if (url.pathname.length < 2) return 'it names no database: it ends in one, as in //host/name';
  return undefined;
}

function parsed(db: string): URL | undefined {
  try {
    // With a user and no host, other parsers do not accept it as a URL.
    const url = new URL(db.replace(/@\//, '@localhost/'));
    if (decodable(url.username, url.password, url.pathname)) return url;
  } catch {
    // The error contains the whole text, so it is dropped.
  }
  return undefined;
}

function decodable(...parts: readonly string[]): boolean {
  return parts.every((part) => {
    try {
      decodeURIComponent(part);
      return true;
    } catch {
      return false;
    }
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
