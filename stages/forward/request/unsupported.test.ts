/** Parameters that single providers refuse are left out after their first refusal. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer } from '../../../fixtures/upstream.ts';
import { jsonAnswer } from '../../../fixtures/upstream/answer.ts';
import { enforce } from '../../../fixtures/upstream/enforce.ts';
import { bodyOf, clientKey, traceOf, withPair } from '../../../fixtures/forward/pair.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const bad = (message: string) =>
  jsonAnswer(400, { error: { message, type: 'invalid_request_error', param: null, code: null } });

const refusing = (word: string) =>
  answer((situation) =>
    situation.request.body.includes(word)
      ? bad(`Unrecognized request argument supplied: ${word}`)
      : situation.answer(),
  );

const local = (kind: string) => (url: string) =>
  `providers: { other: { kind: ${kind}, base_url: "${url}", api_key: k } }\nrouting: { primary: other }\n`;

test('a provider that refuses stream_options is called once more without them, and then never with them', () =>
  withPair({ yaml: local('chat') }, async (t) => {
    t.spare.script(undefined, refusing('stream_options'));
    for (const dialect of ['chat', 'messages'] as const) {
      const path = dialect === 'chat' ? '/v1/chat/completions' : '/v1/messages';
      const body = JSON.stringify({
        ...(JSON.parse(bodyOf(dialect, true)) as object),
        stream_options: undefined,
      });
      for (const [at, expectedRequests] of (dialect === 'chat' ? [2, 1] : [1, 1]).entries()) {
        const before = t.spare.requests.length;
        const response = await exchange(t.proxy.port, { path, body, headers: clientKey(dialect) });
        assert.is(response.status, 200, response.text);
        assert.is(t.spare.requests.length - before, expectedRequests, `${dialect} ${at}`);
        if (expectedRequests === 2)
          assert.match(JSON.stringify(await traceOf(t, response)), 'refuses stream_options');
      }
    }
    const own = bodyOf('chat', true);
    const response = await exchange(t.proxy.port, {
      path: '/v1/chat/completions',
      body: own,
      headers: clientKey('chat'),
    });
    assert.is(response.status, 400, 'the client’s own stream_options are left to the provider');
  }));

test('calls with unknown reasoning get a placeholder once the provider requires it', () =>
  withPair({ yaml: local('chat') }, async (t) => {
    enforce(t.spare);
    const call = { type: 'tool_use', id: 't1', name: 'f', input: {} };
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'ok' };
    const body = JSON.stringify({
      model: 'm',
      max_tokens: 5,
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result] },
      ],
    });
    for (const expectedRequests of [2, 1]) {
      const before = t.spare.requests.length;
      const response = await exchange(t.proxy.port, { body });
      assert.is(response.status, 200, response.text);
      assert.is(t.spare.requests.length - before, expectedRequests);
      assert.match(t.spare.requests.at(-1)!.body.toString(), '"reasoning_content":" "');
    }
  }));

test('a server that refuses reasoning in calls gets them without it, even if it reasons itself', () => {
  const call = { id: 'one', name: 'f', input: {} };
  const thinking = { text: 'I think.', signature: 'c2ln' };
  const replies = () => ({ deltas: [], toolCalls: [call], stop: 'tool' as const, thinking });
  return withPair({ yaml: local('chat'), upstream: { replies } }, async (t) => {
    const go = { role: 'user', content: 'go' };
    const more = { model: 'm', max_tokens: 5, tools: [{ name: 'f', input_schema: {} }] };
    const first = await exchange(t.proxy.port, {
      body: JSON.stringify({ ...more, messages: [go] }),
    });
    const { content } = JSON.parse(first.text) as { content: { id: string }[] };
    const results = content.map(({ id }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: 'a',
    }));
    const messages = [go, { role: 'assistant', content }, { role: 'user', content: results }];
    t.spare.script(
      undefined,
      answer((situation) =>
        situation.request.body.includes('reasoning_content')
          ? bad("property 'messages.1.reasoning_content' is unsupported")
          : situation.answer(),
      ),
    );
    for (const expectedRequests of [2, 1]) {
      const before = t.spare.requests.length;
      const body = JSON.stringify({ ...more, messages });
      const response = await exchange(t.proxy.port, { body });
      assert.is(response.status, 200, response.text);
      assert.is(t.spare.requests.length - before, expectedRequests);
    }
  });
});

test('a server that accepts instructions only at the beginning gets later ones as user text', () =>
  withPair({ yaml: local('chat') }, async (t) => {
    t.spare.script(
      undefined,
      answer((situation) =>
        /"role":"user".*"role":"system"/.test(situation.request.body.toString())
          ? bad('System message must be at the beginning.')
          : situation.answer(),
      ),
    );
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'system', content: 'Be brief.' },
    ];
    const body = JSON.stringify({ model: 'm', max_tokens: 5, messages });
    const response = await exchange(t.proxy.port, { body });
    assert.is(response.status, 200, response.text);
    const sent = t.spare.requests.at(-1)!.body.toString();
    assert.match(sent, '<system>\\nBe brief.\\n</system>');
  }));

const KINDS = (url: string) => `providers:
  other:
    kind: messages
    base_url: "${url}"
    api_key: k
    model_aliases: { claude-opus-4-8: claude-sonnet-4-5 }
fallback: [other]
`;

test('a model of the same kind that refuses mid-conversation instructions gets them as user text', () =>
  withPair({ yaml: KINDS }, async (t) => {
    enforce(t.spare);
    t.upstream.script(undefined, '529');
    const marked = { cache_control: { type: 'ephemeral' } };
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'system', content: 'Be "brief".' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }] },
      { role: 'user', content: [{ type: 'text', text: 'more' }] },
      { role: 'system', content: 'Only now.', clear_at: 'next_user_message' },
      { role: 'assistant', content: 'Well.' },
      { role: 'user', content: [{ type: 'text', text: 'on' }] },
      { role: 'system', content: [{ type: 'text', text: 'One left.', ...marked }], clear_at: 5 },
    ];
    const body = JSON.stringify({ model: 'claude-opus-4-8', max_tokens: 5, messages, odd: 1.0 });
    for (const expectedRequests of [2, 1]) {
      t.recover();
      const before = t.spare.requests.length;
      const response = await exchange(t.proxy.port, { body, headers: clientKey('messages') });
      assert.is(response.status, 200, response.text);
      assert.is(t.spare.requests.length - before, expectedRequests);
      const sent = t.spare.requests.at(-1)!.body.toString();
      const expected = [
        messages[0],
        { role: 'user', content: '<system>\nBe "brief".\n</system>' },
        messages[2],
        messages[3],
        {
          role: 'user',
          content: '<system>\nWhat stood here was for one turn, which is over.\n</system>',
        },
        messages[5],
        messages[6],
        {
          role: 'user',
          content: [{ type: 'text', text: '<system>\nOne left.\n</system>', ...marked }],
        },
      ];
      assert.equal(JSON.parse(sent), {
        ...(JSON.parse(body) as object),
        model: 'claude-sonnet-4-5',
        messages: expected,
      });
      const trace = JSON.stringify(await traceOf(t, response));
      if (expectedRequests === 2) assert.match(trace, 'refuses instructions in the middle');
      assert.match(trace, 'are sent as marked user text');
      // The primary got exactly what the client sent.
      assert.is(t.upstream.requests.at(-1)!.body.toString(), body);
    }
  }));

test('mid-conversation instructions are kept if another model of the same provider accepts them', () =>
  withPair({ yaml: () => '' }, async (t) => {
    enforce(t.upstream);
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'system', content: 'Be brief.' },
    ];
    for (const [model, expectedRequests] of [
      ['claude-sonnet-4-5', 2],
      ['claude-opus-4-8', 1],
    ] as const) {
      const body = JSON.stringify({ model, max_tokens: 5, messages });
      const before = t.upstream.requests.length;
      const response = await exchange(t.proxy.port, { body, headers: clientKey('messages') });
      assert.is(response.status, 200, response.text);
      assert.is(t.upstream.requests.length - before, expectedRequests, model);
      assert.is(
        t.upstream.requests.at(-1)!.body.toString() === body,
        expectedRequests === 1,
        model,
      );
    }
    // A subscription's bytes are tied to its own provider, which itself states what it does not
    // accept.
    const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 5, messages });
    const headers = { authorization: 'Bearer sk-ant-oat01-mine' };
    const response = await exchange(t.proxy.port, { body, headers });
    assert.is(response.status, 400);
    assert.is(t.upstream.requests.at(-1)!.body.toString(), body);
  }));

test('a request whose only tool is another provider’s search is refused with the reason', () =>
  withPair({ yaml: local('chat') }, async (t) => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
    const messages = [{ role: 'user', content: 'What is new?' }];
    const body = JSON.stringify({ model: 'm', max_tokens: 5, messages, tools });
    const response = await exchange(t.proxy.port, { body });
    assert.is(response.status, 400, response.text);
    assert.match(
      response.text,
      /own tool web_search_20250305, which is all that the request offers/,
    );
    assert.is(t.spare.requests.length, 0);
  }));

test.after(closeClients);
test.run();
