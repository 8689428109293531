/**
 * Remembers on disk which deferred work was billed, so that its result costs nothing when it is
 * fetched again after a restart. One JSON document, replaced as a whole; without it the state
 * starts empty.
 */
import { listOf, numberOf, objectOf, stringOf } from '../dialect/json-kind.ts';
import { createStateWriter, openState } from '../state-file.ts';
import type { StateFileOptions } from '../state-file.ts';
import { createDeferredBills } from './deferred-bills.ts';
import type { KnownJob } from './deferred-bills.ts';

/** File name in the home folder. */
export const DEFERRED_BILLS_FILE = 'deferred-bills.json';

/** Opens the state that an earlier process stored. Never rejects. */
export async function openDeferredBills(options: StateFileOptions) {
  const { works: stored } = await openState(options);
  const writer = createStateWriter(options, () => ({
    works: deferredBills.remembered(),
  }));
  const deferredBills = createDeferredBills(listOf(stored).flatMap(toJobs), () => writer.changed());
  return { deferredBills, flush: () => writer.flush() };
}

/** Returns nothing for an entry that svc does not write. */
function toJobs(entry: unknown): readonly KnownJob[] {
  const [id, state] = listOf(entry);
  if (typeof id !== 'string') return [];
  if (state === 'billed') return [[id, state]];
  const { nanoUsd, tokens, atMs, key, project } = objectOf(state);
  const cost = numberOf(nanoUsd);
  const count = numberOf(tokens);
  const startMs = numberOf(atMs);
  if (cost === undefined || count === undefined || startMs === undefined) return [];
  const owner = { key: stringOf(key), project: stringOf(project) };
  return [[id, { nanoUsd: cost, tokens: count, atMs: startMs, ...owner }]];
}
