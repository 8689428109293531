/** Invalid input: each case has its status, type and code, and reaches no provider. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, exchange, json } from '../../../fixtures/server/exchange.ts';
import { closeClients } from '../../../fixtures/server/exchange.ts';
import type { Sent } from '../../../fixtures/server/exchange.ts';

type Case = readonly [
  name: string,
  sent: Sent,
  status: number,
  type: string,
  code?: string | undefined,
];

const MB = 1024 * 1024;
const LIMIT_BYTES = 2 * MB;
const LIMITED = `
advanced: { max_request_size_bytes: ${LIMIT_BYTES} }
`;

const bad = (name: string, sent: Sent, code?: string): Case => [
  name,
  sent,
  400,
  'bad_request',
  code,
];
const messages = (body: unknown): Sent => ({ body: JSON.stringify(body) });
const chat = (body: unknown): Sent => ({
  path: '/v1/chat/completions',
  body: JSON.stringify(body),
});
const { model, max_tokens, messages: turns } = MESSAGE;
const zipped = (body: Buffer, encoding: string): Sent => ({
  body,
  headers: { 'content-encoding': encoding },
});
const zeros = Buffer.alloc(16 * MB);

const JSON_CASES: readonly Case[] = [
  bad('no body', { headers: { 'content-length': '0' } }, 'VALIDATION_001'),
  bad('an empty body', { body: '' }, 'VALIDATION_001'),
  bad('spaces', { body: '   ' }, 'VALIDATION_001'),
  bad('no JSON', { body: 'hello' }, 'VALIDATION_001'),
  bad('half a document', { body: '{"model":' }, 'VALIDATION_001'),
  bad('two documents', { body: `${json(MESSAGE)}${json(MESSAGE)}` }, 'VALIDATION_001'),
  bad('a trailing comma', { body: '{"model":"m",}' }, 'VALIDATION_001'),
  bad('single quotes', { body: "{'model':'m'}" }, 'VALIDATION_001'),
  bad('NaN', { body: '{"model":NaN}' }, 'VALIDATION_001'),
  bad('a comment', { body: '{/* */}' }, 'VALIDATION_001'),
  bad('a control character', { body: '{"model":"a\u0001"}' }, 'VALIDATION_001'),
  bad('a form', { body: 'model=m&max_tokens=1' }, 'VALIDATION_001'),
  bad('deep arrays', { body: '['.repeat(1_000_000) }, 'VALIDATION_001'),
  bad('deep and closed', { body: `${'['.repeat(500_000)}${']'.repeat(500_000)}` }),
  bad('deep objects', { body: '{"a":'.repeat(200_000) }, 'VALIDATION_001'),
  bad('UTF-16', { body: Buffer.from(json(MESSAGE), 'utf16le') }, 'VALIDATION_001'),
  bad('null', messages(null), 'VALIDATION_003'),
  bad('a string', messages('x'), 'VALIDATION_003'),
  bad('a number', messages(7), 'VALIDATION_003'),
  bad('an array', messages([MESSAGE]), 'VALIDATION_003'),
];

const FIELD_CASES: readonly Case[] = [
  bad('messages: no model', messages({ max_tokens, messages: turns }), 'VALIDATION_002'),
  bad('messages: no messages', messages({ model, max_tokens }), 'VALIDATION_002'),
  bad('messages: no max_tokens', messages({ model, messages: turns }), 'VALIDATION_002'),
  bad('messages: an empty object', messages({}), 'VALIDATION_002'),
  bad('messages: model is null', messages({ ...MESSAGE, model: null }), 'VALIDATION_003'),
  bad('messages: model is a number', messages({ ...MESSAGE, model: 7 }), 'VALIDATION_003'),
  bad('messages: messages is text', messages({ ...MESSAGE, messages: 'hi' }), 'VALIDATION_003'),
  bad('messages: messages is empty', messages({ ...MESSAGE, messages: [] }), 'VALIDATION_003'),
  bad('messages: messages is an object', messages({ ...MESSAGE, messages: {} }), 'VALIDATION_003'),
  bad('messages: max_tokens is text', messages({ ...MESSAGE, max_tokens: '9' }), 'VALIDATION_003'),
  bad(
    'messages: max_tokens is a part',
    messages({ ...MESSAGE, max_tokens: 1.5 }),
    'VALIDATION_003',
  ),
  bad('messages: stream is text', messages({ ...MESSAGE, stream: 'yes' }), 'VALIDATION_003'),
  bad('chat: no model', chat({ messages: turns }), 'VALIDATION_002'),
  bad('chat: no messages', chat({ model }), 'VALIDATION_002'),
  bad('chat: model is an array', chat({ ...CHAT, model: ['m'] }), 'VALIDATION_003'),
  bad('chat: messages is empty', chat({ ...CHAT, messages: [] }), 'VALIDATION_003'),
  bad('chat: messages is null', chat({ ...CHAT, messages: null }), 'VALIDATION_003'),
  bad('chat: stream is a number', chat({ ...CHAT, stream: 1 }), 'VALIDATION_003'),
  bad('responses: no model', { path: '/v1/responses', body: '{"input":"x"}' }, 'VALIDATION_002'),
];

