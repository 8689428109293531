/**
 * The `sqlite` backend: a database beside the log, kept in sync with it. FTS5 finds the blocks that
 * contain a term, and how often; scores are computed here (`score.ts`).
 *
 * FTS5 keeps no counts in its smallest form (`detail=none`), and its own ranking clamps
 * the weight of frequent terms. So a count is made part of the token: a block that contains
 * "wing" three times is indexed under `wing!3`, and one range of the vocabulary gives all
 * blocks with their counts, several times faster than a MATCH with `bm25()`.
 */
import { Database } from '../../sqlite.ts';
import type { SqliteConnection } from '../../sqlite.ts';
import { LRUCache } from 'lru-cache';
import { createPrivate, inodeOf } from '../../private-file.ts';
import { SAFE, type BlockInfo, type StoredBlock } from '../block.ts';
import type { BlockIndex, RecordLocation } from './block-index.ts';
import { createBreather } from '../breather.ts';
import type { LogPosition } from '../log/log.ts';
import { isFile, foreignFileError } from '../log/owner.ts';
import { blocksOf, fileKey, keyOf, type Framed } from '../log/record.ts';
import type { Corpus } from '../search/score.ts';
import { isForeign, prepareDatabase, prepareStatements, type Statements } from './sqlite-schema.ts';

/**
 * Blocks per commit. Each commit writes a segment of the full-text index, and more segments mean
 * more merging.
 */
const COMMIT_BLOCKS = 250;
/** Decoded postings that are cached: 4 bytes each. */
const CACHED_POSTINGS = 2_000_000;
/** Position of an index that nothing was read into yet. */
const NO_POSITION: LogPosition = { logId: '', offset: -1 };

/**
 * Opens the database at `path`, or creates it. Throws better-sqlite3's own error when the file is
 * damaged; the caller moves it aside and opens it again. Throws `config` when it belongs to another
 * program.
 */
export function openSqliteIndex(path: string): BlockIndex {
  if (!isFile(path)) throw foreignFileError(path);
  createPrivate(path);
  const inode = inodeOf(path);
  const database = new Database(path, { timeout: 10_000 });
  try {
    // Checked before anything is written: our table names are only used in a database of ours.
    if (isForeign(database)) throw foreignFileError(path);
    prepareDatabase(database);
  } catch (error) {
    database.close();
    throw error;
  }
  return new SqliteIndex(database, () => inodeOf(path) !== inode);
}

