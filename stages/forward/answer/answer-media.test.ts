/**
 * Answers with more than text and calls, for a client of another dialect: images are passed on if
 * the client's dialect has a place for them, everything else is mentioned by name.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPair, traceOf } from '../../../fixtures/forward/pair.ts';
import type { Pair } from '../../../fixtures/forward/pair.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { answer } from '../../../fixtures/upstream.ts';
import { jsonAnswer, streamAnswer, toEvent } from '../../../fixtures/upstream/answer.ts';

type Json = Readonly<Record<string, unknown>>;

const PNG = 'iVBORw0KGgo=';
const ASK = [{ role: 'user', content: 'Draw a cat.' }];

/** The clients, each with its path, its body and where its answers have text and images. */
const CLIENTS = {
  messages: { path: '/v1/messages', body: { model: 'm', max_tokens: 9, messages: ASK } },
  chat: { path: '/v1/chat/completions', body: { model: 'm', messages: ASK } },
  responses: { path: '/v1/responses', body: { model: 'm', input: 'Draw a cat.', store: false } },
  generative: {
    path: '/v1beta/models/m:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Draw a cat.' }] }] },
  },
} as const;
type Client = keyof typeof CLIENTS;

const local = (kind: string) => (url: string) =>
  `routing: { primary: local }\nproviders:\n  local: { kind: ${kind}, base_url: "${url}", auth: none }\n`;

/** Plays `parts` of a Gemini answer, whole or as a stream. */
function gemini(t: Pair, parts: readonly object[], more: object = {}): void {
  const chunk = (chunkParts: readonly object[], isLast: boolean): object => ({
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: chunkParts },
        ...(isLast && { finishReason: 'STOP', ...more }),
      },
    ],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1290, totalTokenCount: 1299 },
  });
  t.spare.script(
    /generateContent|streamGenerateContent/i,
    answer(({ request }) =>
      request.path.includes(':stream')
        ? streamAnswer(parts.map((p, at) => toEvent(chunk([p], at === parts.length - 1))))
        : jsonAnswer(200, chunk(parts, true)),
    ),
  );
}

async function ask(t: Pair, client: Client, stream: boolean) {
  const { path, body } = CLIENTS[client];
  const isPath = client === 'generative';
  const streamed = stream
    ? path.replace(':generateContent', ':streamGenerateContent?alt=sse')
    : path;
  const response = await exchange(t.proxy.port, {
    path: streamed,
    body: JSON.stringify({ ...body, ...(stream && !isPath && { stream: true }) }),
  });
  assert.is(response.status, 200, response.text);
  const trace = await traceOf(t, response);
  const { notes } = trace.stages.find(({ node }) => node === 'forward') as unknown as {
    readonly notes?: readonly string[];
  };
  return { text: response.text, notes: notes ?? [] };
}

const IMAGE = { inlineData: { mimeType: 'image/png', data: PNG } };
const FORMS = [false, true];

