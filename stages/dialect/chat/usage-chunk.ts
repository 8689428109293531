/**
 * A chat stream reports its usage only on request. If the client did not request it, we do, and
 * remove the extra chunk before the client sees it.
 */
import type { UsageRequest } from '../../model/dialect.ts';
import { dataOf, eventsHolding } from '../../wire/events.ts';
import { isObject, parseJson } from '../json-kind.ts';

export const chatUsageRequest: UsageRequest = Object.freeze<UsageRequest>({
  member: 'stream_options',
  value(json) {
    const options = isObject(json) ? json['stream_options'] : undefined;
    return { ...(isObject(options) ? options : {}), include_usage: true };
  },
  without: withoutUsage,
});

function isUsageOnly(data: string): boolean {
  if (!data.includes('"usage"') || !data.includes('"choices"')) return false;
  const chunk = parseJson(data);
  if (!isObject(chunk)) return false;
  const { choices, usage } = chunk;
  return Array.isArray(choices) && choices.length === 0 && isObject(usage);
}

/** Part of every event without choices, and of hardly any other. */
const EMPTY_LIST = [Buffer.from('[]'), Buffer.from('[ ]')];
const AT_BEGINNING = 0x0a0a0a;

/** Up to this size a copy costs less than writing another piece. */
const COPIED_BYTES = 4096;

/**
 * Returns these events without the one that only reports usage; the same buffer if there is none.
 */
function withoutUsage(bytes: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let keptTo = 0;
  eventsHolding({ bytes, before: AT_BEGINNING }, EMPTY_LIST, (event, start, end) => {
    if (!isUsageOnly(dataOf(event).toString('utf8'))) return;
    if (start > keptTo) pieces.push(bytes.subarray(keptTo, start));
    keptTo = end;
  });
  if (keptTo === 0) return [bytes];
  if (keptTo < bytes.length) pieces.push(bytes.subarray(keptTo));
  return pieces.length > 1 && bytes.length <= COPIED_BYTES ? [Buffer.concat(pieces)] : pieces;
}
