/** Reads of answers that are about work which goes on at the provider by itself which work that is, and whether it has ended. */
import type { OwnWork, Usage } from '../model/usage.ts';
import { isObject, objectOf, stringOf } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

/** Where it stands in an object, and in the events of a stream that has the object inside. */
const MEMBERS = ['object', 'id', 'status', 'background', 'output_file_id'] as const;
export const WORK_PATHS = [
  ...MEMBERS.map((name) => [name] as const),
  ...MEMBERS.map((name) => ['response', name] as const),
];

/** The status of work that has ended; its figures do not change any more. */
const FINAL = new Set(['completed', 'failed', 'incomplete', 'cancelled', 'canceled', 'expired']);
/** What is never waited for, whatever its request says. */
const DEFERRED = new Set(['batch', 'thread.run']);

/** `usage` with the work that it is of, by the values at `WORK_PATHS`. */
export function withWork(usage: Usage, values: readonly unknown[]): Usage {
  const own = toWork(values.slice(0, MEMBERS.length));
  const work = own ?? toWork(values.slice(MEMBERS.length));
  return work === undefined ? usage : { ...usage, work };
}

function toWork([kind, id, status, background, file]: readonly unknown[]): OwnWork | undefined {
  if (typeof id !== 'string' || typeof status !== 'string') return undefined;
  const isDeferred = background === true || DEFERRED.has(String(kind));
  return {
    ids: typeof file === 'string' ? [id, file] : [id],
    isFinal: FINAL.has(status),
    ...(isDeferred && { isDeferred: true }),
  };
}

/** The batch of a generative answer, with the files of its results; undefined for another answer. */
export function generativeWork(
  payload: unknown,
): { work: OwnWork; output: JsonObject } | undefined {
  const { name, done, response, metadata } = objectOf(payload);
  const output = [response, objectOf(metadata)['output']].find(isObject);
  if (typeof name !== 'string' || output === undefined) return undefined;
  const file = stringOf(output['responsesFile']);
  const ids = file === undefined ? [name] : [name, file];
  return { work: { ids, isFinal: done === true, isDeferred: true }, output };
}
