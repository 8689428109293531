/** Recorded answers through the translator and into the SDK of each other dialect. */
import { isDeepStrictEqual } from 'node:util';
import type { TranslatableDialect } from './canonical.ts';
import { eventsOf, expectSaid, type Said } from './translate-expect.corpus.ts';
import { parseJson } from './translate-json.ts';
import { readBySdk, type Bytes } from './translate-sdk.corpus.ts';
import { streamFaults } from './translate-order.corpus.ts';
import {
  createSignatureCache,
  createTranslator,
  translateError,
  type AnswerWishes,
  type Translator,
} from './translate.ts';

export interface RecordedAnswer {
  readonly id: string;
  readonly kind: string;
  readonly status: number;
  readonly body: string;
}

export interface Verdict {
  readonly outcome: 'same' | 'error' | 'wrong';
  readonly why?: string;
}

const KINDS: { readonly [prefix: string]: TranslatableDialect } = {
  'openai-json': 'chat',
  'openai-sse': 'chat',
  'openai-responses-json': 'responses',
  'openai-responses-sse': 'responses',
  'anthropic-json': 'messages',
  'anthropic-sse': 'messages',
  'gemini-json': 'generative',
  'gemini-sse': 'generative',
};

export function dialectOf(kind: string): TranslatableDialect | undefined {
  return KINDS[kind];
}

const WISHES: AnswerWishes = {
  model: 'any',
  stream: true,
  includeUsage: true,
  freeformTools: [],
  searchTools: [],
  toolNames: {},
  framing: 'sse',
};

function translator(from: TranslatableDialect, to: TranslatableDialect): Translator {
  let counter = 0;
  return createTranslator({
    from,
    to,
    wishes: WISHES,
    ids: () => `n${(counter += 1)}`,
    now: () => 1_700_000_000_000,
    signatures: createSignatureCache(),
  });
}

/** Translates one recorded answer; a recorded failure has to be an error for the client too. */
export async function checkAnswer(
  record: RecordedAnswer,
  from: TranslatableDialect,
  to: TranslatableDialect,
  asStream = record.kind.endsWith('-sse'),
): Promise<Verdict> {
  const recorded = record.kind.endsWith('-sse') && record.status < 400;
  let expected: Said | undefined;
  try {
    expected = record.status < 400 ? expectSaid(from, record.body, recorded) : undefined;
  } catch {
    expected = undefined;
  }
  let read: Said;
  let back: Said;
  try {
    const bytes = translateBytes(record, from, to, asStream && record.status < 400);
    const faults = bytes.streamed ? streamFaults(to, bytes.pieces) : [];
    if (expected !== undefined && faults.length > 0) {
      return { outcome: 'wrong', why: faults.join('; ') };
    }
    read = await readBySdk(to, bytes);
    back = await readBySdk(from, translateBack(bytes, to, from));
  } catch (thrown) {
    if (expected === undefined) return { outcome: 'error' };
    return { outcome: 'wrong', why: `threw ${String(thrown)}` };
  }
  if (expected === undefined) return { outcome: 'wrong', why: 'a failure looks like a success' };
  const wanted = inTermsOf(to, expected);
  const why = difference(wanted, read) ?? difference(inTermsOf(from, wanted), back);
  return why === undefined ? { outcome: 'same' } : { outcome: 'wrong', why };
}

/** The client's bytes as an answer of its own dialect, returned to where they came from. */
function translateBack(bytes: Bytes, from: TranslatableDialect, to: TranslatableDialect): Bytes {
  const one = translator(from, to);
  const text = Buffer.concat(bytes.pieces).toString();
  if (!bytes.streamed) return { ...bytes, pieces: [one.json(parseJson(text))] };
  const pieces = eventsOf(text).flatMap((event) => one.push(event));
  return { ...bytes, pieces: [...pieces, ...one.end()] };
}

function translateBytes(
  record: RecordedAnswer,
  from: TranslatableDialect,
  to: TranslatableDialect,
  asStream: boolean,
): Bytes {
  const { status, body, kind } = record;
  if (status >= 400) {
    const error = translateError(from, to, status, parseJson(body));
    return { status: error.status, streamed: false, pieces: [error.body] };
  }
  const one = translator(from, to);
  if (!kind.endsWith('-sse')) {
    const pieces = asStream ? one.whole(parseJson(body)) : [one.json(parseJson(body))];
    return { status, streamed: asStream, pieces };
  }
  const pieces = eventsOf(body).flatMap((event) => one.push(event));
  return { status, streamed: true, pieces: [...pieces, ...one.end()] };
}

/** What of it the dialect can say: most lump some ends together. */
function inTermsOf(to: TranslatableDialect, said: Said): Said {
  if (to === 'messages') return said;
  const ends: { readonly [stop: string]: string } = {
    stopSequence: 'end',
    pause_turn: 'end',
    model_context_window_exceeded: 'maxTokens',
  };
  const stop = ends[said.stop] ?? said.stop;
  return { ...said, stop: stop === 'end' && said.calls.length > 0 ? 'toolUse' : stop };
}

function difference(expected: Said, read: Said): string | undefined {
  for (const key of ['text', 'stop', 'input', 'output', 'cached'] as const) {
    if (expected[key] !== read[key]) {
      return `${key}: ${JSON.stringify(expected[key])} became ${JSON.stringify(read[key])}`;
    }
  }
  const calls = expected.calls.map((call, at) =>
    call.input === undefined ? { ...call, input: read.calls[at]?.input } : call,
  );
  return isDeepStrictEqual(plain(calls), plain(read.calls))
    ? undefined
    : `calls: ${JSON.stringify(calls)} became ${JSON.stringify(read.calls)}`;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
