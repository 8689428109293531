/**
 * Small decisions that must stay the same for as long as a conversation goes on,
 * also after a restart: which mode it began with, which block was too slow to
 * compress, what was injected where. One line of JSON each, appended to a file;
 * the newest ones are kept.
 */
import { constants } from 'node:fs';
import { appendFile, chmod, readFile } from 'node:fs/promises';
import type { Clock } from '../../engine/index.ts';
import { moveUnreadable } from '../aside.ts';
import { replaceFile } from '../private-file.ts';

/** Decisions kept; older ones belong to conversations that nobody continues. */
const MAX_DECISIONS = 20_000;
/** Characters kept, keys and values together: what was injected is some 16,000 a time. */
const MAX_CHARS = 32 * 1024 * 1024;
/** The file is written anew when it holds this many times the lines, or half as many times the characters, that count. */
const MAX_WASTE = 4;
/** Smaller files are not worth the work. */
const MIN_CHARS = 1024 * 1024;

/** A link is never followed: it would have us read, or write, what somebody else chose. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

export interface Decisions {
  /** The value last set for `key`, or undefined. */
  get(key: string): string | undefined;
  /** Sets `key`; in memory at once, on disk within the same turn of the disk. */
  set(key: string, value: string): void;
  /** Resolves when everything set so far is on disk, or could not be written. */
  flush(): Promise<void>;
  readonly size: number;
}

export interface DecisionsOptions {
  /** Absolute path of the file; its folder must exist. */
  readonly file: string;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Most characters kept, keys and values together; 32 Mi when absent. */
  readonly maxChars?: number;
  /** Hears once of every failure to read or write; decisions then last as long as the process. */
  readonly onTrouble: (error: Error) => void;
}

type Line = readonly [key: string, value: string];

function parseLines(text: string): Line[] {
  const lines: Line[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    try {
      const parsed: unknown = JSON.parse(line);
      if (!Array.isArray(parsed)) continue;
      const [key, value]: unknown[] = parsed;
      if (typeof key === 'string' && typeof value === 'string') lines.push([key, value]);
    } catch {
      // The last line of a process that was killed may be cut short; it is lost, the others are not.
    }
  }
  return lines;
}

const toText = (lines: Iterable<Line>): string =>
  [...lines].map((line) => `${JSON.stringify(line)}\n`).join('');

class FileDecisions implements Decisions {
  #options: DecisionsOptions;
  #values = new Map<string, string>();
  #chars = 0;
  #waiting: Line[] = [];
  #writing: Promise<void> = Promise.resolve();
  #isScheduled = false;
  #linesInFile = 0;
  #charsInFile = 0;

  constructor(options: DecisionsOptions, lines: readonly Line[]) {
    this.#options = options;
    for (const line of lines) {
      this.#keep(line);
      this.#countInFile(line);
    }
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: string): void {
    if (this.#values.get(key) === value) return;
    this.#keep([key, value]);
    this.#waiting.push([key, value]);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#writing = this.#writing.then(() => this.#write());
  }

  /** Makes the line the newest, and lets go of the oldest that are too many. */
  #keep([key, value]: Line): void {
    this.#forget(key);
    this.#values.set(key, value);
    this.#chars += key.length + value.length;
    const { maxChars = MAX_CHARS } = this.#options;
    while (this.#values.size > MAX_DECISIONS || (this.#chars > maxChars && this.size > 1)) {
      this.#forget(this.#values.keys().next().value!);
    }
  }

  #forget(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#chars -= key.length + value.length;
  }

  #countInFile([key, value]: Line): void {
    this.#linesInFile += 1;
    this.#charsInFile += key.length + value.length;
  }

  #isWasteful(): boolean {
    return (
      this.#linesInFile > MAX_WASTE * Math.max(this.#values.size, 256) ||
      this.#charsInFile > (MAX_WASTE / 2) * Math.max(this.#chars, MIN_CHARS)
    );
  }

  flush(): Promise<void> {
    return this.#writing;
  }

  async #write(): Promise<void> {
    this.#isScheduled = false;
    const lines = this.#waiting;
    this.#waiting = [];
    const { file, onTrouble } = this.#options;
    try {
      for (const line of lines) this.#countInFile(line);
      if (!this.#isWasteful()) {
        await appendFile(file, toText(lines), { mode: 0o600, flag: APPEND });
        return;
      }
      const all = [...this.#values];
      await replaceFile(file, (draft) => draft.writeFile(toText(all)));
      this.#linesInFile = 0;
      this.#charsInFile = 0;
      for (const line of all) this.#countInFile(line);
    } catch (thrown) {
      onTrouble(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }
}

/** Reads the file. A link that somebody put in its place is moved aside and not followed. */
async function readOwnFile({ file, clock }: DecisionsOptions): Promise<string> {
  try {
    return await readFile(file, { encoding: 'utf8', flag: READ });
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ELOOP')) throw thrown;
    const where = moveUnreadable(file, clock.wallMs());
    throw new Error(`${file} is a link, which is not followed; it was moved to ${where}`, {
      cause: thrown,
    });
  }
}

/** Reads the decisions of earlier processes and goes on from there. Never rejects. */
export async function openDecisions(options: DecisionsOptions): Promise<Decisions> {
  try {
    const text = await readOwnFile(options);
    const lines = parseLines(text);
    // One line that is cut short is a process that was killed; many that are not ours are somebody's file.
    if (lines.length === 0 && text.trimEnd().includes('\n')) {
      const where = moveUnreadable(options.file, options.clock.wallMs());
      throw new Error(`${options.file} does not contain decisions; it was moved to ${where}`);
    }
    await chmod(options.file, 0o600);
    return new FileDecisions(options, lines);
  } catch (thrown) {
    const isNew = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
    if (!isNew) options.onTrouble(thrown instanceof Error ? thrown : new Error(String(thrown)));
    return new FileDecisions(options, []);
  }
}
