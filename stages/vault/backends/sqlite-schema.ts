/** The tables of the `sqlite` backend, and the statements over them. */
import type { SqliteConnection, SqliteStatement } from '../../sqlite.ts';

const SCHEMA = `
  CREATE TABLE position (one INTEGER PRIMARY KEY CHECK (one = 1), log_id TEXT, offset INTEGER);
  CREATE TABLE sources (number INTEGER PRIMARY KEY, key TEXT UNIQUE, root TEXT, path TEXT);
  CREATE TABLE blocks (
    number INTEGER PRIMARY KEY, source INTEGER, id TEXT, from_line INTEGER, to_line INTEGER,
    risk TEXT, hash TEXT, tokens INTEGER, length INTEGER, at INTEGER, bytes INTEGER);
  CREATE INDEX blocks_by_source ON blocks (source);
  CREATE INDEX blocks_by_id ON blocks (id);
  CREATE VIRTUAL TABLE terms USING fts5(
    text, content='', contentless_delete=1, detail=none,
    tokenize="ascii tokenchars '_$-./!'");
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, instance);
  CREATE TABLE owed (root TEXT PRIMARY KEY, reread_ms REAL);
  INSERT INTO terms(terms, rank) VALUES ('hashsize', 8388608);
`;
/** Changed with the schema; a database of another version is rebuilt from the log. */
const SCHEMA_VERSION = 2;
const INFO = `SELECT b.id, s.path AS sourcePath, s.root, b.from_line AS startLine,
  b.to_line AS endLine, b.risk AS riskClass, b.hash, b.tokens AS rawTokens
  FROM blocks b JOIN sources s ON s.number = b.source`;

/** Tables of svc, and those that FTS5 and SQLite itself add. */
const OWN_TABLE = /^(position|sources|blocks|owed|vocabulary|terms(_\w+)?|sqlite_\w+)$/;

/** A table that FTS5 creates beside ours; no other program would create it. */
const FTS5_TABLE = 'terms_config';

/** Returns true when another program has tables in it. */
export function isForeign(database: SqliteConnection): boolean {
  const select = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck();
  const names = select.all() as string[];
  if (names.some((name) => !OWN_TABLE.test(name))) return true;
  return names.length > 0 && !names.includes(FTS5_TABLE);
}

/** Sets a database up, and creates its tables unless it has those of this version. */
export function prepareDatabase(database: SqliteConnection): void {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.transaction(() => {
    if (database.pragma('user_version', { simple: true }) === SCHEMA_VERSION) return;
    clearSchema(database);
    database.exec(SCHEMA);
    database.pragma(`user_version = ${SCHEMA_VERSION}`);
  })();
}

function clearSchema(database: SqliteConnection): void {
  for (const table of ['vocabulary', 'terms', 'blocks', 'sources', 'position', 'owed']) {
    database.exec(`DROP TABLE IF EXISTS ${table}`);
  }
}

/** All queries of the index. */
const QUERIES = {
  info: `${INFO} WHERE b.number = ?`,
  list: `${INFO} ORDER BY s.root, s.path, b.from_line, b.id LIMIT ? OFFSET ?`,
  locate: 'SELECT at, bytes FROM blocks WHERE number = ?',
  held: `${INFO} WHERE b.id = ? LIMIT 1`,
  totals: `SELECT count(*) AS blocks, coalesce(sum(tokens), 0) AS tokens,
    (SELECT count(*) FROM sources WHERE root <> '') AS files FROM blocks`,
  roots: "SELECT root FROM sources WHERE root <> '' UNION SELECT root FROM owed",
  owed: 'SELECT root, reread_ms FROM owed',
  owe: 'INSERT OR REPLACE INTO owed VALUES (?, ?)',
  settle: 'DELETE FROM owed WHERE root = ?',
  position: 'SELECT log_id AS logId, offset FROM position',
  setPosition: 'INSERT OR REPLACE INTO position VALUES (1, ?, ?)',
  fileOf: 'SELECT number FROM sources WHERE key = ?',
  addFile: 'INSERT INTO sources (key, root, path) VALUES (?, ?, ?)',
  removeFile: 'DELETE FROM sources WHERE number = ?',
  blocksOf: 'SELECT number FROM blocks WHERE source = ?',
  addBlock: `INSERT INTO blocks
    (source, id, from_line, to_line, risk, hash, tokens, length, at, bytes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  removeBlocks: 'DELETE FROM blocks WHERE source = ?',
  addTerms: 'INSERT INTO terms (rowid, text) VALUES (?, ?)',
  removeTerms: 'DELETE FROM terms WHERE rowid = ?',
  lengths: 'SELECT number, length, risk FROM blocks WHERE number > ? ORDER BY number LIMIT 2000',
  // The bare term means a count of one; `substr` then gives '' and so 0.
  postings: `SELECT doc * 256 + max(1, CAST(substr(term, ?) AS INTEGER)) FROM vocabulary
    WHERE term BETWEEN ? AND ?`,
};

export type Statements = Readonly<Record<keyof typeof QUERIES, SqliteStatement>>;

/** Compiles the statements; the tables must be there. */
export function prepareStatements(database: SqliteConnection): Statements {
  const prepared = Object.entries(QUERIES).map(([name, sql]) => [name, database.prepare(sql)]);
  return Object.fromEntries(prepared) as Statements;
}
