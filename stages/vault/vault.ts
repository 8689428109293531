/**
 * An open vault: one index in sync with the log, searched and added to. The next search sees
 * whatever another process appends. Damage is never silent: the damaged file is moved aside, intact
 * data is kept, the rest is rebuilt, and `onProblem` is called.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError, toSvcError } from '../../engine/error.ts';
import { makePrivateDir } from '../private-file.ts';
import { openLock, type Lock } from '../lock.ts';
import { withPath } from '../disk-reason.ts';
import type { BlockInfo, BlockSource } from './block.ts';
import type { BlockIndex } from './backends/block-index.ts';
import { salvage } from './log/compact.ts';
import type { OpenedVault, VaultOptions, VaultStatus } from './contract.ts';
import { indexFolder } from './indexing/indexer.ts';
import { prepareBlock, resolveIngest, type IngestBlock, type IngestResult } from './ingest.ts';
import { createMemoryIndex } from './backends/json-blocks.ts';
import { layoutOf, stampOf, type Layout } from './log/layout.ts';
import { append, brokenLogError, LogFollower } from './log/log.ts';
import type { LogState } from './log/log.ts';
import { refuseForeignLog, refuseForeignDatabase } from './log/owner.ts';
import {
  DamagedContent,
  searchIndex,
  type SearchHit,
  type SearchOptions,
} from './search/search.ts';
import { isDatabaseDamage, moveDatabaseAside, rememberedRoots } from './backends/sqlite-damage.ts';
import { openSqliteIndex } from './backends/sqlite-fts.ts';
import { Tokenizer } from './words/tokenize.ts';
import { withdrawnFrom } from './withdrawn.ts';

/** Opens the vault at `indexDir` and starts loading it; the first search waits for that. */
export function openVault(options: VaultOptions): OpenedVault {
  return new OpenVault(options);
}

class OpenVault implements OpenedVault {
  readonly #options: VaultOptions;
  readonly #layout: Layout;
  readonly #tokenizer = new Tokenizer();
  readonly #stop = new AbortController();
  #index: BlockIndex | undefined;
  #follower: LogFollower | undefined;
  #appendLock: Lock | undefined;
  #syncLock: Lock | undefined;
  #state: LogState = 'missing';
  /** The last queued step; steps that change the index run one after the other. */
  #line: Promise<unknown> = Promise.resolve();
  #rebuilding: Promise<void> | undefined;
  #problems = 0;
  #isLoaded = false;

  constructor(options: VaultOptions) {
    this.#options = options;
    this.#layout = layoutOf(resolve(options.indexDir));
    // A failure recurs at the first search, which reports it.
    this.#refresh().catch(() => undefined);
  }

  search(query: string, options?: SearchOptions): Promise<SearchHit[]> {
    return this.#read((index) =>
      searchIndex(index, this.#follower?.fd, this.#tokenizer, query, options),
    );
  }

  withdrawn(blocks: readonly BlockSource[]): Promise<string[]> {
    return this.#read((index) => (this.#state === 'missing' ? [] : withdrawnFrom(index, blocks)));
  }

