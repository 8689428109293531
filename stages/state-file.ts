/**
 * A small JSON document that lets a restarted process continue where the last one stopped. It is
 * replaced whole some seconds after a change, so a crash loses at most those seconds.
 */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../engine/index.ts';
import { moveAsideError } from './move-aside.ts';
import { isObject } from './dialect/json-kind.ts';
import type { JsonObject } from './dialect/json-kind.ts';
import { replaceFile } from './private-file.ts';

export interface StateFileOptions {
  /** Absolute path; its folder must exist. */
  readonly file: string;
  readonly clock: Clock;
  /**
   * Called if the document cannot be read, and for every failed write: the state is then lost with
   * the process.
   */
  readonly onProblem: (thrown: unknown) => void;
}

/** Version of the document; other versions are ignored. */
const FORMAT = 1;
const WRITE_AFTER_MS = 5000;

/**
 * Returns the members of the document; empty if there is no document. Throws file system errors,
 * and an `Error` for a document that this version of svc has not written.
 */
export async function readState(file: string): Promise<JsonObject> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return {};
    throw thrown;
  }
  const document: unknown = JSON.parse(text);
  if (isObject(document) && document['format'] === FORMAT) return document;
  throw new Error(`it is not of format ${FORMAT}`);
}

/**
 * Does the same for the process that writes the document: one that cannot be read is moved aside
 * and reported, since the next write would replace it. Never rejects.
 */
export async function openState({ file, clock, onProblem }: StateFileOptions): Promise<JsonObject> {
  try {
    return await readState(file);
  } catch (thrown) {
    onProblem(moveAsideError(file, thrown, clock.wallMs()));
    return {};
  }
}

/** Creates a writer of the members that `current` returns. */
export function createStateWriter(
  { file, clock, onProblem }: StateFileOptions,
  current: () => Readonly<Record<string, unknown>>,
) {
  let stopTimer: (() => void) | undefined;
  let writing = Promise.resolve();

  async function write(): Promise<void> {
    try {
      const document = JSON.stringify({ format: FORMAT, ...current() });
      await replaceFile(file, (draft) => draft.writeFile(document), { isDurable: false });
    } catch (thrown) {
      onProblem(thrown);
    }
  }

  function writeNow(): void {
    stopTimer?.();
    stopTimer = undefined;
    writing = writing.then(write);
  }

  return {
    /** Schedules a write, unless one is scheduled. */
    changed(): void {
      stopTimer ??= clock.after(WRITE_AFTER_MS, writeNow);
    },
    /** Resolves when every change is on disk, or could not be written. */
    async flush(): Promise<void> {
      if (stopTimer !== undefined) writeNow();
      await writing;
    },
  };
}