for (const stream of FORMS) {
  const form = stream ? 'stream' : 'document';

  test(`Gemini's image reaches a chat client (${form})`, () =>
    withPair({ yaml: local('generative') }, async (t) => {
      gemini(t, [{ text: 'A cat: ' }, IMAGE, { text: 'Done.' }]);
      const { text } = await ask(t, 'chat', stream);
      assert.match(
        text,
        `"images":[{"index":0,"type":"image_url","image_url":{"url":"data:image/png;base64,${PNG}"}}]`,
      );
      assert.match(text, 'Done.');
    }));

  test(`Gemini's image reaches a responses client as a generated image (${form})`, () =>
    withPair({ yaml: local('generative') }, async (t) => {
      gemini(t, [{ text: 'A cat: ' }, IMAGE, { text: 'Done.' }]);
      const { text } = await ask(t, 'responses', stream);
      const whole = stream ? text.slice(text.lastIndexOf('data: ') + 6) : text;
      const parsed = JSON.parse(whole) as { response?: Json; output?: readonly Json[] };
      const output = (parsed.response?.['output'] ?? parsed.output) as readonly Json[];
      assert.equal(
        output.map(({ type }) => type),
        ['message', 'image_generation_call', 'message'],
      );
      const { status, output_format, result } = output[1]!;
      assert.equal([status, output_format, result], ['completed', 'png', PNG]);
      if (stream)
        assert.match(
          text,
          /output_item\.added\ndata: .*"type":"image_generation_call".*"result":null/,
        );
    }));

  test(`a messages client is told in text that there was an image (${form})`, () =>
    withPair({ yaml: local('generative') }, async (t) => {
      gemini(t, [IMAGE]);
      const { text, notes } = await ask(t, 'messages', stream);
      assert.match(text, /\[left out: a file of type image\/png \(\d+ bytes\)/);
      assert.match(notes.join(), 'a file of type image/png in the answer left out');
    }));

  test(`other files, drafts and code that Gemini ran are mentioned by name (${form})`, () =>
    withPair({ yaml: local('generative') }, async (t) => {
      gemini(
        t,
        [
          { thought: true, ...IMAGE },
          { executableCode: { language: 'PYTHON', code: 'print(1)' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
          { text: 'One.' },
          { inlineData: { mimeType: 'audio/wav', data: PNG } },
        ],
        { groundingMetadata: { webSearchQueries: ['one'] } },
      );
      for (const client of ['messages', 'chat', 'responses'] as const) {
        const { text, notes } = await ask(t, client, stream);
        assert.match(text, 'a file of type audio/wav');
        assert.not.match(text, 'image/png');
        const noted = notes.join('\n');
        for (const part of ['thinking', 'executableCode', 'codeExecutionResult', 'citations'])
          assert.match(noted, `${part}`, client);
      }
    }));

  test(`images of a chat server reach other clients (${form})`, () =>
    withPair({ yaml: local('chat') }, async (t) => {
      const images = [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        { type: 'image_url', image_url: { url: 'https://images.example/cat.png' } },
      ];
      const message = {
        role: 'assistant',
        content: 'A cat.',
        images,
        annotations: [{ type: 'url_citation' }],
      };
      t.spare.script('/v1/responses', '404');
      t.spare.script(
        '/v1/chat/completions',
        answer(() =>
          stream
            ? streamAnswer([
                toEvent({ id: 'c', choices: [{ index: 0, delta: message }] }),
                toEvent({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
                Buffer.from('data: [DONE]\n\n'),
              ])
            : jsonAnswer(200, { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }] }),
        ),
      );
      const generative = await ask(t, 'generative', stream);
      assert.match(generative.text, `{"inlineData":{"mimeType":"image/png","data":"${PNG}"}}`);
      assert.match(generative.text, '![image](https://images.example/cat.png)');
      assert.match(generative.notes.join(), 'citations left out');
      const messages = await ask(t, 'messages', stream);
      assert.match(messages.text, 'a file of type image/png');
      assert.match(messages.text, '![image](https://images.example/cat.png)');
      assert.match((await ask(t, 'responses', stream)).text, `"result":"${PNG}"`);
    }));

  test(`the results of Claude's and OpenAI's built-in tools are mentioned by name (${form})`, async () => {
    await withPair({ yaml: local('messages') }, async (t) => {
      const content = [
        { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'cats' } },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
        { type: 'text', text: 'Cats.', citations: [{ type: 'web_search_result_location' }] },
      ];
      const usage = { input_tokens: 1, output_tokens: 2 };
      const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', usage };
      t.spare.script(
        '/v1/messages',
        answer(() =>
          stream
            ? streamAnswer([
                toEvent(
                  { type: 'message_start', message: { ...head, content: [] } },
                  'message_start',
                ),
                ...content.flatMap((content_block, index) => [
                  toEvent(
                    { type: 'content_block_start', index, content_block },
                    'content_block_start',
                  ),
                  toEvent({ type: 'content_block_stop', index }, 'content_block_stop'),
                ]),
                toEvent(
                  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
                  'message_delta',
                ),
                toEvent({ type: 'message_stop' }, 'message_stop'),
              ])
            : jsonAnswer(200, { ...head, content, stop_reason: 'end_turn' }),
        ),
      );
      const { text, notes } = await ask(t, 'chat', stream);
      assert.match(text, 'Cats.');
      assert.equal(notes, [
        'server_tool_use in the answer left out: its result is in the adjacent text',
        'web_search_tool_result in the answer left out: its result is in the adjacent text',
        'citations left out: the text that they annotate is kept',
      ]);
    });
    await withPair({ yaml: local('chat') }, async (t) => {
      const output = [
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } },
        { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'Cats.', annotations: [{ type: 'url_citation' }] },
          ],
        },
      ];
      const response = {
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        model: 'm',
        output,
      };
      const { responsesStreamOf } = await import('../../dialect/responses/answer-stream.ts');
      t.spare.script(
        '/v1/responses',
        answer(({ request }) =>
          request.body.includes('"stream":true')
            ? streamAnswer(
                responsesStreamOf(response).map(({ event, data }) =>
                  Buffer.from(`event: ${event}\ndata: ${data}\n\n`),
                ),
              )
            : jsonAnswer(200, response),
        ),
      );
      const { text, notes } = await ask(t, 'responses', stream);
      // The same dialect: nothing is translated, nothing is left out.
      assert.match(text, 'web_search_call');
      assert.equal(notes, []);
    });
  });
}

