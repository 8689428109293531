/** A fallback on another server is not asked for content that only the first one has stored. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { traceOf, withPair, withSpare } from '../../../fixtures/forward/pair.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const GENERATE = '/v1beta/models/gemini-3-pro:generateContent';
const PATH = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  generative: GENERATE,
};
const KIND = {
  messages: 'messages',
  chat: 'chat',
  responses: 'chat',
  generative: 'generative',
} as const;

const asks = (...content: readonly object[]) => ({ input: [{ role: 'user', content }] });
const contents = (...parts: readonly object[]) => ({ contents: [{ role: 'user', parts }] });
const messagesOf = (...messages: readonly object[]) => ({ messages });
const thread = (storedThread: object | undefined) => ({
  max_tokens: 9,
  ...messagesOf({ role: 'user', content: 'go' }),
  thread: storedThread,
});
const text = { type: 'input_text', text: 'go' };
const OWN = 'https://generativelanguage.googleapis.com/v1beta/files/x';

const CASES: readonly [keyof typeof PATH, object, string | undefined][] = [
  ['responses', { input: 'go', previous_response_id: 'resp_1' }, 'previous_response_id'],
  ['responses', { input: 'go', previous_response_id: null }, undefined],
  ['responses', { input: 'go', conversation: { id: 'conv_1' } }, 'stored conversation'],
  ['responses', { prompt: { id: 'pmpt_1' } }, 'stored prompt'],
  ['responses', { input: 'go', background: true }, 'in the background'],
  ['responses', { input: 'go', background: false }, undefined],
  ['responses', { input: [{ type: 'item_reference', id: 'msg_1' }] }, 'stored item'],
  ['responses', asks(text, { type: 'input_file', file_id: 'file_1' }), 'stored file'],
  ['responses', asks(text, { type: 'input_image', image_url: 'https://a/b.png' }), undefined],
  [
    'responses',
    { input: 'go', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
    'tools work on',
  ],
  [
    'responses',
    { input: 'go', tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
    undefined,
  ],
  [
    'chat',
    messagesOf({ role: 'user', content: [{ type: 'file', file: { file_id: 'file_1' } }] }),
    'stored file',
  ],
  [
    'chat',
    messagesOf(
      { role: 'user', content: 'go' },
      { role: 'assistant', audio: { id: 'audio_1' } },
      { role: 'user', content: 'on' },
    ),
    'spoken answer',
  ],
  ['messages', thread({ type: 'continue', previous_message_id: 'msg_1' }), 'stored thread'],
  ['messages', thread({ type: 'create' }), undefined],
  ['messages', { ...thread(undefined), container: 'container_1' }, 'stored container'],
  ['generative', { ...contents({ text: 'go' }), cachedContent: 'cachedContents/1' }, 'cached'],
  ['generative', contents({ fileData: { fileUri: OWN } }), 'stored file'],
  ['generative', contents({ file_data: { file_uri: 'files/x' } }), 'stored file'],
  ['generative', contents({ fileData: { fileUri: 'https://a/b.pdf' } }), undefined],
];

for (const [at, [dialect, more, missing]] of CASES.entries()) {
  test(`${at}: ${dialect} ${missing ?? 'nothing stored'}: ${JSON.stringify(more).slice(0, 60)}`, () =>
    withPair({ yaml: withSpare(KIND[dialect], 'providers:') }, async (t) => {
      t.upstream.script(undefined, '503');
      const body = JSON.stringify({ model: 'gpt-6', ...more });
      const response = await exchange(t.proxy.port, { path: PATH[dialect], body });
      assert.is(response.status, missing === undefined ? 200 : 503, response.text);
      assert.is(t.spare.requests.length, missing === undefined ? 1 : 0);
      if (missing !== undefined) {
        const { attempts } = await traceOf(t, response);
        assert.match(JSON.stringify(attempts), `it does not have`);
        assert.match(JSON.stringify(attempts), missing);
      }
    }));
}

test('another model or another key of the same server may use stored content', () =>
  withPair(
    {
      yaml: () => 'fallback: [chat/gpt-6-mini]\n',
    },
    async (t) => {
      t.upstream.script(undefined, '503', { times: 1 });
      const body = JSON.stringify({ model: 'gpt-6', input: 'go', previous_response_id: 'resp_1' });
      const response = await exchange(t.proxy.port, { path: '/v1/responses', body });
      assert.is(response.status, 200, response.text);
      assert.match(t.upstream.requests.at(-1)!.body.toString(), 'gpt-6-mini');
    },
  ));

test.after(closeClients);
test.run();
