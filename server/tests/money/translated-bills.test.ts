/**
 * A translated answer costs what the same answer costs untranslated: searches, tiers, modalities,
 * other inferences and dropped thoughts are read from the provider's bytes, not from the client's.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPair } from '../../../fixtures/forward/pair.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { answer } from '../../../fixtures/upstream.ts';
import { jsonAnswer, streamAnswer, toEvent } from '../../../fixtures/upstream/answer.ts';
import { chatStreamOf } from '../../../stages/dialect/chat/answer-stream.ts';
import { messagesStreamOf } from '../../../stages/dialect/messages/answer-stream.ts';
import type { LedgerRow } from '../../../stages/ledger/row.ts';

type Json = Readonly<Record<string, unknown>>;
type Kind = 'messages' | 'chat' | 'generative';

const MODELS = { messages: 'claude-opus-5-5', chat: 'gpt-5', generative: 'gemini-3-pro-preview' };
const TOKENS = { input_tokens: 1000, output_tokens: 100 };
const PROMPT = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
const COUNTS = { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 };

const message = (usage: object, more: object = {}): Json => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: MODELS.messages,
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { ...TOKENS, ...usage },
  ...more,
});
const completion = (usage: object, more: object = {}): Json => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: MODELS.chat,
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { ...PROMPT, ...usage },
  ...more,
});
const candidates = (usage: object, more: object = {}): Json => ({
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts: [{ text: 'ok' }] },
      finishReason: 'STOP',
      ...more,
    },
  ],
  usageMetadata: { ...COUNTS, ...usage },
  modelVersion: MODELS.generative,
});

const inference = (type: string, model?: string): Json => ({ ...TOKENS, type, model });

/** Answers by the kind of their provider; the first of each has nothing besides its tokens. */
const ANSWERS: Readonly<Record<Kind, readonly Json[]>> = {
  messages: [
    message({}),
    message({ speed: 'fast' }),
    message({ inference_geo: 'us' }),
    message({ server_tool_use: { web_search_requests: 3 } }),
    message({ iterations: [inference('compaction'), inference('message')] }),
    message({ iterations: [inference('message'), inference('advisor_message', 'claude-opus-5')] }),
    message({ service_tier: 'priority' }),
    message(
      {},
      { input_transformations: [{ type: 'thinking_dropped', reason: 'prefix_binding_mismatch' }] },
    ),
  ],
  chat: [
    completion({}),
    completion({}, { service_tier: 'priority' }),
    completion({}, { service_tier: 'flex' }),
    completion({ completion_tokens_details: { audio_tokens: 50 } }),
  ],
  generative: [
    candidates({}),
    candidates({}, { groundingMetadata: { webSearchQueries: ['a', 'b'] } }),
    candidates({}, { groundingMetadata: { groundingChunks: [{ maps: { uri: 'x' } }] } }),
    candidates({ candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 90 }] }),
    candidates({ serviceTier: 'flex' }),
    candidates({ trafficType: 'ON_DEMAND_PRIORITY' }),
  ],
};

const ASK = [{ role: 'user', content: 'hi' }];
type ToRequest = (model: string) => readonly [path: string, body: object];
const CLIENTS = {
  messages: (model: string) => ['/v1/messages', { model, max_tokens: 9, messages: ASK }],
  chat: (model: string) => ['/v1/chat/completions', { model, messages: ASK }],
  responses: (model: string) => ['/v1/responses', { model, input: 'hi', store: false }],
  generative: (model: string) => [
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  ],
} satisfies Readonly<Record<string, ToRequest>>;
type Client = keyof typeof CLIENTS;

function streamed(kind: Kind, document: Json) {
  if (kind === 'generative') return streamAnswer([toEvent(document)]);
  const events = kind === 'chat' ? chatStreamOf(document) : messagesStreamOf(document);
  return streamAnswer(
    events.map(({ event, data }) =>
      Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`),
    ),
  );
}

const billOf = ({ costNanoUsd, outputTokens, webSearches, thoughtsDropped }: LedgerRow) => ({
  costNanoUsd,
  outputTokens,
  webSearches,
  thoughtsDropped,
});

for (const kind of Object.keys(ANSWERS) as Kind[]) {
  test(`responses of a ${kind} provider cost the same in every dialect`, () =>
    withPair(
      {
        yaml: (url) =>
          `routing: { primary: local }\nproviders:\n  local: { kind: ${kind}, base_url: "${url}", auth: none }\n`,
      },
      async (t) => {
        let count = 0;
        const bill = async (client: Client, stream: boolean) => {
          const toRequest: ToRequest = CLIENTS[client];
          const [path, body] = toRequest(MODELS[kind]);
          const isPath = client === 'generative';
          const response = await exchange(t.proxy.port, {
            path:
              stream && isPath
                ? path.replace(':generateContent', ':streamGenerateContent?alt=sse')
                : path,
            body: JSON.stringify({ ...body, ...(stream && !isPath && { stream: true }) }),
          });
          assert.is(response.status, 200, response.text);
          count += 1;
          return billOf((await t.rows(count)).at(-1)!);
        };
        const plain = ANSWERS[kind][0]!;
        let plainBill: object | undefined;
        for (const document of ANSWERS[kind]) {
          t.spare.script(
            undefined,
            answer(({ request }) =>
              request.body.includes('"stream":true') || request.path.includes(':stream')
                ? streamed(kind, document)
                : jsonAnswer(200, document),
            ),
          );
          t.spare.script('/v1/responses', '404');
          const own = await bill(kind, false);
          if (document === plain) plainBill = own;
          else assert.not.equal(own, plainBill, JSON.stringify(document));
          for (const client of Object.keys(CLIENTS) as Client[])
            for (const stream of [false, true])
              assert.equal(
                await bill(client, stream),
                own,
                `${client} ${stream} ${JSON.stringify(document)}`,
              );
        }
      },
    ));
}

test.after(closeClients);
test.run();
