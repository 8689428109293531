/**
 * Counts tokens at a provider of another dialect: the translated request is wrapped in the form of
 * that dialect's endpoint, and the number is written in the form that the client expects. Chat
 * servers have no such endpoint.
 */
import type { JsonObject, TranslatableDialect } from '../canonical.ts';
import { readGenerativeTarget } from '../generative/translate-fields.ts';
import { countOf, objectOf } from '../json-kind.ts';
import { countsTokens } from '../translatable.ts';
import type { CountingDialect } from '../translatable.ts';
import type { WrittenRequest } from './dialect.ts';
import { unreadableAnswer } from './errors.ts';

interface Counting {
  /** Returns the request that counts what `written` would send. */
  readonly request: (written: WrittenRequest) => WrittenRequest;
  /** The member of the answer with the number. */
  readonly member: string;
}

/** What Anthropic's endpoint takes besides the messages; it refuses any other member. */
const COUNTED = [
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
] as const;

const COUNTING: Readonly<Record<CountingDialect, Counting>> = {
  messages: {
    request: ({ body }) => ({
      path: '/v1/messages/count_tokens',
      body: Object.fromEntries(
        COUNTED.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])),
      ),
    }),
    member: 'input_tokens',
  },
  generative: {
    request: ({ path, body }) => ({
      path: `${path.slice(0, path.lastIndexOf(':'))}:countTokens`,
      body: {
        generateContentRequest: {
          model: `models/${readGenerativeTarget(path)?.model ?? ''}`,
          ...body,
        },
      },
    }),
    member: 'totalTokens',
  },
};

/** Returns the request that counts what `written` would send to a provider of dialect `to`. */
export function toCountRequest(to: TranslatableDialect, written: WrittenRequest): WrittenRequest {
  return countsTokens(to) ? COUNTING[to].request(written) : written;
}

/**
 * Returns the count of a provider of dialect `from` as a client of dialect `to` expects it. Throws
 * `bad_gateway` if there is none.
 */
export function translateCount(
  from: TranslatableDialect,
  to: TranslatableDialect,
  answer: unknown,
): JsonObject {
  const count = countsTokens(from) ? countOf(objectOf(answer)[COUNTING[from].member]) : null;
  if (count === null) throw unreadableAnswer('The provider counted no tokens');
  if (to === 'generative') return { totalTokens: count };
  return to === 'responses'
    ? { object: 'response.input_tokens', input_tokens: count }
    : { input_tokens: count };
}
