/**
 * Cached responses on disk, one file each, so that they outlive the process: evicted by bytes,
 * least recently used first, or when expired.
 *
 * Files are written under a temporary name and renamed, with mode 0600 in a folder of mode 0700. A
 * file that cannot be read back as written is removed and counts as a miss. The index is in memory,
 * built from the folder at start; the last use is stored as the file's modification time. Two
 * processes may share a folder: each sees the other's answers after its next start, and neither
 * returns a partial one.
 */
import { randomBytes } from 'node:crypto';
import {
  chmod,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../engine/index.ts';
import { createLookupCount, largestAnswer } from './answer.ts';
import type { AnswerBounds, AnswerStats, AnswerStore, KeptAnswer } from './answer.ts';
import { decodeAnswer, encodeAnswer } from './file-format.ts';

export interface DiskAnswersOptions extends AnswerBounds {
  /** Created if missing; only our own files in it are touched. */
  readonly folder: string;
  readonly clock: Clock;
}

/** Names of our files: an answer by its key, and a draft. */
const ANSWER_FILE = /^([0-9a-f]{64})\.answer$/;
const DRAFT_FILE = /^[0-9a-f]{64}\.[0-9a-f]{12}\.draft$/;
/** Answers waiting for the disk take at most this much memory; beyond it they are not stored. */
const MAX_QUEUED_BYTES = 32 * 1024 * 1024;

/**
 * Opens the store in `folder`. Rejects with the system's error if the folder cannot be created or
 * listed.
 */
export async function openDiskAnswers(options: DiskAnswersOptions): Promise<AnswerStore> {
  const store = new DiskAnswers(options);
  await store.open();
  return store;
}

class DiskAnswers implements AnswerStore {
  readonly #options: DiskAnswersOptions;
  #bounds: AnswerBounds;
  readonly #lookups = createLookupCount();
  /** File sizes by key, least recently used first. */
  readonly #sizes = new Map<string, number>();
  #bytes = 0;
  #failures = 0;
  /** Files being written, by key: a look-up in the meantime is served from here. */
  readonly #queued = new Map<string, Buffer>();
  #queuedBytes = 0;
  /** Changes of the folder, one after the other. Never rejects. */
  #work: Promise<void> = Promise.resolve();

  constructor(options: DiskAnswersOptions) {
    this.#options = options;
    this.#bounds = options;
  }

  async open(): Promise<void> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const found: { key: string; bytes: number; usedMs: number }[] = [];
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (DRAFT_FILE.test(name)) await rm(path, { force: true });
      const key = ANSWER_FILE.exec(name)?.[1];
      const file = key === undefined ? undefined : await stat(path).catch(() => undefined);
      if (key && file?.isFile()) found.push({ key, bytes: file.size, usedMs: file.mtimeMs });
    }
    for (const { key, bytes } of found.toSorted((a, b) => a.usedMs - b.usedMs)) {
      this.#remember(key, bytes);
    }
    await this.#evict();
  }

  get(key: string): undefined | Promise<KeptAnswer | undefined> {
    if (this.#sizes.has(key) || this.#queued.has(key)) return this.#read(key);
    this.#lookups.add(false);
    return undefined;
  }

  put(key: string, answer: KeptAnswer): void {
    const file = encodeAnswer({ key, keptAtMs: this.#options.clock.wallMs(), answer });
    if (file.length > largestAnswer(this.#bounds.maxBytes)) return;
    if (this.#queuedBytes + file.length > MAX_QUEUED_BYTES) {
      this.#failures += 1;
      return;
    }
    this.#queuedBytes += file.length;
    this.#queued.set(key, file);
    void this.#enqueue(async () => {
      try {
        await this.#write(key, file);
      } finally {
        this.#queuedBytes -= file.length;
        if (this.#queued.get(key) === file) this.#queued.delete(key);
      }
    });
  }

  stats(): AnswerStats {
    return {
      ...this.#lookups.view(),
      entries: this.#sizes.size,
      bytes: this.#bytes,
      failures: this.#failures,
    };
  }

  configure(bounds: AnswerBounds): void {
    this.#bounds = bounds;
    void this.#enqueue(() => this.#evict());
  }

  clear(): Promise<void> {
    this.#queued.clear();
    return this.#enqueue(async () => {
      for (const key of this.#sizes.keys()) await this.#remove(key);
    });
  }

  settled(): Promise<void> {
    return this.#work;
  }

  #enqueue(change: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(change).catch(() => {
      this.#failures += 1;
    });
    return this.#work;
  }

  async #read(key: string): Promise<KeptAnswer | undefined> {
    const stored = await this.#load(key);
    this.#lookups.add(stored !== undefined);
    if (stored === undefined) {
      await this.#enqueue(() => this.#remove(key));
      return undefined;
    }
    const bytes = this.#sizes.get(key);
    if (bytes === undefined) return stored;
    this.#remember(key, bytes);
    // The order of eviction is not worth a failed request.
    void this.#stampUse(this.#fileOf(key)).catch(() => undefined);
    return stored;
  }

  /**
   * Returns the answer in a file, unless it is damaged, belongs to another key, has expired or is
   * dated in the future.
   */
  async #load(key: string): Promise<KeptAnswer | undefined> {
    const file =
      this.#queued.get(key) ?? (await readFile(this.#fileOf(key)).catch(() => undefined));
    const stored = file === undefined ? undefined : decodeAnswer(file);
    if (stored?.key !== key) {
      // An entry that was evicted meanwhile is not a failure.
      if (this.#sizes.has(key)) this.#failures += 1;
      return undefined;
    }
    const ageMs = this.#options.clock.wallMs() - stored.keptAtMs;
    return ageMs >= 0 && ageMs < this.#bounds.ttlMs ? stored.answer : undefined;
  }

  async #write(key: string, file: Buffer): Promise<void> {
    const draft = join(this.#options.folder, `${key}.${randomBytes(6).toString('hex')}.draft`);
    try {
      await writeFile(draft, file, { flag: 'wx', mode: 0o600 });
      await this.#stampUse(draft);
      await rename(draft, this.#fileOf(key));
    } catch (thrown) {
      await rm(draft, { force: true });
      throw thrown;
    }
    this.#remember(key, file.length);
    await this.#evict();
  }

  #stampUse(path: string): Promise<void> {
    const now = new Date(this.#options.clock.wallMs());
    return utimes(path, now, now);
  }

  async #evict(): Promise<void> {
    for (const key of this.#sizes.keys()) {
      if (this.#bytes <= this.#bounds.maxBytes) return;
      await this.#remove(key);
    }
  }

  async #remove(key: string): Promise<void> {
    this.#bytes -= this.#sizes.get(key) ?? 0;
    this.#sizes.delete(key);
    await rm(this.#fileOf(key), { force: true });
  }

  /** Moves a file to the recent end of the index. */
  #remember(key: string, bytes: number): void {
    this.#bytes += bytes - (this.#sizes.get(key) ?? 0);
    this.#sizes.delete(key);
    this.#sizes.set(key, bytes);
  }

  #fileOf(key: string): string {
    return join(this.#options.folder, `${key}.answer`);
  }
}
