import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { KeyedRequest } from './key.ts';
import { answerKey, mayKeep } from './key.ts';

const request = (body: string, more: Partial<KeyedRequest> = {}): KeyedRequest => ({
  credential: 'sk-one',
  provider: 'chat',
  path: '/v1/chat/completions',
  headers: [],
  body: Buffer.from(body),
  ...more,
});
const BODY = '{"model":"m","messages":[{"role":"user","content":"a"}],"temperature":0}';
const base = answerKey(request(BODY));

test('gives a different key for another credential, provider, path, variant or body', () => {
  const others = [
    request(BODY, { credential: 'sk-two' }),
    request(BODY, { provider: 'other' }),
    request(BODY, { path: '/v1/chat/completions?beta=true' }),
    request(BODY, { headers: ['Accept-Encoding', 'gzip'] }),
    request(BODY, { headers: ['anthropic-beta', 'context-1m'] }),
    request(BODY.replace('"m"', '"n"')),
    request(BODY.replace('"a"', '"b"')),
    request(BODY.replace('0}', '0,"seed":1}')),
  ];
  assert.is(new Set([base, ...others.map(answerKey)]).size, others.length + 1);
  assert.is(answerKey(request(BODY, { headers: ['user-agent', 'x'] })), base);
  assert.match(base, /^[0-9a-f]{64}$/);
});

test('gives different keys when the same characters are divided differently between provider and path', () => {
  const one = request(BODY, { provider: 'ab', path: '/c' });
  assert.is.not(answerKey(one), answerKey(request(BODY, { provider: 'a', path: 'b/c' })));
});

test('ignores the order of top-level members, but not of nested ones', () => {
  const reordered = '{"temperature":0, "messages": [{"role":"user","content":"a"}], "model" : "m"}';
  assert.is(answerKey(request(reordered)), base);
  const nestedReordered = BODY.replace(
    '"role":"user","content":"a"',
    '"content":"a","role":"user"',
  );
  assert.is.not(answerKey(request(nestedReordered)), base);
});

test('gives different keys for numbers that JavaScript rounds to the same value', () => {
  const withId = (id: string): string => answerKey(request(`{"id":${id}}`));
  assert.is.not(withId('12345678901234567890'), withId('12345678901234567891'));
});

test('ignores a billing line that changes with every request, and nothing else', () => {
  const body = (line: string, system = 'Be brief.'): string =>
    answerKey(
      request(
        JSON.stringify({
          model: 'm',
          system: [
            { type: 'text', text: line },
            { type: 'text', text: system },
          ],
        }),
      ),
    );
  assert.is(body('x-anthropic-billing-header: cch=1;'), body('x-anthropic-billing-header: cch=2;'));
  assert.is.not(body('x-anthropic-billing-header: cch=1;'), body('something else'));
  assert.is.not(
    body('x-anthropic-billing-header: cch=1;'),
    body('x-anthropic-billing-header: cch=1;', 'Be long.'),
  );
});

test('uses the whole text of a body that is not a JSON object', () => {
  const texts = [
    '',
    '[1]',
    '{"a":',
    '"x"',
    '['.repeat(500) + ']'.repeat(500),
    `{"a":${'['.repeat(500)}${']'.repeat(500)}}`,
  ];
  assert.is(new Set(texts.map((text) => answerKey(request(text)))).size, texts.length);
});

test('keeps the member order when a name is repeated or written with escapes', () => {
  const key = (body: string): string => answerKey(request(body));
  assert.is.not(key('{"a":1,"a":2}'), key('{"a":2,"a":1}'));
  assert.is.not(key('{"a":1,"\\u0061":2}'), key('{"\\u0061":2,"a":1}'));
});

test('gives two bodies the same key exactly when they have the same members with the same bytes', () => {
  const value = fc.json({ maxDepth: 2 });
  const names = fc.string({
    maxLength: 3,
    unit: fc.constantFrom('a', 'b', 'é', '{', ',', ' ', ':', ']'),
  });
  const members = fc.uniqueArray(fc.tuple(names, value), {
    selector: ([name]) => name,
    maxLength: 4,
  });
  const write = (list: [string, string][]): string =>
    `{${list.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  const sorted = (list: [string, string][]): string =>
    JSON.stringify(list.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  fc.assert(
    fc.property(members, members, (left, right) => {
      const isSame = answerKey(request(write(left))) === answerKey(request(write(right)));
      assert.is(isSame, sorted(left) === sorted(right));
      assert.is(answerKey(request(write(left))), answerKey(request(write(left.toReversed()))));
    }),
  );
});

test('allows caching only for requests that ask for deterministic output or for caching', () => {
  assert.is(mayKeep([], { temperature: 0 }), true);
  assert.is(mayKeep([], { generationConfig: { temperature: 0 } }), true);
  for (const body of [{}, { temperature: 0.1 }, { temperature: '0' }, null, [], 'x'])
    assert.is(mayKeep([], body), false);
  const state = [{ container: 'c1' }, { thread: { type: 'create' } }, { max_tokens: 0 }];
  const ofResponses = [{ conversation: 'conv_1' }, { background: true }];
  for (const more of [...state, ...ofResponses, { fallback_credit_token: 't' }]) {
    assert.is(mayKeep([], { temperature: 0, ...more }), false);
    assert.is(mayKeep(['x-svc-cache', 'on'], more), true);
  }
  assert.is(
    mayKeep([], { temperature: 0, container: null, background: false, max_tokens: 1 }),
    true,
  );
  assert.is(mayKeep(['X-Svc-Cache', 'On'], {}), true);
  assert.is(mayKeep(['x-svc-cache', 'off'], { temperature: 0 }), false);
  assert.is(mayKeep(['x-svc-cache', '0'], { temperature: 0 }), false);
  assert.is(mayKeep(['x-svc-cache', '1'], {}), true);
  assert.is(mayKeep(['x-svc-cache', 'maybe'], {}), false);
});

const SEARCH = { type: 'web_search' };
const FUNCTION = { type: 'function', name: 'f' };

test('does not cache requests that let the provider search or act by itself', () => {
  const providerActions = [
    { tools: [FUNCTION, SEARCH] },
    { tools: [{ type: 'mcp', server_label: 's' }] },
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
    { mcp_servers: [{ url: 'https://a' }] },
    { web_search_options: {} },
    { tools: [{ functionDeclarations: [] }, { googleSearch: {} }] },
    { tools: { google_search: {} } },
  ];
  for (const more of providerActions) {
    assert.is(mayKeep([], { temperature: 0, ...more }), false, JSON.stringify(more));
    assert.is(mayKeep(['x-svc-cache', 'on'], more), true, 'the client allows caching');
  }
  const clientTools = [
    { conversation: null, background: false, previous_response_id: 'resp_1' },
    { tools: [FUNCTION, { type: 'custom', name: 'p' }, { type: 'namespace', name: 'n' }] },
    {
      tools: [
        { name: 'f', input_schema: {} },
        { type: 'bash_20250124', name: 'bash' },
      ],
    },
    { tools: [{ type: 'shell' }, { type: 'apply_patch' }, { type: 'tool_search' }] },
    { tools: [{ functionDeclarations: [{ name: 'f' }] }], mcp_servers: [] },
    { tools: [{ function: { name: 'f' } }] },
  ];
  for (const more of clientTools)
    assert.is(mayKeep([], { temperature: 0, ...more }), true, JSON.stringify(more));
});

test.run();
