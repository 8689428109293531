/**
 * Which work is billed, as it lies on disk: what was fetched before a start costs nothing when it is
 * fetched again after it. One JSON document, replaced whole; without it everything begins anew.
 */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../engine/index.ts';
import { isObject, listOf, numberOf, objectOf, parseJson, stringOf } from '../dialect/json-kind.ts';
import { replaceFile } from '../private-file.ts';
import { createDeferredBills } from './deferred-bills.ts';
import type { KnownWork } from './deferred-bills.ts';

/** Its name in the home folder. */
export const DEFERRED_BILLS_FILE = 'deferred-bills.json';

export interface DeferredBillsFileOptions {
  /** Absolute path; its folder must exist. */
  readonly file: string;
  readonly clock: Clock;
  /** Hears of every failure to write; what is known then lasts as long as the process. */
  readonly onTrouble: (thrown: unknown) => void;
}

const FORMAT = 1;
/** So much of what is known may be lost with the process. */
const WRITE_AFTER_MS = 5000;

/** What is billed, with what an earlier process knew. Never rejects. */
export async function openDeferredBills({ file, clock, onTrouble }: DeferredBillsFileOptions) {
  let stopTimer: (() => void) | undefined;
  let writing = Promise.resolve();
  const earlier = await readWorks(file);

  async function write(): Promise<void> {
    try {
      const document = JSON.stringify({ format: FORMAT, works: deferredBills.remembered() });
      await replaceFile(file, (draft) => draft.writeFile(document), { isDurable: false });
    } catch (thrown) {
      onTrouble(thrown);
    }
  }

  function writeNow(): void {
    stopTimer?.();
    stopTimer = undefined;
    writing = writing.then(write);
  }

  const deferredBills = createDeferredBills(earlier, () => {
    stopTimer ??= clock.after(WRITE_AFTER_MS, writeNow);
  });
  return {
    deferredBills,
    /** Resolves when everything is in the file, or could not be written. */
    async flush(): Promise<void> {
      if (stopTimer !== undefined) writeNow();
      await writing;
    },
  };
}

async function readWorks(file: string): Promise<readonly KnownWork[]> {
  try {
    const document = parseJson(await readFile(file, 'utf8'));
    if (!isObject(document) || document['format'] !== FORMAT) return [];
    return listOf(document['works']).flatMap((one): KnownWork[] => {
      const [id, state] = listOf(one);
      if (typeof id !== 'string') return [];
      if (state === 'billed') return [[id, state]];
      const { nanoUsd, tokens, atMs, key, project } = objectOf(state);
      const [held, of, at] = [numberOf(nanoUsd), numberOf(tokens), numberOf(atMs)];
      if (held === undefined || of === undefined || at === undefined) return [];
      const [label, named] = [stringOf(key), stringOf(project)];
      return [[id, { nanoUsd: held, tokens: of, atMs: at, key: label, project: named }]];
    });
  } catch {
    return [];
  }
}
