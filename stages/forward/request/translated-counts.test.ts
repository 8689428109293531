/**
 * Tokens are counted for the request that would be sent, by the provider that serves the
 * conversation.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { traceOf, withPair } from '../../../fixtures/forward/pair.ts';
import { hits } from '../../../fixtures/server/bound-client.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { answer } from '../../../fixtures/upstream.ts';
import { jsonAnswer } from '../../../fixtures/upstream/answer.ts';
import type { Answer } from '../../../fixtures/upstream/answer.ts';
import { errorAnswer } from '../../../fixtures/upstream/endpoints.ts';

type Json = Readonly<Record<string, unknown>>;

const SCHEMA = { type: 'object', properties: {} };
const OUTPUT = hits('items');

/** One conversation as each client counts it. */
const CLIENTS = {
  messages: {
    path: '/v1/messages/count_tokens',
    member: 'input_tokens',
    body: {
      model: 'm-1',
      system: 'You are an agent.',
      tools: [{ name: 'Grep', input_schema: SCHEMA }],
      messages: [
        { role: 'user', content: 'Where are the items?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Grep', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: OUTPUT }] },
      ],
    },
  },
  responses: {
    path: '/v1/responses/input_tokens',
    member: 'input_tokens',
    body: {
      model: 'm-1',
      instructions: 'You are an agent.',
      tools: [{ type: 'function', name: 'Grep', parameters: SCHEMA, strict: false }],
      input: [
        { role: 'user', content: 'Where are the items?' },
        { type: 'function_call', call_id: 't1', name: 'Grep', arguments: '{}' },
        { type: 'function_call_output', call_id: 't1', output: OUTPUT },
      ],
    },
  },
  generative: {
    path: '/v1beta/models/m-1:countTokens',
    member: 'totalTokens',
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'Where are the items?' }] },
        { role: 'model', parts: [{ functionCall: { name: 'Grep', args: {} } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'Grep', response: { output: OUTPUT } } }],
        },
      ],
    },
  },
} as const;

const local =
  (kind: string, model = 'm-1') =>
  (url: string) =>
    `compression: { threshold_tokens: 0 }
routing: { primary: local }
providers:
  local: { kind: ${kind}, base_url: "${url}", auth: none, model_aliases: { m-1: ${model} } }
`;

/** The members that each provider's endpoint accepts; it refuses all others. */
const ACCEPTED_MEMBERS = {
  messages: /^(?:model|messages|system|tools|tool_choice|thinking|output_config|output_format)$/,
  generative: /^(?:contents|generateContentRequest)$/,
};

function countAnswer(kind: keyof typeof ACCEPTED_MEMBERS, body: Json, bytes: number): Answer {
  const unknownMember = Object.keys(body).find((name) => !ACCEPTED_MEMBERS[kind].test(name));
  if (unknownMember !== undefined)
    return errorAnswer(kind, 400, `${unknownMember}: Extra inputs are not permitted`);
  return jsonAnswer(200, kind === 'messages' ? { input_tokens: bytes } : { totalTokens: bytes });
}

for (const kind of ['messages', 'generative'] as const) {
  test(`a ${kind} provider counts the translated request, for clients of every dialect`, () =>
    withPair({ yaml: local(kind, 'other-2') }, async (t) => {
      t.spare.script(
        undefined,
        answer(({ request }) =>
          countAnswer(kind, JSON.parse(request.body.toString()) as Json, request.body.length),
        ),
      );
      for (const [client, { path, member, body }] of Object.entries(CLIENTS)) {
        const response = await exchange(t.proxy.port, { path, body: JSON.stringify(body) });
        assert.is(response.status, 200, `${client}: ${response.text}`);
        const countRequest = t.spare.requests.at(-1)!;
        assert.is(
          (JSON.parse(response.text) as Json)[member],
          countRequest.body.length,
          response.text,
        );
        const expectedPath =
          kind === 'messages' ? '/v1/messages/count_tokens' : '/v1beta/models/other-2:countTokens';
        assert.is(countRequest.path, expectedPath);
        const text = countRequest.body.toString();
        assert.match(text, '[svc hits', client);
        assert.match(text, 'SidebarItem.tsx');
        const sent = JSON.parse(text) as Json;
        const inner = (sent['generateContentRequest'] ?? sent) as Json;
        if (client === kind) continue;
        assert.is(inner['model'], kind === 'messages' ? 'other-2' : 'models/other-2');
        if (client !== 'generative') assert.match(JSON.stringify(inner), 'You are an agent.');
        const trace = await traceOf(t, response);
        assert.is(trace.stages.find(({ node }) => node === 'forward')?.['provider'], 'local');
      }
      const rows = await t.rows(3);
      assert.equal(
        rows.map(({ outcome, provider, costNanoUsd }) => [outcome, provider, costNanoUsd ?? null]),
        rows.map(() => ['ok', 'local', null]),
      );
    }));
}

test('a count request may be nested in another member, as Gemini accepts it', () =>
  withPair({ yaml: local('generative') }, async (t) => {
    const { path, body } = CLIENTS.generative;
    for (const name of ['generateContentRequest', 'generate_content_request']) {
      const nested = { [name]: { model: 'models/m-1', ...body } };
      const response = await exchange(t.proxy.port, { path, body: JSON.stringify(nested) });
      assert.is(response.status, 200, response.text);
      assert.match(t.spare.requests.at(-1)!.body.toString(), '[svc hits');
    }
    for (const invalid of ['{}', '[]', '{"instances":[1]}', '{"contents":"hi"}']) {
      assert.is((await exchange(t.proxy.port, { path, body: invalid })).status, 200, invalid);
      assert.is(t.spare.requests.at(-1)!.body.toString(), invalid);
    }
  }));

test('errors of a count are in the client’s dialect', () =>
  withPair({ yaml: local('generative') }, async (t) => {
    t.spare.script(undefined, '400');
    const { path, body } = CLIENTS.messages;
    const response = await exchange(t.proxy.port, { path, body: JSON.stringify(body) });
    assert.is(response.status, 400);
    const { type, error } = JSON.parse(response.text) as Json & { error: Json };
    assert.equal([type, error['type']], ['error', 'invalid_request_error']);
    t.spare.script(
      undefined,
      answer(() => jsonAnswer(200, { nothing: 1 })),
    );
    const invalid = await exchange(t.proxy.port, { path, body: JSON.stringify(body) });
    assert.is(invalid.status, 502);
    assert.match(invalid.text, 'counted no tokens');
  }));

test('a count falls back to another kind of provider that supports counting', () =>
  withPair(
    {
      yaml: (url) =>
        `providers:\n  spare: { kind: generative, base_url: "${url}", auth: none }\nfallback: [spare]\n`,
    },
    async (t) => {
      t.upstream.script(undefined, '529');
      const { path, body } = CLIENTS.messages;
      const response = await exchange(t.proxy.port, { path, body: JSON.stringify(body) });
      assert.is(response.status, 200, response.text);
      assert.is(t.spare.requests.at(-1)!.path, '/v1beta/models/m-1:countTokens');
    },
  ));

test.after(closeClients);
test.run();
