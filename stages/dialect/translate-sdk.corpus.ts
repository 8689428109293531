/** Lets the official SDK of each dialect read bytes, without a network, and says what it understood. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { TranslatableDialect } from './canonical.ts';
import {
  fromChat,
  fromGenerative,
  fromMessages,
  fromResponses,
  type Said,
} from './translate-expect.corpus.ts';
import { objectOf, objectsOf } from './translate-json.ts';

/** The bytes of an answer, as the client's socket would bring them. */
export interface Bytes {
  readonly status: number;
  readonly streamed: boolean;
  readonly pieces: readonly Buffer[];
}

function fetchOf(bytes: Bytes): typeof fetch {
  return () => {
    const type = bytes.streamed ? 'text/event-stream' : 'application/json';
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of bytes.pieces) controller.enqueue(new Uint8Array(piece));
        controller.close();
      },
    });
    const headers = { 'content-type': type };
    return Promise.resolve(new Response(body, { status: bytes.status, headers }));
  };
}

/** What the SDK of `dialect` makes of `bytes`. Rejects with the SDK's own error where it finds one. */
export function readBySdk(dialect: TranslatableDialect, bytes: Bytes): Promise<Said> {
  switch (dialect) {
    case 'messages':
      return readMessages(bytes);
    case 'chat':
      return readChat(bytes);
    case 'responses':
      return readResponses(bytes);
    default:
      return readGenerative(bytes);
  }
}

const ASKED = [{ role: 'user' as const, content: 'Hello' }];

async function readMessages(bytes: Bytes): Promise<Said> {
  const client = new Anthropic({ apiKey: 'none', fetch: fetchOf(bytes), maxRetries: 0 });
  const asked = { model: 'any', max_tokens: 1000, messages: ASKED };
  const message = bytes.streamed
    ? await client.messages.stream(asked).finalMessage()
    : await client.messages.create(asked);
  return fromMessages({ ...message });
}

function openai(bytes: Bytes): OpenAI {
  return new OpenAI({ apiKey: 'none', fetch: fetchOf(bytes), maxRetries: 0 });
}

async function readChat(bytes: Bytes): Promise<Said> {
  const { completions } = openai(bytes).chat;
  const asked = { model: 'any', messages: ASKED };
  if (!bytes.streamed) return fromChat([objectOf(await completions.create(asked))]);
  const stream = completions.stream({ ...asked, stream_options: { include_usage: true } });
  return fromChat([objectOf(await stream.finalChatCompletion())]);
}

async function readResponses(bytes: Bytes): Promise<Said> {
  const { responses } = openai(bytes);
  const asked = { model: 'any', input: 'Hello' };
  const response = bytes.streamed
    ? await responses.stream(asked).finalResponse()
    : await responses.create(asked);
  // The SDK hands a failed response over like any other.
  if (response.status === 'failed') throw new Error('failed response');
  return fromResponses({ ...response });
}

async function readGenerative(bytes: Bytes): Promise<Said> {
  const httpOptions = { fetch: fetchOf(bytes) };
  const { models } = new GoogleGenAI({ apiKey: 'none', httpOptions });
  const asked = { model: 'any', contents: 'Hello' };
  if (!bytes.streamed) return fromGenerative([objectOf(await models.generateContent(asked))]);
  const chunks: unknown[] = [];
  for await (const chunk of await models.generateContentStream(asked)) chunks.push(chunk);
  return fromGenerative(objectsOf(chunks));
}