class SqliteIndex implements BlockIndex, Corpus {
  readonly isLost: () => boolean;
  readonly #database: SqliteConnection;
  readonly #statements: Statements;
  readonly #cache = new LRUCache<string, Uint32Array>({
    maxSize: CACHED_POSTINGS,
    sizeCalculation: (postings) => postings.length + 1,
  });
  #lengths = new Int32Array(1024);
  #unsafe = new Set<number>();
  #size = 0;
  #totalLength = 0;
  /** Log and offset that the numbers above reflect; `NO_POSITION` while they are read. */
  #logId = NO_POSITION.logId;
  #offset = NO_POSITION.offset;
  #uncommitted = 0;

  constructor(database: SqliteConnection, isLost: () => boolean) {
    this.#database = database;
    this.isLost = isLost;
    this.#statements = prepareStatements(database);
  }

  /** The index itself: it implements `Corpus`. */
  get corpus(): Corpus {
    return this;
  }

  get size(): number {
    return this.#size;
  }

  get totalLength(): number {
    return this.#totalLength;
  }

  /** The database deletes a block's terms together with the block. */
  get allLive(): boolean {
    return true;
  }

  get lengths(): Int32Array {
    return this.#lengths;
  }

  postings(term: string): Uint32Array {
    const cached = this.#cache.get(term);
    if (cached !== undefined) return cached;
    const { postings: statement } = this.#statements;
    const rows = statement.pluck().all(term.length + 2, term, `${term}!~`) as number[];
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

  locate(block: number): RecordLocation {
    return this.#statements.locate.get(block) as RecordLocation;
  }

  findBlock(id: string): BlockInfo | undefined {
    return this.#statements.held.get(id) as BlockInfo | undefined;
  }

  hasFile(root: string, path: string): boolean {
    return this.#statements.fileOf.pluck().get(fileKey(root, path)) !== undefined;
  }

  totals() {
    return this.#statements.totals.get() as { blocks: number; files: number; tokens: number };
  }

  list(offset: number, limit: number): BlockInfo[] {
    return this.#statements.list.all(limit, offset) as BlockInfo[];
  }

  roots(): string[] {
    return (this.#statements.roots.pluck().all() as string[]).toSorted();
  }

  owed(): ReadonlyMap<string, number> {
    return new Map(this.#statements.owed.raw().all() as [string, number][]);
  }

  read<T extends object>(work: () => T): T | undefined {
    // Lengths and postings are in memory, rows in the database: they are only consistent together.
    if (this.#database.inTransaction) return undefined;
    return this.#database.transaction(() => (this.#isAt(this.#position()) ? work() : undefined))();
  }

  async resume() {
    const row = this.#position();
    if (row === undefined) return undefined;
    if (!this.#isAt(row)) await this.#load();
    [this.#logId, this.#offset] = [row.logId, row.offset];
    return row;
  }

  reset(logId: string): void {
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
    this.#database.transaction(() => {
      this.#database.exec('DELETE FROM blocks; DELETE FROM sources; DELETE FROM owed');
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
    if (header.record === 'root') {
      if (header.rereadMs === undefined) this.#statements.settle.run(header.root);
      else this.#statements.owe.run(header.root, header.rereadMs);
      return;
    }
    this.#cache.clear();
    const blocks = blocksOf(buffer, framed);
    const key = keyOf(header, blocks);
    this.#remove(key);
    if (header.record === 'drop') return;
    const root = header.record === 'file' ? header.root : '';
    const file = this.#statements.addFile.run(key, root, header.path).lastInsertRowid;
    for (const block of blocks) this.#add(file, block, base + framed.textAt + block.at);
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

  #position(): LogPosition | undefined {
    return this.#statements.position.get() as LogPosition | undefined;
  }

  #isAt(position: LogPosition = NO_POSITION): boolean {
    return position.logId === this.#logId && position.offset === this.#offset;
  }

  #remove(key: string): void {
    const file = this.#statements.fileOf.pluck().get(key) as number | undefined;
    if (file === undefined) return;
    for (const number of this.#statements.blocksOf.pluck().all(file) as number[]) {
      this.#statements.removeTerms.run(number);
      this.#size--;
      this.#totalLength -= this.#lengths[number] ?? 0;
      this.#lengths[number] = 0;
      this.#unsafe.delete(number);
    }
    this.#statements.removeBlocks.run(file);
    this.#statements.removeFile.run(file);
  }

  #add(file: number | bigint, block: StoredBlock, at: number): void {
    const { id, from, to, risk, hash, tokens, length, bytes, terms } = block;
    const number = Number(
      this.#statements.addBlock.run(file, id, from, to, risk, hash, tokens, length, at, bytes)
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
    [this.#logId, this.#offset] = [NO_POSITION.logId, NO_POSITION.offset];
    this.#cache.clear();
    this.#lengths = new Int32Array(1024);
    this.#unsafe = new Set();
    [this.#size, this.#totalLength] = [0, 0];
  }

  /**
   * Rereads the lengths, in steps. Pages by number, since no cursor may stay open across a pause.
   */
  async #load(): Promise<void> {
    this.#forget();
    const breathe = createBreather();
    for (let after = 0; ;) {
      const rows = this.#statements.lengths.raw().all(after) as [number, number, string][];
      for (const [number, length, risk] of rows) this.#note(number, length, risk);
      if (rows.length === 0) return;
      after = rows.at(-1)![0];
      await breathe();
    }
  }
}
