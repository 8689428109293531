/**
 * The file that keeps conversation memories across restarts: every change is appended. Damage to
 * the file loses only the damaged lines. Several processes may write to the same file.
 */
import { constants, fstatSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { chmod, open, readFile, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../../engine/index.ts';
import { moveUnreadable } from '../move-aside.ts';
import { readLine, writeLine } from './record.ts';
import { RAW } from './sent-text.ts';
import { createStore } from './store.ts';
import type { ConversationStore, StoreLimits } from './store.ts';

/** The file is compacted once it exceeds the live data by this factor. */
const MAX_WASTE = 2;
/** Live data is taken to be at least this large, so that small files are not compacted. */
const MIN_CHARS = 1024 * 1024;
/** Characters per write during compaction; other work runs between writes. */
const PIECE_CHARS = 256 * 1024;

/**
 * Symbolic links are never followed: they would let someone else choose the file that is read or
 * written.
 */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

const DRAFT = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** A draft not written to for this long was left by a killed process. */
const STALE_DRAFT_MS = 60_000;

export interface StoreOptions extends StoreLimits {
  /** Absolute path of the file; its folder must exist. */
  readonly file: string;
  readonly clock: Pick<Clock, 'wallMs'>;
  /**
   * Called for every failed read or write; what could not be written lasts as long as the process.
   */
  readonly onProblem: (error: Error) => void;
}

/** Appends a store's changes to its file and reads what other processes append. */
class Appender {
  readonly #options: StoreOptions;
  readonly #store: () => ConversationStore;
  #waiting: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  /** A queued read that has not started; further calls share it. */
  #catchingUp: Promise<void> | undefined;
  #isScheduled = false;
  /** Bytes of the file already read or written by this process, and the file's inode. */
  #knownBytes: number;
  #inode: number;

  constructor(options: StoreOptions, store: () => ConversationStore, text: Buffer, inode: number) {
    this.#options = options;
    this.#store = store;
    // After the last complete line another process may still be writing.
    this.#knownBytes = text.lastIndexOf(0x0a) + 1;
    this.#inode = inode;
  }

  /** Schedules a line for the file; `text` includes the line end. */
  write(text: string): void {
    this.#waiting.push(text);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#writing = this.#writing.then(() => this.#write());
  }

  flush(): Promise<void> {
    return this.#writing;
  }

  isBehind(): boolean {
    const found = statSync(this.#options.file, { throwIfNoEntry: false });
    return found !== undefined && (found.size !== this.#knownBytes || found.ino !== this.#inode);
  }

  catchUp(): Promise<void> {
    this.#catchingUp ??= this.#writing = this.#writing
      .then(() => {
        this.#catchingUp = undefined;
        // The file may have grown only by our own lines, which are counted by now.
        return this.isBehind() ? this.#catchUp() : undefined;
      })
      .catch(this.#report);
    return this.#catchingUp;
  }

  readonly #report = (thrown: unknown): void => {
    this.#options.onProblem(thrown instanceof Error ? thrown : new Error(String(thrown)));
  };

  /** Reads the lines appended since. Applying one of our own lines again changes nothing. */
  async #catchUp(): Promise<void> {
    const handle = await open(this.#options.file, READ);
    try {
      const { ino, size } = await handle.stat();
      const from = ino === this.#inode && size >= this.#knownBytes ? this.#knownBytes : 0;
      const { buffer, bytesRead } = await handle.read(
        Buffer.alloc(size - from),
        0,
        size - from,
        from,
      );
      const whole = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      applyLines(this.#store(), buffer.toString('utf8', 0, whole));
      this.#inode = ino;
      this.#knownBytes = from + whole;
    } finally {
      await handle.close();
    }
  }

  async #write(): Promise<void> {
    this.#isScheduled = false;
    const text = this.#waiting.join('');
    this.#waiting = [];
    try {
      const { chars } = this.#store().figures;
      const isWasteful = this.#knownBytes + text.length > MAX_WASTE * Math.max(chars, MIN_CHARS);
      if (!(isWasteful && (await this.#compact()))) await this.#append(text);
    } catch (thrown) {
      this.#report(thrown);
    }
  }

  async #append(text: string): Promise<void> {
    const { file } = this.#options;
    const handle = await open(file, APPEND, 0o600);
    let bytes: Buffer;
    let now: Stats | undefined;
    try {
      // At once: what is known of an open file takes no disk.
      const { ino, size } = fstatSync(handle.fd);
      // A killed process may have left half a line at the end, so these start on a new line.
      bytes = Buffer.from(size === 0 ? text : `\n${text}`);
      await handle.appendFile(bytes);
      now = statSync(file, { throwIfNoEntry: false });
      // Another process has replaced the file, possibly without these lines.
      if (now?.ino !== ino) now = undefined;
    } finally {
      await handle.close();
    }
    if (now === undefined) return this.#append(text);
    const { size, ino } = now;
    const isSame = this.#inode === 0 || ino === this.#inode;
    const isOurs = isSame && size === this.#knownBytes + bytes.length;
    // Lines that another process wrote in between are read, with these, before the next decision.
    if (!isOurs) return;
    this.#inode = ino;
    this.#knownBytes = size;
  }

  /** Replaces the file with the live data only; returns false while another process does so. */
  async #compact(): Promise<boolean> {
    const { file, clock } = this.#options;
    const draft = await openDraft(`${file}.new`, clock);
    if (draft === undefined) return false;
    let old: FileHandle | undefined;
    try {
      old = await open(file, READ).catch(() => undefined);
      if (old !== undefined && this.isBehind()) await this.#catchUp();
      for (const piece of this.#pieces()) await draft.appendFile(piece);
      await draft.datasync();
      await rename(`${file}.new`, file);
      const appendedText = old === undefined ? '' : await readFrom(old, this.#knownBytes);
      const { ino, size } = await draft.stat();
      this.#inode = ino;
      this.#knownBytes = size;
      if (appendedText === '') return true;
      // These lines were appended to the old file during compaction.
      applyLines(this.#store(), appendedText);
      await this.#append(appendedText);
      return true;
    } finally {
      await old?.close();
      await draft.close();
    }
  }

  *#pieces(): Iterable<string> {
    let piece = '';
    for (const line of this.#store().lines()) {
      piece += writeLine(line);
      if (piece.length < PIECE_CHARS) continue;
      yield piece;
      piece = '';
    }
    yield piece;
  }
}

/**
 * Opens the draft that will replace the file; its name is the lock among processes. Returns
 * undefined while another process holds it; a draft left by a killed process is removed for the
 * next call.
 */
async function openDraft(
  path: string,
  clock: Pick<Clock, 'wallMs'>,
): Promise<FileHandle | undefined> {
  try {
    return await open(path, DRAFT, 0o600);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && clock.wallMs() - found.mtimeMs > STALE_DRAFT_MS)
      await rm(path, { force: true });
    return undefined;
  }
}

async function readFrom(handle: FileHandle, from: number): Promise<string> {
  const { size } = await handle.stat();
  if (size <= from) return '';
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
  return buffer.toString('utf8', 0, buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1);
}

/** Applies the lines of `text`; returns how many could be parsed. */
function applyLines(store: Pick<ConversationStore, 'take'>, text: string): number {
  let understood = 0;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const read = readLine(line);
    if (read === undefined) continue;
    understood += 1;
    store.take(read, line.length);
  }
  return understood;
}

/**
 * Reads the file. A symbolic link in its place is moved aside, not followed, and reported as an
 * error.
 */
async function readOwnFile({ file, clock }: StoreOptions): Promise<Buffer> {
  try {
    return await readFile(file, { flag: READ });
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ELOOP')) throw thrown;
    const where = moveUnreadable(file, clock.wallMs());
    throw new Error(`${file} is a link, which is not followed; it was moved to ${where}`, {
      cause: thrown,
    });
  }
}

/**
 * Counts the conversations in `file` that continued since `sinceMs` (epoch) and have remembered
 * blocks that were sent modified; thinking blocks may be signed over those. Returns 0 if the file
 * cannot be read. Changes nothing.
 */
export async function countRewritten(file: string, sinceMs: number): Promise<number> {
  const store = createStore({ wallMs: () => sinceMs });
  applyLines(store, await readFile(file, { flag: READ, encoding: 'utf8' }).catch(() => ''));
  let count = 0;
  for (const { atMs, sent } of store.records())
    if (atMs >= sinceMs && [...(sent?.values() ?? [])].some((text) => text !== RAW)) count += 1;
  return count;
}

/**
 * Opens a store with the memories of earlier processes. Never rejects: failures go to `onProblem`.
 */
export async function openStore(options: StoreOptions): Promise<ConversationStore> {
  const { file, clock, onProblem } = options;
  let appender: Appender | undefined;
  const base = createStore(clock, options, (text) => appender?.write(text));
  let bytes: Buffer = Buffer.alloc(0);
  try {
    const found = await readOwnFile(options);
    const text = found.toString('utf8');
    // If nothing is readable, a single line is from a killed process; several are another program's
    // file.
    if (applyLines(base, text) === 0 && text.trimEnd().includes('\n')) {
      const where = moveUnreadable(file, clock.wallMs());
      throw new Error(`${file} does not contain decisions; it was moved to ${where}`);
    }
    await chmod(file, 0o600);
    bytes = found;
  } catch (thrown) {
    const isNew = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
    if (!isNew) onProblem(thrown instanceof Error ? thrown : new Error(String(thrown)));
  }
  const inode = bytes.length === 0 ? 0 : (statSync(file, { throwIfNoEntry: false })?.ino ?? 0);
  let isBehind: boolean | undefined;
  const store: ConversationStore = {
    ...base,
    get figures() {
      return base.figures;
    },
    flush: () => appender!.flush(),
    isBehind() {
      // Requests that were read in one turn of the event loop share one look at the file.
      if (isBehind === undefined) queueMicrotask(() => (isBehind = undefined));
      return (isBehind ??= appender!.isBehind());
    },
    catchUp: () => appender!.catchUp(),
  };
  appender = new Appender(options, () => store, bytes, inode);
  return store;
}
