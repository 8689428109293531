/**
 * Thinking blocks sealed by another account do not end a conversation: a provider gets only those
 * it can read.
 */
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer } from '../../../fixtures/upstream.ts';
import { toAnswer } from '../../../fixtures/upstream/answer.ts';
import { createSealingProvider } from '../../../fixtures/upstream/sealing.ts';
import { payloads, traceOf, withPair, withSpare } from '../../../fixtures/forward/pair.ts';
import type { Pair } from '../../../fixtures/forward/pair.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import type { FullResponse } from '../../../fixtures/server/exchange.ts';

type Json = Record<string, unknown>;
const objects = (value: unknown): Json[] => value as Json[];

interface Speaker {
  readonly kind: 'chat' | 'generative';
  readonly path: (stream: boolean) => string;
  /** Returns the body of a turn. */
  readonly body: (turns: readonly Json[], stream: boolean) => Json;
  readonly ask: Json;
  /** Returns the model's turn and the results of its calls, as a client sends them back. */
  readonly next: (text: string, stream: boolean) => Json[];
}

const RESPONSES: Speaker = {
  kind: 'chat',
  path: () => '/v1/responses',
  body: (input, stream) => ({
    model: 'gpt-6',
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: [{ type: 'function', name: 'Read', parameters: { type: 'object' } }],
    input,
    stream,
  }),
  ask: { role: 'user', content: 'Read it.' },
  next(text, stream) {
    const whole = stream ? payloads(text).at(-1)!['response'] : JSON.parse(text);
    const output = objects((whole as Json)['output']);
    const calls = output.filter(({ type }) => type === 'function_call');
    return [
      ...output,
      ...calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'ok 1.0' })),
    ];
  },
};

