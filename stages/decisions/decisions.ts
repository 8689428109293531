/**
 * Small decisions that must stay the same for as long as a conversation goes on,
 * also after a restart: which mode it began with, which block was too slow to
 * compress, what was injected where. One line of JSON each, appended to a file;
 * the newest ones are kept.
 */
import { appendFile, chmod, readFile, rename, writeFile } from 'node:fs/promises';

/** Decisions kept; older ones belong to conversations that nobody continues. */
const MAX_DECISIONS = 20_000;
/** The file is written anew when it holds this many times the lines that count. */
const MAX_WASTE = 4;

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
  #values: Map<string, string>;
  #waiting: Line[] = [];
  #writing: Promise<void> = Promise.resolve();
  #isScheduled = false;
  #linesInFile: number;

  constructor(options: DecisionsOptions, lines: readonly Line[]) {
    this.#options = options;
    this.#values = new Map(lines.slice(-MAX_DECISIONS));
    this.#linesInFile = lines.length;
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: string): void {
    if (this.#values.get(key) === value) return;
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > MAX_DECISIONS) this.#values.delete(this.#values.keys().next().value!);
    this.#waiting.push([key, value]);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#writing = this.#writing.then(() => this.#write());
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
      if (this.#linesInFile + lines.length > MAX_WASTE * Math.max(this.#values.size, 256)) {
        await writeFile(`${file}.new`, toText(this.#values), { mode: 0o600 });
        await rename(`${file}.new`, file);
        this.#linesInFile = this.#values.size;
        return;
      }
      await appendFile(file, toText(lines), { mode: 0o600 });
      this.#linesInFile += lines.length;
    } catch (thrown) {
      onTrouble(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }
}

/** Reads the decisions of earlier processes and goes on from there. Never rejects. */
export async function openDecisions(options: DecisionsOptions): Promise<Decisions> {
  try {
    const text = await readFile(options.file, 'utf8');
    await chmod(options.file, 0o600);
    return new FileDecisions(options, parseLines(text));
  } catch (thrown) {
    const isNew = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
    if (!isNew) options.onTrouble(thrown instanceof Error ? thrown : new Error(String(thrown)));
    return new FileDecisions(options, []);
  }
}