const PATH_CASES: readonly Case[] = [
  ['an unknown path', { path: '/nope', method: 'GET' }, 404, 'not_found'],
  ['an unknown path, POST', { path: '/nope', body: '{}' }, 404, 'not_found'],
  ['bare /v1', { path: '/v1', method: 'GET' }, 404, 'not_found'],
  ['bare /v1/', { path: '/v1/', method: 'GET' }, 404, 'not_found'],
  ['a path that climbs', { path: '/v1/../../etc/passwd', method: 'GET' }, 404, 'not_found'],
  ['an encoded climb', { path: '/v1/%2e%2e/x', method: 'GET' }, 404, 'not_found'],
  ['/v2', { path: '/v2/messages', body: json(MESSAGE) }, 404, 'not_found'],
  ['a trace of no such id', { path: '/trace/req_none', method: 'GET' }, 404, 'not_found'],
  ['a trace id that climbs', { path: '/trace/..%2f..', method: 'GET' }, 404, 'not_found'],
  ['GET of messages', { method: 'GET' }, 405, 'method_not_allowed'],
  ['PUT of messages', { method: 'PUT', body: json(MESSAGE) }, 405, 'method_not_allowed'],
  ['DELETE of chat', { path: '/v1/chat/completions', method: 'DELETE' }, 405, 'method_not_allowed'],
  ['POST of models', { path: '/v1/models', body: '{}' }, 405, 'method_not_allowed'],
  ['POST of health', { path: '/health', body: '{}' }, 405, 'method_not_allowed'],
  ['GET of reload', { path: '/config/reload', method: 'GET' }, 405, 'method_not_allowed'],
  [
    'text to reload',
    { path: '/config/reload', body: 'x', headers: { 'content-type': 'text/plain' } },
    415,
    'unsupported_media_type',
  ],
];

const SIZE_CASES: readonly Case[] = [
  ['too long, declared', { body: Buffer.alloc(LIMIT_BYTES + 1) }, 413, 'payload_too_large'],
  [
    'too long, chunked',
    { body: Buffer.alloc(LIMIT_BYTES + 1), chunked: true },
    413,
    'payload_too_large',
  ],
  [
    'too long, own path',
    { path: '/config/reload', body: Buffer.alloc(LIMIT_BYTES + 1) },
    413,
    'payload_too_large',
  ],
  ['a gzip bomb', zipped(gzipSync(zeros), 'gzip'), 413, 'payload_too_large'],
  ['a deflate bomb', zipped(deflateSync(zeros), 'deflate'), 413, 'payload_too_large'],
  ['a br bomb', zipped(brotliCompressSync(zeros), 'br'), 413, 'payload_too_large'],
  [
    'many fields',
    { method: 'GET', path: '/v1/models', headers: fields(210, 1) },
    431,
    'headers_too_large',
  ],
  [
    'long fields',
    { method: 'GET', path: '/v1/models', headers: fields(20, 1000) },
    431,
    'headers_too_large',
  ],
];

const ENCODING_CASES: readonly Case[] = [
  ['an unknown encoding', zipped(Buffer.from('x'), 'snappy'), 415, 'unsupported_media_type'],
  [
    'two layers',
    zipped(gzipSync(gzipSync(json(MESSAGE))), 'gzip, gzip'),
    415,
    'unsupported_media_type',
  ],
  bad('not gzip', zipped(Buffer.from(json(MESSAGE)), 'gzip')),
  bad('half a gzip', zipped(gzipSync(json(MESSAGE)).subarray(0, -9), 'gzip')),
  bad('not deflate', zipped(Buffer.from([1, 2, 3, 4]), 'deflate')),
  bad('not br', zipped(Buffer.from('hello hello'), 'br')),
  bad('gzip of no JSON', zipped(gzipSync('hello'), 'gzip'), 'VALIDATION_001'),
];

