/** Where a ledger is: the path of a file, or the URL of a Postgres database, which may hold a password. */

const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;
const POSTGRES = /^postgres(?:ql)?:\/\//i;

export function isPostgresUrl(db: string): boolean {
  return POSTGRES.test(db);
}

/** True for what was meant as the address of some server, and is no path. */
export function isUrl(db: string): boolean {
  return SCHEME.test(db);
}

/** The ledger as people read of it: a path as it is, of a URL what is no secret. */
export function ledgerName(db: string): string {
  if (!isPostgresUrl(db)) return db;
  const url = faultOfUrl(db) === undefined ? parsed(db) : undefined;
  if (url === undefined) return 'postgres://…';
  return `postgres://${url.searchParams.get('host') ?? decoded(url.host)}${url.pathname}`;
}

/** What in a URL must not be shown, as it stands there and as the server is sent it. */
export function passwordsOf(db: string): readonly string[] {
  const url = isPostgresUrl(db) ? parsed(db) : undefined;
  if (url === undefined) return [];
  const written = [url.password, url.searchParams.get('password') ?? ''];
  return [...new Set([...written, ...written.map(decoded)])].filter((one) => one !== '');
}

/** Why such a URL names no database; undefined where it does. */
export function faultOfUrl(db: string): string | undefined {
  if (!isPostgresUrl(db)) return 'it is an address that is neither a path nor a postgres:// URL';
  const url = parsed(db);
  // A password with such a character in it can look like a host and a name behind it.
  if (url === undefined || url.hash !== '' || /[@/]/.test(url.pathname.slice(1)))
    return 'it is no URL: in its password write / ? # @ : and % as %2F %3F %23 %40 %3A and %25';
  if (url.pathname.length < 2) return 'it names no database: it ends in one, as in //host/name';
  return undefined;
}

function parsed(db: string): URL | undefined {
  try {
    // With a user and no host it is no URL to anybody else.
    const url = new URL(db.replace(/@\//, '@localhost/'));
    if (decodable(url.username, url.password, url.pathname)) return url;
  } catch {
    // What it throws holds the whole text.
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
