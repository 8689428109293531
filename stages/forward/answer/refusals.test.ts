/** The reason that a provider gives for a refusal reaches clients of every dialect. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPair } from '../../../fixtures/forward/pair.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { answer } from '../../../fixtures/upstream.ts';
import { jsonAnswer, streamAnswer, toEvent } from '../../../fixtures/upstream/answer.ts';
import { messagesStreamOf } from '../../dialect/messages/answer-stream.ts';

type Json = Readonly<Record<string, unknown>>;

const REASON = 'This cannot be answered here.';
const ASK = [{ role: 'user', content: 'hi' }];

/** The same refusal as each kind of provider sends it. */
const REFUSALS = {
  messages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: 'refusal',
    stop_sequence: null,
    stop_details: { type: 'refusal', category: 'cyber', explanation: REASON },
    usage: { input_tokens: 9, output_tokens: 1 },
  },
  'messages that began': {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Well' }],
    stop_reason: 'refusal',
    stop_sequence: null,
    stop_details: { type: 'refusal', category: null, explanation: REASON },
    usage: { input_tokens: 9, output_tokens: 1 },
  },
  generative: {
    candidates: [{ index: 0, content: {}, finishReason: 'SAFETY', finishMessage: REASON }],
    usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
  },
  'generative prompts': {
    promptFeedback: { blockReason: 'OTHER', blockReasonMessage: REASON },
    usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
  },
} as const;

/** Each client, and where it finds the reason: in a document, and in a stream. */
const CLIENTS = {
  messages: {
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 9, messages: ASK },
    place: /"stop_reason":"refusal",.*"stop_details":\{"type":"refusal",.*"explanation":"This/,
  },
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'm', messages: ASK },
    place: /"refusal":"This cannot/,
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'm', input: 'hi', store: false },
    place: /"type":"refusal","refusal":"This cannot/,
  },
  generative: {
    path: '/v1beta/models/m:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    place: /"finishReason":"SAFETY",.*"finishMessage":"This cannot/,
  },
} as const;

const streamed = (refusal: Json) =>
  'usageMetadata' in refusal
    ? streamAnswer([toEvent(refusal)])
    : streamAnswer(
        messagesStreamOf(refusal).map(({ event, data }) =>
          Buffer.from(`event: ${event}\ndata: ${data}\n\n`),
        ),
      );

for (const [name, refusal] of Object.entries(REFUSALS)) {
  const kind = name.split(' ')[0]!;
  for (const stream of [false, true]) {
    test(`a refusal by ${name} (${stream ? 'stream' : 'document'})`, () =>
      withPair(
        {
          yaml: (url) =>
            `routing: { primary: local }\nproviders:\n  local: { kind: ${kind}, base_url: "${url}", auth: none }\n`,
        },
        async (t) => {
          t.spare.script(
            undefined,
            answer(({ request }) =>
              request.body.includes('"stream":true') || request.path.includes(':stream')
                ? streamed(refusal)
                : jsonAnswer(200, refusal),
            ),
          );
          for (const [client, { path, body, place }] of Object.entries(CLIENTS)) {
            if (client === kind) continue;
            const isPath = client === 'generative';
            const response = await exchange(t.proxy.port, {
              path:
                stream && isPath
                  ? path.replace(':generateContent', ':streamGenerateContent?alt=sse')
                  : path,
              body: JSON.stringify({ ...body, ...(stream && !isPath && { stream: true }) }),
            });
            assert.is(response.status, 200, response.text);
            assert.match(response.text, place, client);
          }
        },
      ));
  }
}

test('a refusal fetched as a document states its reason where a stream would', () =>
  withPair(
    { yaml: () => 'providers: { messages: { supports_streaming: false } }\n' },
    async (t) => {
      t.upstream.script(
        undefined,
        answer(() => jsonAnswer(200, REFUSALS.messages)),
      );
      const { path, body } = CLIENTS.messages;
      const response = await exchange(t.proxy.port, {
        path,
        body: JSON.stringify({ ...body, stream: true }),
      });
      assert.match(
        response.text,
        /"type":"message_delta","delta":\{"stop_reason":"refusal",.*"explanation":"This/,
      );
      assert.match(response.text, /"type":"message_start".*"stop_details":null/);
    },
  ));

test.after(closeClients);
test.run();
