/**
 * Reads deferred work from answers: which work at the provider an answer is about, and whether it
 * has ended.
 */
import type { OwnWork, Usage } from '../model/usage.ts';
import { isObject, objectOf, stringOf } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

/** Its members in an object, and in the events of a stream that contain the object. */
const MEMBERS = ['object', 'id', 'status', 'background', 'output_file_id'] as const;
/** The members of an Anthropic batch, and of a Google operation. */
const OTHERS = ['type', 'processing_status', 'name', 'done', 'metadata'] as const;
export const WORK_PATHS = [...MEMBERS, ...OTHERS]
  .map((name): readonly [string, ...string[]] => [name])
  .concat(MEMBERS.map((name) => ['response', name]))
  .concat(MEMBERS.map((name) => ['interaction', name]));

/** The status of finished work; its figures no longer change. */
const FINAL = new Set(['completed', 'failed', 'incomplete', 'cancelled', 'canceled', 'expired']);
/** Work that is never waited for, whatever its request says. */
const DEFERRED = new Set(['batch', 'thread.run']);

/** Returns `usage` with the work it belongs to, by the values at `WORK_PATHS`. */
export function withWork(usage: Usage, values: readonly unknown[]): Usage {
  const all = MEMBERS.length + OTHERS.length;
  const [own, others] = [values.slice(0, MEMBERS.length), values.slice(MEMBERS.length, all)];
  const inside = all + MEMBERS.length;
  const work =
    toWork(own) ??
    toOther(own[1], others) ??
    toWork(values.slice(all, inside)) ??
    toWork(values.slice(inside));
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

function toOther(
  id: unknown,
  [type, processed, name, done, metadata]: readonly unknown[],
): OwnWork | undefined {
  if (type === 'message_batch' && typeof id === 'string')
    return { ids: [id], isFinal: processed === 'ended', isDeferred: true };
  // An operation has either of these, and its name contains its collection.
  if (typeof name !== 'string' || !name.includes('/')) return undefined;
  if (!isObject(metadata) && typeof done !== 'boolean') return undefined;
  return { ids: [name], isFinal: done === true, isDeferred: true };
}

/**
 * Returns the batch of a generative answer, with the files of its results; undefined for another
 * answer.
 */
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
