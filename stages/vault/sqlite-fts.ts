/**
 * The `sqlite` backend: a database beside the log, kept in step with it. Which blocks hold
 * a term, and how often, is asked of FTS5; the scores are ours (`score.ts`).
 *
 * FTS5 keeps no counts in its smallest form (`detail=none`), and its own ranking clamps
 * the weight of frequent terms. So a count is made part of the token: a block that holds
 * "wing" three times is indexed under `wing!3`, and one range of the vocabulary gives all
 * blocks with their counts, several times faster than a MATCH with `bm25()`.
 */
import Database from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { SAFE, type BlockInfo, type StoredBlock } from './block.ts';
import type { BlockIndex, Place } from './block-index.ts';
import { createBreather } from './breathe.ts';
import { createPrivate } from './layout.ts';
import { blocksOf, keyOf, type Framed } from './record.ts';
import type { Corpus } from './score.ts';

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
  INSERT INTO terms(terms, rank) VALUES ('hashsize', 8388608);
`;
/** Changed with the schema; a database of another version is made anew from the log. */
const SCHEMA_VERSION = 1;
/** A commit writes a segment of the full-text index; more of them have to be merged more often. */
const COMMIT_BLOCKS = 250;
/** Decoded postings that are kept: 4 bytes each. */
const CACHED_POSTINGS = 2_000_000;

const INFO = `SELECT b.id, s.path AS sourcePath, s.root, b.from_line AS startLine,
  b.to_line AS endLine, b.risk AS riskClass, b.hash, b.tokens AS rawTokens
  FROM blocks b JOIN sources s ON s.number = b.source`;

/**
 * Opens the database at `path`, or makes it. Throws better-sqlite3's own error when the
 * file is damaged; the caller moves it aside and opens again.
 */
export function openSqliteIndex(path: string): BlockIndex {
  createPrivate(path);
  const database = new Database(path, { timeout: 10_000 });
  try {
    prepareDatabase(database);
  } catch (error) {
    database.close();
    throw error;
  }
  return new SqliteIndex(database);
}

function prepareDatabase(database: Database.Database): void {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.transaction(() => {
    if (database.pragma('user_version', { simple: true }) === SCHEMA_VERSION) return;
    clearSchema(database);
    database.exec(SCHEMA);
    database.pragma(`user_version = ${SCHEMA_VERSION}`);
  })();
}

function clearSchema(database: Database.Database): void {
  for (const table of ['vocabulary', 'terms', 'blocks', 'sources', 'position']) {
    database.exec(`DROP TABLE IF EXISTS ${table}`);
  }
}

class SqliteIndex implements BlockIndex, Corpus {
  readonly name = 'sqlite';
  readonly #database: Database.Database;
  readonly #statements: Statements;
  readonly #cache = new LRUCache<string, Uint32Array>({
    maxSize: CACHED_POSTINGS,
    sizeCalculation: (postings) => postings.length + 1,
  });
  #lengths = new Int32Array(1024);
  #unsafe = new Set<number>();
  #size = 0;
  #totalLength = 0;
  #logId = '';
  /** Up to where the numbers above are right; -1 before they were read. */
  #offset = -1;
  #uncommitted = 0;

  constructor(database: Database.Database) {
    this.#database = database;
    this.#statements = prepareStatements(database);
  }

  /** This index itself: it has what scoring asks for. */
  get corpus(): Corpus {
    return this;
  }

  get size(): number {
    return this.#size;
  }

  get totalLength(): number {
    return this.#totalLength;
  }

  /** The database forgets a block's terms together with the block. */
  get allLive(): boolean {
    return true;
  }

  get lengths(): Int32Array {
    return this.#lengths;
  }

  postings(term: string): Uint32Array {
    const cached = this.#cache.get(term);
    if (cached !== undefined) return cached;
    const rows = this.#statements.postings.all(term.length + 2, term, `${term}!~`) as number[];
    const postings = Uint32Array.from(rows);
    this.#cache.set(term, postings);
    return postings;
  }

  isSafe(block: number): boolean {
    return !this.#unsafe.has(block);
  }

  info(block: number): BlockInfo {
    return this.#statements.info.get(block) as BlockInfo;
  }

  place(block: number): Place {
    return this.#statements.place.get(block) as Place;
  }

  hashOf(id: string): string | undefined {
    return this.#statements.hashOf.pluck().get(id) as string | undefined;
  }

  totals() {
    return this.#statements.totals.get() as { blocks: number; files: number; tokens: number };
  }

  list(offset: number, limit: number): BlockInfo[] {
    return this.#statements.list.all(limit, offset) as BlockInfo[];
  }

  roots(): string[] {
    return this.#statements.roots.pluck().all() as string[];
  }

  async resume() {
    const row = this.#statements.position.get() as { logId: string; offset: number } | undefined;
    if (row === undefined) return undefined;
    if (row.logId !== this.#logId || row.offset !== this.#offset) await this.#load();
    [this.#logId, this.#offset] = [row.logId, row.offset];
    return row;
  }

  reset(logId: string): void {
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
    this.#database.transaction(() => {
      this.#database.exec('DELETE FROM blocks; DELETE FROM sources');
      this.#database.exec("INSERT INTO terms(terms) VALUES ('delete-all')");
      this.#statements.setPosition.run(logId, 0);
    })();
    this.#forget();
    [this.#logId, this.#offset] = [logId, 0];
  }

  apply(framed: Framed, buffer: Buffer, base: number): void {
    const { header } = framed;
    if (header.record === 'log' || header.record === 'touch') return;
    if (!this.#database.inTransaction) this.#database.exec('BEGIN IMMEDIATE');
    this.#cache.clear();
    const blocks = blocksOf(buffer, framed);
    const key = keyOf(header, blocks);
    this.#remove(key);
    if (header.record === 'drop') return;
    const root = header.record === 'file' ? header.root : '';
    const source = this.#statements.addSource.run(key, root, header.path).lastInsertRowid;
    for (const block of blocks) this.#add(source, block, base + framed.textAt + block.at);
  }

  reached(offset: number, last: boolean): void {
    if (offset === this.#offset && !this.#database.inTransaction) return;
    if (!last && this.#uncommitted < COMMIT_BLOCKS) return;
    this.#uncommitted = 0;
    this.#statements.setPosition.run(this.#logId, offset);
    if (this.#database.inTransaction) this.#database.exec('COMMIT');
    this.#offset = offset;
  }

  close(): void {
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
    this.#database.close();
  }

  #remove(key: string): void {
    const source = this.#statements.sourceOf.pluck().get(key) as number | undefined;
    if (source === undefined) return;
    for (const number of this.#statements.blocksOf.pluck().all(source) as number[]) {
      this.#statements.removeTerms.run(number);
      this.#size--;
      this.#totalLength -= this.#lengths[number] ?? 0;
      this.#lengths[number] = 0;
      this.#unsafe.delete(number);
    }
    this.#statements.removeBlocks.run(source);
    this.#statements.removeSource.run(source);
  }

  #add(source: number | bigint, block: StoredBlock, at: number): void {
    const { id, from, to, risk, hash, tokens, length, bytes, terms } = block;
    const number = Number(
      this.#statements.addBlock.run(source, id, from, to, risk, hash, tokens, length, at, bytes)
        .lastInsertRowid,
    );
    this.#statements.addTerms.run(number, terms);
    this.#uncommitted++;
    this.#note(number, length, risk);
  }

  #note(number: number, length: number, risk: string): void {
    if (number >= this.#lengths.length) {
      const larger = new Int32Array(Math.max(number + 1, this.#lengths.length * 2));
      larger.set(this.#lengths);
      this.#lengths = larger;
    }
    this.#lengths[number] = length;
    this.#size++;
    this.#totalLength += length;
    if (risk !== SAFE) this.#unsafe.add(number);
  }

  #forget(): void {
    this.#cache.clear();
    this.#lengths = new Int32Array(1024);
    this.#unsafe = new Set();
    [this.#size, this.#totalLength] = [0, 0];
  }

  /** Reads the lengths again, in steps. Pages by number, since no cursor may stay open over a pause. */
  async #load(): Promise<void> {
    this.#forget();
    const breathe = createBreather();
    for (let after = 0; ;) {
      const rows = this.#statements.lengths.all(after) as [number, number, string][];
      for (const [number, length, risk] of rows) this.#note(number, length, risk);
      if (rows.length === 0) return;
      after = rows.at(-1)![0];
      await breathe();
    }
  }
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(database: Database.Database) {
  const prepare = (sql: string): Database.Statement => database.prepare(sql);
  return {
    info: prepare(`${INFO} WHERE b.number = ?`),
    list: prepare(`${INFO} ORDER BY s.root, s.path, b.from_line, b.id LIMIT ? OFFSET ?`),
    place: prepare('SELECT at, bytes FROM blocks WHERE number = ?'),
    hashOf: prepare('SELECT hash FROM blocks WHERE id = ? LIMIT 1'),
    totals: prepare(`SELECT count(*) AS blocks, coalesce(sum(tokens), 0) AS tokens,
      (SELECT count(*) FROM sources WHERE root <> '') AS files FROM blocks`),
    roots: prepare("SELECT DISTINCT root FROM sources WHERE root <> '' ORDER BY root"),
    position: prepare('SELECT log_id AS logId, offset FROM position'),
    setPosition: prepare('INSERT OR REPLACE INTO position VALUES (1, ?, ?)'),
    sourceOf: prepare('SELECT number FROM sources WHERE key = ?'),
    addSource: prepare('INSERT INTO sources (key, root, path) VALUES (?, ?, ?)'),
    removeSource: prepare('DELETE FROM sources WHERE number = ?'),
    blocksOf: prepare('SELECT number FROM blocks WHERE source = ?'),
    addBlock: prepare(`INSERT INTO blocks
      (source, id, from_line, to_line, risk, hash, tokens, length, at, bytes)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    removeBlocks: prepare('DELETE FROM blocks WHERE source = ?'),
    addTerms: prepare('INSERT INTO terms (rowid, text) VALUES (?, ?)'),
    removeTerms: prepare('DELETE FROM terms WHERE rowid = ?'),
    lengths: database
      .prepare(
        'SELECT number, length, risk FROM blocks WHERE number > ? ORDER BY number LIMIT 2000',
      )
      .raw(),
    // The bare term means a count of one; `substr` then gives '' and so 0.
    postings: database
      .prepare(
        `SELECT doc * 256 + max(1, CAST(substr(term, ?) AS INTEGER)) FROM vocabulary
         WHERE term BETWEEN ? AND ?`,
      )
      .pluck(),
  };
}
