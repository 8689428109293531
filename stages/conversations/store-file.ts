/**
 * The file of the memories: every change is appended to it, so that they outlive the process. A file that is
 * damaged costs what stood in the damaged part. Another process may write to the same file.
 */
import { constants, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { chmod, open, readFile, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../../engine/index.ts';
import { moveUnreadable } from '../aside.ts';
import { readLine, writeLine } from './record.ts';
import type { Line } from './record.ts';
import { RAW } from './sent-text.ts';
import { createStore, storeOf } from './store.ts';
import type { ConversationStore, StoreLimits } from './store.ts';

/** The file is written again when it is this many times as large as what counts of it. */
const MAX_WASTE = 2;
/** Smaller files are not worth the work. */
const MIN_CHARS = 1024 * 1024;
/** Characters that are written at once; in between others have their turn. */
const PIECE_CHARS = 256 * 1024;

/** A link is never followed: it would have us read, or write, what somebody else chose. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

const DRAFT = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** A draft without a write for this time was left by a process that was killed. */
const LEFT_MS = 60_000;

export interface StoreOptions extends StoreLimits {
  /** Absolute path of the file; its folder must exist. */
  readonly file: string;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Called for every failure to read or write; memories then last as long as the process. */
  readonly onTrouble: (error: Error) => void;
}

/** The file of a store. */
class Appender {
  readonly #options: StoreOptions;
  readonly #store: () => ConversationStore;
  #waiting: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  /** One that has not begun: who asks in the meantime gets the same. */
  #catchingUp: Promise<void> | undefined;
  #isScheduled = false;
  /** Bytes of the file that are known here, and which file it was. */
  #knownBytes: number;
  #inode: number;

  constructor(options: StoreOptions, store: () => ConversationStore, text: Buffer, inode: number) {
    this.#options = options;
    this.#store = store;
    // Behind the last whole line another process may be writing.
    this.#knownBytes = text.lastIndexOf(0x0a) + 1;
    this.#inode = inode;
  }

  write(line: Line): void {
    this.#waiting.push(writeLine(line));
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
        // The file may have grown by lines of our own alone, which are known by now.
        return this.isBehind() ? this.#catchUp() : undefined;
      })
      .catch(this.#trouble);
    return this.#catchingUp;
  }

  readonly #trouble = (thrown: unknown): void => {
    this.#options.onTrouble(thrown instanceof Error ? thrown : new Error(String(thrown)));
  };

  /** Lines of our own may be among them: to take one up twice changes nothing. */
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
      takeLines(this.#store(), buffer.toString('utf8', 0, whole));
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
      if (!(isWasteful && (await this.#writeAgain()))) await this.#append(text);
    } catch (thrown) {
      this.#trouble(thrown);
    }
  }

  async #append(text: string): Promise<void> {
    const { file } = this.#options;
    const handle = await open(file, APPEND, 0o600);
    let bytes: Buffer;
    let now: Stats | undefined;
    try {
      const { ino, size } = await handle.stat();
      // At the end may be half a line of a process that was killed: these begin a line of their own.
      bytes = Buffer.from(size === 0 ? text : `\n${text}`);
      await handle.appendFile(bytes);
      now = statSync(file, { throwIfNoEntry: false });
      // Another process has replaced the file, perhaps without these lines.
      if (now?.ino !== ino) now = undefined;
    } finally {
      await handle.close();
    }
    if (now === undefined) return this.#append(text);
    const { size, ino } = now;
    const isSame = this.#inode === 0 || ino === this.#inode;
    const isOurs = isSame && size === this.#knownBytes + bytes.length;
    // What another process wrote in between is read, with these lines, before the next decision.
    if (!isOurs) return;
    this.#inode = ino;
    this.#knownBytes = size;
  }

  /** Replaces the file by what counts of it; false while another process does so. */
  async #writeAgain(): Promise<boolean> {
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
      const late = old === undefined ? '' : await readFrom(old, this.#knownBytes);
      const { ino, size } = await draft.stat();
      this.#inode = ino;
      this.#knownBytes = size;
      if (late === '') return true;
      // Written to the old file while this one was made.
      takeLines(this.#store(), late);
      await this.#append(late);
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
 * Opens the draft of a file that several processes replace, whose name is their lock; undefined while another one
 * has it. One that a killed process has left is removed, for the next time.
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
    if (found !== undefined && clock.wallMs() - found.mtimeMs > LEFT_MS)
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

/** Returns how many lines were understood. */
function takeLines(store: Pick<ConversationStore, 'take'>, text: string): number {
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

/** Reads the file. A link that somebody put in its place is moved aside and not followed. */
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
 * How many conversations in `file` were continued since `sinceMs` and hold blocks that went out otherwise than
 * they came, where the model may have thought over them; 0 where nothing can be read. Changes nothing.
 */
export async function countRewritten(file: string, sinceMs: number): Promise<number> {
  const store = createStore({ wallMs: () => sinceMs });
  takeLines(store, await readFile(file, { flag: READ, encoding: 'utf8' }).catch(() => ''));
  let count = 0;
  for (const { atMs, sent } of store.records())
    if (atMs >= sinceMs && [...(sent?.values() ?? [])].some((text) => text !== RAW)) count += 1;
  return count;
}

/** Reads the memories of earlier processes and goes on from there. Never rejects. */
export async function openStore(options: StoreOptions): Promise<ConversationStore> {
  const { file, clock, onTrouble } = options;
  let appender: Appender | undefined;
  const base = storeOf({ clock, limits: options, write: (line) => appender?.write(line) });
  let bytes: Buffer = Buffer.alloc(0);
  try {
    const found = await readOwnFile(options);
    const text = found.toString('utf8');
    // One line that is cut short is a process that was killed; many that are not ours are another program's file.
    if (takeLines(base, text) === 0 && text.trimEnd().includes('\n')) {
      const where = moveUnreadable(file, clock.wallMs());
      throw new Error(`${file} does not contain decisions; it was moved to ${where}`);
    }
    await chmod(file, 0o600);
    bytes = found;
  } catch (thrown) {
    const isNew = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
    if (!isNew) onTrouble(thrown instanceof Error ? thrown : new Error(String(thrown)));
  }
  const inode = bytes.length === 0 ? 0 : (statSync(file, { throwIfNoEntry: false })?.ino ?? 0);
  const store: ConversationStore = {
    ...base,
    get figures() {
      return base.figures;
    },
    flush: () => appender!.flush(),
    isBehind: () => appender!.isBehind(),
    catchUp: () => appender!.catchUp(),
  };
  appender = new Appender(options, () => store, bytes, inode);
  return store;
}