  async ingest(blocks: readonly IngestBlock[]): Promise<IngestResult[]> {
    const prepared = blocks.map((block) => prepareBlock(block, this.#tokenizer));
    await this.#refresh();
    const results = await this.#inLine(async () => {
      makePrivateDir(this.#layout.dir);
      let settled: readonly IngestResult[] = [];
      // Evaluated each time, as catching up may open another index.
      const opened = () => this.#opened();
      const select = (): readonly Buffer[] => {
        const made = resolveIngest(
          blocks,
          prepared,
          (id) => opened().index.findBlock(id),
          this.#tokenizer,
        );
        settled = made.results;
        return made.records;
      };
      const reader = {
        get offset() {
          return opened().follower().offset;
        },
        catchUp: () => this.#catchUp(),
      };
      await append(this.#target(), reader, select, true);
      return [...settled];
    });
    await this.#refresh();
    return results;
  }

  async status(): Promise<VaultStatus> {
    const index = await this.#refresh();
    return {
      ...index.totals(),
      available: this.#state === 'clean' || this.#state === 'torn',
      path: this.#layout.dir,
      backend: this.#options.backend,
      roots: index.roots(),
      rebuilding: this.#rebuilding !== undefined,
    };
  }

  async list({ offset = 0, limit = 1_000 } = {}): Promise<BlockInfo[]> {
    return (await this.#refresh()).list(offset, limit);
  }

  async settled(): Promise<void> {
    await this.#refresh();
    await this.#rebuilding;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#line.catch(() => undefined);
    await this.#rebuilding;
    await this.#follower?.close();
    this.#index?.close();
    this.#appendLock?.close();
    this.#syncLock?.close();
  }

  /** Runs `work` on one consistent, current state of the index; repairs damage on the way. */
  async #read<T extends object>(work: (index: BlockIndex) => T): Promise<T> {
    let isOvertaken = false;
    for (let damages = 0; ;) {
      const index = await this.#refresh(isOvertaken);
      try {
        const read = index.read(() => work(index));
        if (read !== undefined) return read;
        isOvertaken = true;
      } catch (error) {
        if (++damages > 2 || !(error instanceof DamagedContent || isDatabaseDamage(error)))
          throw this.#named(error);
        await this.#inLine(() => this.#mend(error));
      }
    }
  }

  /**
   * Returns the index brought up to date with the log; `isOvertaken`: another process moved it on,
   * even in the same log.
   */
  async #refresh(isOvertaken = false): Promise<BlockIndex> {
    if (this.#stop.signal.aborted) throw new SvcError('cancelled', 'The vault is closed');
    const { index } = this.#opened();
    const isCurrent = this.#follower?.isBehind() === false && this.#state !== 'corrupt';
    if (isCurrent && !isOvertaken) return index;
    return this.#inLine(async () => {
      for (let round = 1; ; round++) {
        try {
          this.#state = await this.#catchUp();
          if (this.#state !== 'corrupt' && this.#state !== 'outdated') return this.#loaded();
          if (round > 2) throw brokenLogError(this.#state);
          await this.#mend(new DamagedContent(this.#state));
        } catch (error) {
          if (round > 2 || !isDatabaseDamage(error)) throw this.#named(error);
          await this.#mend(error);
        }
      }
    });
  }

  /** Returns the index; the first call starts rebuilds that an earlier process left owed. */
  #loaded(): BlockIndex {
    const { index } = this.#opened();
    // Only now: later, another process rebuilding this index would owe too, and do that itself.
    if (!this.#isLoaded) this.#rebuild([...index.owed().keys()]);
    this.#isLoaded = true;
    return index;
  }

  #inLine<T>(step: () => Promise<T>): Promise<T> {
    const next = this.#line.catch(() => undefined).then(step);
    this.#line = next;
    return next;
  }

  async #catchUp(): Promise<LogState> {
    if (this.#index?.isLost?.() === true) await this.#letGo();
    const { index, follower } = this.#opened();
    if (index.resume === undefined || !existsSync(this.#layout.log)) return follower().catchUp();
    // Another process may be updating the same database.
    this.#syncLock ??= openLock(this.#layout.syncLock);
    return this.#syncLock.during(async () => {
      const at = await index.resume?.();
      if (
        at !== undefined &&
        (this.#follower?.fd === undefined || at.offset !== this.#follower.offset)
      ) {
        await this.#follower?.close();
        this.#follower = new LogFollower(this.#layout.log, index, at);
      }
      return follower().catchUp();
    });
  }

  async #letGo(): Promise<void> {
    await this.#follower?.close();
    this.#index?.close();
    this.#follower = this.#index = undefined;
  }

  /**
   * Returns index and follower; replaces a damaged database on the way. `follower` may return
   * another one after `catchUp`.
   */
  #opened(): { index: BlockIndex; follower: () => LogFollower } {
    this.#index ??= this.#openIndex();
    this.#follower ??= new LogFollower(this.#layout.log, this.#index);
    return { index: this.#index, follower: () => this.#follower! };
  }

  #openIndex(): BlockIndex {
    refuseForeignLog(this.#layout);
    if (this.#options.backend === 'json_blocks') return createMemoryIndex();
    const { log, database } = this.#layout;
    // Reading a missing vault creates no files; the database is created with the log.
    if (!existsSync(log) && !existsSync(database)) {
      return { ...createMemoryIndex(), isLost: () => existsSync(log) };
    }
    try {
      return openSqliteIndex(database);
    } catch (error) {
      if (!isDatabaseDamage(error)) throw this.#named(error);
      this.#notifyDatabase();
      return openSqliteIndex(database);
    }
  }

  #target() {
    this.#appendLock ??= openLock(this.#layout.appendLock);
    return { path: this.#layout.log, lock: this.#appendLock, newLogId: this.#options.newId };
  }

  /**
   * Runs in the queue. Afterwards there are a log and an index without damage, possibly with less
   * content.
   */
  async #mend(damage: unknown): Promise<void> {
    if (isDatabaseDamage(damage)) {
      await this.#letGo();
      this.#notifyDatabase();
      return;
    }
    refuseForeignLog(this.#layout);
    const remembered = rememberedRoots(this.#index);
    await this.#letGo();
    const { movedTo, roots, kept } = await salvage(this.#layout, this.#target(), this.#stamp(), {
      owe: (_root, before) => before ?? 0,
      roots: remembered,
    });
    const hint = ', and no folder is known that could be read again: run `svc index <folder>`';
    const what = `The vault index was damaged; ${kept} of its files and blocks were kept${roots.length === 0 ? hint : ''}`;
    // Otherwise another process has repaired and reported it.
    if (movedTo !== undefined) this.#options.onProblem?.({ what, movedTo });
    this.#rebuild(roots);
  }

  #named(error: unknown): unknown {
    return withPath(error, this.#layout.database);
  }

  #notifyDatabase(): void {
    refuseForeignDatabase(this.#layout);
    const movedTo = moveDatabaseAside(this.#layout.database, this.#stamp());
    const what = 'The vault database was damaged; it is rebuilt from the log';
    this.#options.onProblem?.({ what, movedTo });
  }

  /** Rereads the lost files in the background. */
  #rebuild(roots: readonly string[]): void {
    const { indexDir, clock, newId } = this.#options;
    const { signal } = this.#stop;
    if (roots.length === 0) return;
    const before = this.#rebuilding;
    const run = async (): Promise<void> => {
      await before;
      for (const root of roots) {
        if (signal.aborted || !existsSync(root)) continue;
        try {
          await indexFolder({ root, indexDir, clock, newId, signal });
        } catch (error) {
          const { kind, message } = toSvcError(error);
          if (kind === 'cancelled') return;
          const what = `The folder ${root} could not be indexed again: ${message}`;
          this.#options.onProblem?.({ what, movedTo: '' });
        }
      }
    };
    const rebuilding = run().finally(() => {
      if (this.#rebuilding === rebuilding) this.#rebuilding = undefined;
    });
    this.#rebuilding = rebuilding;
  }

  #stamp(): string {
    return `${stampOf(this.#options.clock)}-${++this.#problems}`;
  }
}
