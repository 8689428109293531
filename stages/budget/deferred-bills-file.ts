/**
 * Which deferred work is billed, on disk: work fetched before a restart costs nothing when it is
 * fetched again after it. One JSON document, replaced whole; without it the state starts empty.
 */
import { listOf, numberOf, objectOf, stringOf } from '../dialect/json-kind.ts';
import { createStateWriter, openState } from '../state-file.ts';
import type { StateFileOptions } from '../state-file.ts';
import { createDeferredBills } from './deferred-bills.ts';
import type { KnownWork } from './deferred-bills.ts';

/** Its name in the home folder. */
export const DEFERRED_BILLS_FILE = 'deferred-bills.json';

/** Opens the bills with what an earlier process knew. Never rejects. */
export async function openDeferredBills(options: StateFileOptions) {
  const { works } = await openState(options);
  const writer = createStateWriter(options, () => ({
    works: deferredBills.remembered(),
  }));
  const deferredBills = createDeferredBills(listOf(works).flatMap(toWorks), () => writer.changed());
  return { deferredBills, flush: () => writer.flush() };
}

/** Empty for an entry that svc does not write. */
function toWorks(entry: unknown): readonly KnownWork[] {
  const [id, state] = listOf(entry);
  if (typeof id !== 'string') return [];
  if (state === 'billed') return [[id, state]];
  const { nanoUsd, tokens, atMs, key, project } = objectOf(state);
  const [held, of, at] = [numberOf(nanoUsd), numberOf(tokens), numberOf(atMs)];
  if (held === undefined || of === undefined || at === undefined) return [];
  const owner = { key: stringOf(key), project: stringOf(project) };
  return [[id, { nanoUsd: held, tokens: of, atMs: at, ...owner }]];
}