/** Conversations in which the model made an image, as each client sends them back. */
const FOLLOW_UPS: Partial<Record<Client, object>> = {
  chat: {
    model: 'm',
    messages: [
      ...ASK,
      {
        role: 'assistant',
        content: 'A cat.',
        images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }],
      },
      { role: 'user', content: 'Bigger.' },
    ],
  },
  responses: {
    model: 'm',
    store: false,
    input: [
      ...ASK,
      { role: 'assistant', content: [{ type: 'output_text', text: 'A cat.' }] },
      { type: 'image_generation_call', id: 'ig_1', output_format: 'png', result: PNG },
      { role: 'user', content: 'Bigger.' },
    ],
  },
  generative: {
    contents: [
      { role: 'user', parts: [{ text: 'Draw a cat.' }] },
      { role: 'model', parts: [{ text: 'A cat.' }, IMAGE] },
      { role: 'user', parts: [{ text: 'Bigger.' }] },
    ],
  },
};
const ATTACHED = { type: 'text', text: 'Attached to the answer before:' };
const BIGGER = { type: 'text', text: 'Bigger.' };

for (const kind of ['messages', 'chat', 'generative'] as const) {
  test(`a generated image in the history goes to a ${kind} provider if it accepts images`, () =>
    withPair({ yaml: local(kind) }, async (t) => {
      t.spare.script('/v1/responses', '404');
      for (const [client, body] of Object.entries(FOLLOW_UPS)) {
        if (client === kind) continue;
        const { path } = CLIENTS[client as Client];
        const at = path.replace('/m:', '/gemini-3-pro-image:');
        const request = { ...body, ...('model' in body && { model: 'gemini-3-pro-image' }) };
        const response = await exchange(t.proxy.port, { path: at, body: JSON.stringify(request) });
        assert.is(response.status, 200, response.text);
        const sent = JSON.parse(t.spare.requests.at(-1)!.body.toString()) as Json;
        const turns = (sent['messages'] ?? sent['contents']) as readonly Json[];
        const [, noted, asked] = turns;
        assert.is(turns.length, 3, client);
        if (kind === 'generative') {
          const image = { ...IMAGE, thoughtSignature: 'skip_thought_signature_validator' };
          assert.equal(noted, { role: 'model', parts: [{ text: 'A cat.' }, image] });
          continue;
        }
        assert.is(noted!['content'], 'A cat.');
        const source = { type: 'base64', media_type: 'image/png', data: PNG };
        const image =
          kind === 'messages'
            ? { type: 'image', source }
            : { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
        assert.equal(asked!['content'], [ATTACHED, image, BIGGER], client);
      }
    }));
}

test.after(closeClients);
test.run();
