/**
 * Indexes a folder: finds changes since the log was written, has worker threads read the files, and
 * appends the records. Every batch is one append, so a killed indexer loses only unappended work,
 * and the next run continues from there.
 */
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { SvcError } from '../../../engine/error.ts';
import { reasonOf } from '../../disk-reason.ts';
import { untilAborted } from '../aborted.ts';
import { compact, isWorthCompacting } from '../log/compact.ts';
import { withIndexLocked, type LockedIndex } from './index-lock.ts';
import type { IndexOptions, IndexReport } from './index-run.ts';
import { createIgnoreRules, type IgnoreRules } from '../read/ignore-rules.ts';
import { isUnchanged, type KnownFile } from '../log/known-files.ts';
import { append } from '../log/log.ts';
import type { FileTask } from '../read/read-file.ts';
import { createReadPool, DEFAULT_WORKERS, type BatchReply } from '../read/read-pool.ts';
import { encodeNotice } from '../log/record.ts';
import { addSkip, inspect, walk, type FoundFile, type SkipCounts } from '../read/walk.ts';

/** Files per batch: enough to justify a message, few enough to balance the load. */
const BATCH_FILES = 32;
const BATCH_BYTES = 262_144;

/**
 * Brings the vault at `indexDir` up to date with the folder `root`. Throws `not_found` when the
 * folder cannot be read (nothing is forgotten then), and whatever `withIndexLocked` throws.
 */
export async function indexFolder(options: IndexOptions): Promise<IndexReport> {
  assertReadable(options.root);
  // Symbolic links are resolved, since the same files would be indexed again under another name.
  const root = realpathSync(options.root);
  return withIndexLocked(options, (index) =>
    new IndexRun({ ...index, options, requestedPath: root }).execute(),
  );
}

interface RunParts extends LockedIndex {
  readonly options: IndexOptions;
  readonly requestedPath: string;
}

class IndexRun {
  readonly #parts: RunParts;
  readonly #root: string;
  /** The part of the root to index, relative to it; empty for all of it. */
  readonly #under: string;
  readonly #rules: IgnoreRules;
  readonly #skipped: SkipCounts = {};
  readonly #found: FoundFile[] = [];
  readonly #startMs: number;
  #removed = 0;
  #indexed = 0;
  #blocks = 0;
  #done = 0;
  #written: Promise<void> = Promise.resolve();

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#startMs = parts.options.clock.monotonicMs();
    [this.#root, this.#under] = rootOf(parts.requestedPath, parts.known.roots(), parts.layout.dir);
    this.#rules = createIgnoreRules(this.#root, [parts.layout.dir]);
  }

  async execute(): Promise<IndexReport> {
    const { options, known, follower, target, layout } = this.#parts;
    await this.#find();
    const missingFiles = this.#isStopped() ? [] : this.#gone();
    const tasks = this.#changed();
    await this.#readAll(tasks);
    const drops = missingFiles.map(({ root, path }) =>
      encodeNotice({ record: 'drop', root, path }),
    );
    this.#removed += drops.length;
    drops.push(...this.#settled());
    // Durable even if empty, as it usually is: a finished run survives a power failure.
    await append(target, follower, () => [Buffer.concat(drops)], true);
    await follower.catchUp();
    if (isWorthCompacting(follower.offset, known.liveBytes, options.compactBytes)) {
      await compact(layout, target);
    }
    return {
      root: this.#root,
      files: this.#countFiles(),
      indexed: this.#indexed,
      unchanged: this.#found.length - tasks.length,
      removed: this.#removed,
      blocks: this.#blocks,
      skipped: this.#skipped,
      durationMs: options.clock.monotonicMs() - this.#startMs,
      complete: !this.#isStopped(),
    };
  }

  #isStopped(): boolean {
    return this.#parts.options.signal?.aborted === true;
  }