const GENERATIVE: Speaker = {
  kind: 'generative',
  path: (stream) =>
    `/v1beta/models/gemini-3-pro:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: (contents) => ({ contents, tools: [{ functionDeclarations: [{ name: 'Read' }] }] }),
  ask: { role: 'user', parts: [{ text: 'Read it.' }] },
  next(text, stream) {
    const chunks = stream ? payloads(text) : [JSON.parse(text) as Json];
    const parts = chunks.flatMap(({ candidates }) =>
      objects((objects(candidates)[0]!['content'] as Json)['parts']),
    );
    const calls = parts.flatMap((part): Json[] =>
      part['functionCall'] === undefined ? [] : [part['functionCall'] as Json],
    );
    const results = calls.map(({ name }) => ({
      functionResponse: { name, response: { output: 'ok' } },
    }));
    return [
      { role: 'model', parts },
      { role: 'user', parts: results },
    ];
  },
};

async function turn(
  t: Pair,
  speaker: Speaker,
  turns: Json[],
  stream: boolean,
): Promise<FullResponse> {
  t.recover();
  const body = JSON.stringify(speaker.body(turns, stream));
  const response = await exchange(t.proxy.port, { path: speaker.path(stream), body });
  assert.is(response.status, 200, response.text);
  turns.push(...speaker.next(response.text, stream));
  return response;
}

for (const [name, speaker] of Object.entries({ responses: RESPONSES, generative: GENERATIVE })) {
  for (const stream of [false, true]) {
    test(`${name}${stream ? ', streamed' : ''}: nine turns that move to a fallback with another account and back`, () =>
      withPair({ yaml: withSpare(speaker.kind, 'providers:') }, async (t) => {
        const [mine, other] = [createSealingProvider('mine'), createSealingProvider('other')];
        t.spare.script(undefined, other.scenario);
        const turns: Json[] = [speaker.ask];
        for (let at = 0; at < 9; at += 1) {
          const isDown = at >= 3 && at < 6;
          t.upstream.script(undefined, isDown ? '503' : mine.scenario);
          const response = await turn(t, speaker, turns, stream);
          const trace = JSON.stringify(await traceOf(t, response));
          if (at === 3 || at === 6) assert.match(trace, 'refuses thoughts of another account');
          if (at === 4 || at === 7) assert.match(trace, 'thoughts left out');
        }
        // Each refuses once, and its own thinking blocks keep coming back: 0+1+2 and then 3+4+5 of
        // the nine turns.
        assert.is(mine.refused.length, 1, mine.refused.join());
        assert.is(other.refused.length, 1, other.refused.join());
        assert.is(other.ownThoughts(), 3);
        assert.ok(mine.ownThoughts() >= 6, String(mine.ownThoughts()));
      }));
  }
}

test('reasoning stored with another account is not referenced', () =>
  withPair({ yaml: withSpare('chat', 'providers:') }, async (t) => {
    t.upstream.script(undefined, '503');
    t.spare.script(undefined, createSealingProvider('other').scenario);
    const turns = [
      RESPONSES.ask,
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'message', role: 'assistant', content: 'Done.' },
      RESPONSES.ask,
    ];
    await turn(t, RESPONSES, turns, false);
    const sent = JSON.parse(t.spare.requests.at(-1)!.body.toString()) as Json;
    assert.is(t.spare.requests.at(-1)!.path, '/v1/responses');
    assert.not.match(JSON.stringify(sent), 'rs_1');
    assert.is(objects(sent['input']).length, 3);
  }));

test('unsigned calls of another kind of model are marked for Gemini 3 after the first refusal', () =>
  withPair({ yaml: () => '' }, async (t) => {
    const provider = createSealingProvider('mine');
    t.upstream.script(undefined, provider.scenario);
    const turns: Json[] = [
      GENERATIVE.ask,
      { role: 'model', parts: [{ function_call: { name: 'Read', args: { n: 1.5 } } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'Read', response: { output: 'x' } } }],
      },
      { role: 'model', parts: [{ functionCall: { name: 'Read', args: {} } }, { text: 'so' }] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'Read', response: { output: 'y' } } }],
      },
    ];
    for (const expectedRequests of [2, 1]) {
      const before = t.upstream.requests.length;
      await turn(t, GENERATIVE, [...turns], false);
      assert.is(t.upstream.requests.length - before, expectedRequests);
    }
  }));

test('two Gemini accounts that alternate behind a chat client each get back their own signatures', () =>
  withPair(
    {
      yaml: (url) => `routing: { primary: one }
providers:
  one: { kind: generative, base_url: "${url}", api_key: one, model_aliases: { m: gemini-3-pro } }
  generative: { model_aliases: { m: gemini-3-pro } }
fallback: [generative]
`,
    },
    async (t) => {
      const [one, two] = [createSealingProvider('one'), createSealingProvider('two')];
      t.upstream.script(undefined, two.scenario);
      const messages: Json[] = [{ role: 'user', content: 'Read it.' }];
      const tools = [{ type: 'function', function: { name: 'Read' } }];
      for (let at = 0; at < 6; at += 1) {
        t.recover();
        t.spare.script(undefined, at % 2 === 0 ? one.scenario : '503');
        const body = JSON.stringify({ model: 'm', messages, tools });
        const response = await exchange(t.proxy.port, { path: '/v1/chat/completions', body });
        assert.is(response.status, 200, response.text);
        const { choices } = JSON.parse(response.text) as { choices: { message: Json }[] };
        const { message } = choices[0]!;
        messages.push(message);
        for (const { id } of objects(message['tool_calls']))
          messages.push({ role: 'tool', tool_call_id: id, content: 'ok' });
      }
      assert.equal([one.refused, two.refused], [[], []]);
      assert.ok(one.ownThoughts() >= 3 && two.ownThoughts() >= 3);
    },
  ));

test('a refusal for another reason, or a repeated one, is passed on unchanged', () =>
  withPair({ yaml: () => '' }, async (t) => {
    const body = JSON.stringify({
      model: 'gpt-6',
      input: [RESPONSES.ask, { type: 'reasoning', summary: [], encrypted_content: 'x' }],
    });
    const messages = [
      ['Invalid value: input[3].', 1],
      ['The encrypted content x could not be verified.', 2],
    ] as const;
    for (const [message, expectedRequests] of messages) {
      const refusal = gzipSync(JSON.stringify({ error: { message, code: null } }));
      const before = t.upstream.requests.length;
      const undo = t.upstream.script(
        undefined,
        answer(() =>
          toAnswer(
            400,
            [
              ['content-type', 'application/json'],
              ['content-encoding', 'gzip'],
            ],
            [refusal],
            'chunked',
          ),
        ),
      );
      const response = await exchange(t.proxy.port, {
        path: '/v1/responses',
        body,
        headers: { 'accept-encoding': 'gzip' },
      });
      undo();
      assert.is(response.status, 400);
      assert.equal(response.body, refusal);
      assert.is(t.upstream.requests.length - before, expectedRequests, message);
    }
  }));

test.after(closeClients);
test.run();