const KEY_CASES: readonly Case[] = [
  [
    'Basic after a Bearer',
    { body: json(MESSAGE), headers: { authorization: ['Bearer tok', 'Basic dTpw'] } },
    401,
    'unauthorized',
    'AUTH_002',
  ],
  [
    'Basic',
    { body: json(MESSAGE), headers: { authorization: 'Basic dTpw' } },
    401,
    'unauthorized',
    'AUTH_002',
  ],
  [
    'Bearer without a token',
    { body: json(MESSAGE), headers: { authorization: 'Bearer' } },
    401,
    'unauthorized',
    'AUTH_002',
  ],
  [
    'a bare token',
    { body: json(MESSAGE), headers: { authorization: 'sk-1' } },
    401,
    'unauthorized',
    'AUTH_002',
  ],
  [
    'two tokens',
    { body: json(MESSAGE), headers: { authorization: 'Bearer a b' } },
    401,
    'unauthorized',
    'AUTH_002',
  ],
  ['a foreign Host', { body: json(MESSAGE), headers: { host: 'evil.example' } }, 403, 'forbidden'],
  [
    'a foreign page',
    { body: json(MESSAGE), headers: { origin: 'https://evil.example' } },
    401,
    'unauthorized',
    'AUTH_001',
  ],
  [
    'a forwarded request',
    { body: json(MESSAGE), headers: { 'x-forwarded-for': '1.2.3.4' } },
    401,
    'unauthorized',
    'AUTH_001',
  ],
];

function fields(count: number, sizeBytes: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`x-filler-${i}`, 'f'.repeat(sizeBytes)]),
  );
}

async function refused(t: TestProxy, [name, sent, status, type, code]: Case): Promise<void> {
  const response = await exchange(t.proxy.port, sent);
  assert.is(response.status, status, `${name}: ${response.text.slice(0, 200)}`);
  const body = JSON.parse(response.text) as {
    type: string;
    error: { type: string; code?: string };
    request_id: string;
  };
  assert.is(body.type, 'error', name);
  assert.is(body.error.type, type, name);
  if (code !== undefined) assert.is(body.error.code, code, name);
  assert.is(response.headers['x-request-id'], body.request_id, name);
  assert.is(response.headers['content-length'], String(response.body.length), name);
  if (status === 405) assert.match(response.headers.allow ?? '', /OPTIONS/, name);
  assert.is(t.upstream.requests.length, 0, `${name} reaches no provider`);
}

const SUITES = { JSON_CASES, FIELD_CASES, PATH_CASES, SIZE_CASES, ENCODING_CASES, KEY_CASES };

test('there are at least sixty cases', () => {
  const count = Object.values(SUITES).reduce((sum, cases) => sum + cases.length, 0);
  assert.ok(count >= 60, `${count} cases`);
});

for (const [name, cases] of Object.entries(SUITES)) {
  test(`bad input: ${name.toLowerCase().replace('_', ' ')}`, () =>
    withProxy({ yaml: LIMITED }, async (t) => {
      for (const badCase of cases) await refused(t, badCase);
      assert.is(
        (await exchange(t.proxy.port, { body: json(MESSAGE) })).status,
        200,
        'still serves',
      );
    }));
}

test('without any key: AUTH_001', () =>
  withProxy({ env: { MSGPROV_API_KEY: '', CHATPROV_API_KEY: '' } }, async (t) => {
    await refused(t, ['messages', { body: json(MESSAGE) }, 401, 'unauthorized', 'AUTH_001']);
    const chatting = { path: '/v1/chat/completions', body: json(CHAT) };
    await refused(t, ['chat', chatting, 401, 'unauthorized', 'AUTH_001']);
    const empty = { body: json(MESSAGE), headers: { 'x-api-key': '' } };
    await refused(t, ['an empty key', empty, 401, 'unauthorized', 'AUTH_001']);
    assert.is((await t.rows(3)).length, 3);
  }));

test('unusual but valid JSON is sent to the provider, which judges it', () =>
  withProxy({}, async (t) => {
    const fine: Sent[] = [
      messages({ ...MESSAGE, system: [{ type: 'text', text: 'x' }], later: { field: 1 } }),
      { body: Buffer.from(json(MESSAGE).replace('hello', '\xff\xfe'), 'latin1') },
      { body: `\n ${json(MESSAGE)}\r\n` },
      { body: json(MESSAGE), headers: { 'content-type': 'application/json; charset=latin1' } },
      { body: json(MESSAGE).replace('{', '{"__proto__":{"x":1},"constructor":1,') },
      { body: json(MESSAGE).replace('{', '{"model":"first",') },
    ];
    for (const sent of fine) {
      const response = await exchange(t.proxy.port, sent);
      assert.is(response.status, 200, response.text);
      assert.ok(t.upstream.requests.at(-1)!.body.equals(Buffer.from(sent.body!)));
    }
  }));

test.after(closeClients);
test.run();
