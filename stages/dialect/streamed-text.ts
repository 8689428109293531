/**
 * How many tokens a stream has sent so far, for one that broke off before its provider reported
 * usage. Only its beginning and its end are available, so the middle is assumed to be similar:
 * counting every event as it passes would make all streams pay for the few that are cut.
 */
import { eventsIn } from '../wire/events.ts';
import { estimateTokens } from '../model/tokens.ts';
import { isObject, listOf, parseJson } from './json-kind.ts';

/** Members with text written by the model, in the deltas of every dialect. */
const TEXT_MEMBERS = new Set([
  'text',
  'thinking',
  'partial_json',
  'content',
  'reasoning',
  'reasoning_content',
  'refusal',
  'arguments',
]);

/**
 * Estimates the output tokens in a stream of `totalBytes`, of which `samples` are pieces; 0 if they
 * contain no text.
 */
export function estimateStreamed(samples: readonly Buffer[], totalBytes: number): number {
  const sampledBytes = samples.reduce((sum, sample) => sum + sample.length, 0);
  if (sampledBytes === 0) return 0;
  const text = samples.map(textIn).join('');
  return Math.round((estimateTokens(text) * totalBytes) / sampledBytes);
}

/** Returns the text in the whole events of a sample; truncated ones are ignored. */
function textIn(bytes: Buffer): string {
  return eventsIn({ bytes, isPart: false, before: 0 })
    .map(({ data }) => (data === undefined ? '' : textOfEvent(parseJson(data))))
    .join('');
}

function textOfEvent(payload: unknown): string {
  if (!isObject(payload)) return '';
  const { delta, choices, candidates } = payload;
  if (typeof delta === 'string') return delta;
  const deltas = listOf(choices).map((choice) => isObject(choice) && choice['delta']);
  const contents = listOf(candidates).map((each) => isObject(each) && each['content']);
  return [delta, ...deltas, ...contents].map(textUnder).join('');
}

function textUnder(value: unknown): string {
  if (Array.isArray(value)) return value.map(textUnder).join('');
  if (!isObject(value)) return '';
  return Object.entries(value)
    .map(([name, member]) => {
      if (typeof member === 'string') return TEXT_MEMBERS.has(name) ? member : '';
      return name === 'args' ? JSON.stringify(member) : textUnder(member);
    })
    .join('');
}