  async #find(): Promise<void> {
    const { only, signal } = this.#parts.options;
    if (only === undefined) {
      const options = { under: this.#under, ...(signal === undefined ? {} : { signal }) };
      const add = (file: FoundFile): void => void this.#found.push(file);
      Object.assign(this.#skipped, await walk(this.#root, this.#rules, add, options));
      return;
    }
    for (const path of only) {
      const full = this.#under === '' ? path : `${this.#under}/${path}`;
      const found = this.#rules.judgeDeep(full, false) ?? inspect(this.#root, full);
      if (typeof found === 'object') this.#found.push(found);
    }
  }

  /** Returns known files that no longer exist, and those of roots that this one covers. */
  #gone(): KnownFile[] {
    const { known, options } = this.#parts;
    const found = new Set(this.#found.map(({ path }) => path));
    const only = options.only === undefined ? undefined : [...options.only];
    const roots = only === undefined ? [...known.roots()] : [];
    const covered = new Set(roots.filter((root) => this.#covers(root)));
    return [...known.all()].filter(({ root, path }) => {
      if (root !== this.#root) return covered.has(root);
      if (found.has(path) || !isBelow(path, this.#under)) return false;
      const local = this.#under === '' ? path : path.slice(this.#under.length + 1);
      const looked = only?.some((one) => isBelow(local, one)) ?? true;
      return looked && !isInaccessible(join(root, path));
    });
  }

  /** Returns true for another root whose files this run finds as its own. */
  #covers(root: string): boolean {
    if (!isInside(root, this.#root)) return false;
    const local = localPath(this.#root, root);
    return isBelow(local, this.#under) && this.#rules.judgeDeep(local, true) === undefined;
  }

  #changed(): FileTask[] {
    const root = this.#root;
    const rereadMs = this.#parts.known.owed.get(root) ?? 0;
    return this.#found.flatMap((file): FileTask[] => {
      const known = this.#parts.known.get(root, file.path);
      const isOwed = known !== undefined && known.seenMs <= rereadMs;
      if (known !== undefined && !isOwed && isUnchanged(known, file)) return [];
      // An impossible hash: the file is known, but must be read in full.
      return [{ ...file, root, knownHash: isOwed ? '' : known?.hash }];
    });
  }

  /**
   * Returns the records that a complete run settles: everything owed to the folder and to those it
   * covers.
   */
  #settled(): Buffer[] {
    const { options, known } = this.#parts;
    const isWhole = options.only === undefined && this.#under === '';
    if (!isWhole || this.#isStopped()) return [];
    return [...known.owed.keys()]
      .filter((root) => root === this.#root || this.#covers(root))
      .map((root) => encodeNotice({ record: 'root', root }));
  }

  async #readAll(tasks: readonly FileTask[]): Promise<void> {
    if (tasks.length === 0) return;
    const { options } = this.#parts;
    const size = options.workers ?? DEFAULT_WORKERS;
    const settings = { parseCode: options.parseCode ?? true };
    const pool = options.pool ?? createReadPool(size, settings);
    const batches = toBatches(tasks);
    // Reading a file may be slow, and an abort must not wait for it. The race is made once, since
    // every batch that is raced with the abort would be kept until the end.
    const stop = untilAborted(options.signal);
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < batches.length && !this.#isStopped()) {
        const batch = batches[next++]!;
        const reply = await pool.read(batch);
        if (this.#isStopped()) return;
        await this.#take(reply, batch, tasks.length);
      }
    };
    try {
      // One more lane than threads, so that no thread idles while a batch is written.
      const lanes = Array.from({ length: size + 1 }, lane);
      await Promise.race([Promise.all(lanes), stop.aborted]);
      await this.#written;
    } finally {
      stop.close();
      if (options.pool === undefined) await pool.close();
    }
  }

  async #take(reply: BatchReply, batch: readonly FileTask[], total: number): Promise<void> {
    const { target, follower, options } = this.#parts;
    this.#written = this.#written.then(() =>
      append(target, follower, () => [toBuffer(reply.bytes)], false),
    );
    await this.#written;
    for (const [index, { outcome, blocks }] of reply.files.entries()) {
      if (outcome === 'indexed')
        [this.#indexed, this.#blocks] = [this.#indexed + 1, this.#blocks + blocks];
      else if (outcome !== 'touched') this.#leaveOut(outcome, batch[index]!);
    }
    this.#done += batch.length;
    const elapsedMs = Math.max(1, options.clock.monotonicMs() - this.#startMs);
    options.onProgress?.({
      total,
      done: this.#done,
      blocks: this.#blocks,
      filesPerSecond: (this.#done / elapsedMs) * 1000,
      remainingMs: (elapsedMs / this.#done) * (total - this.#done),
    });
  }

  #leaveOut(reason: Parameters<typeof addSkip>[1], { knownHash }: FileTask): void {
    addSkip(this.#skipped, reason);
    if (knownHash !== undefined && reason !== 'unreadable') this.#removed++;
  }

  #countFiles(): number {
    let files = 0;
    for (const { root, path } of this.#parts.known.all()) {
      if (root === this.#root && isBelow(path, this.#under)) files++;
    }
    return files;
  }
}

/**
 * Returns the root of a folder's files. A folder inside an indexed one is part of that one, or its
 * files would be in the vault twice; unless the outer one excludes it.
 */
function rootOf(path: string, roots: ReadonlySet<string>, indexDir: string): [string, string] {
  for (const root of roots) {
    if (!isInside(path, root)) continue;
    const under = localPath(root, path);
    const rules = createIgnoreRules(root, [indexDir]);
    if (rules.judgeDeep(under, true) === undefined) return [root, under];
  }
  return [path, ''];
}

function localPath(root: string, path: string): string {
  return relative(root, path).split(sep).join('/');
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function toBatches(tasks: readonly FileTask[]): FileTask[][] {
  const batches: FileTask[][] = [];
  let bytes = Infinity;
  for (const task of tasks) {
    if (bytes + task.size > BATCH_BYTES || batches.at(-1)!.length >= BATCH_FILES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(task);
    bytes += task.size;
  }
  return batches;
}

/** Returns true for a folder strictly inside another. */
export function isInside(path: string, outer: string): boolean {
  return path !== outer && path.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function isBelow(path: string, under: string): boolean {
  return under === '' || path === under || path.startsWith(`${under}/`);
}

/**
 * Returns true when a file may exist but is not accessible now, e.g. in a folder without
 * permission.
 */
function isInaccessible(path: string): boolean {
  try {
    lstatSync(path);
    return false;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** Throws `not_found` if `root` is not a folder or cannot be read. */
export function assertReadable(root: string): void {
  try {
    readdirSync(root);
  } catch (cause) {
    const isNoFolder = (cause as NodeJS.ErrnoException).code === 'ENOTDIR';
    if (isNoFolder && statSync(root, { throwIfNoEntry: false }) !== undefined) {
      throw new SvcError('not_found', `${root} is a file, not a folder`, {
        cause,
        cure: `Index its folder: \`svc index ${dirname(root)}\`.`,
      });
    }
    throw new SvcError('not_found', `The folder ${root} cannot be read: ${reasonOf(cause)}`, {
      cause,
      cure: 'If it is gone for good, `svc index --forget <folder>` removes it from the index.',
    });
  }
}
