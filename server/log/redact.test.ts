import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { REDACTED, createRedactor } from './redact.ts';

const KEYS = [
  'canary-Key/with+signs=="quoted"',
  'k1',
  'abc',
  'hunter22',
  'ключ-to-the-house',
  'a b c d',
];

/**
 * Every encoding in which a secret may appear, written independently of the code that searches for
 * them.
 */
function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll(/%[0-9A-F]{2}/g, (part) => part.toLowerCase()),
    new URLSearchParams({ q: secret }).toString().slice(2),
    bytes.toString('hex'),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ];
}

test('removes a known secret in every encoding and position', () => {
  for (const key of KEYS) {
    const redactor = createRedactor([key]);
    for (const encoded of encodingsOf(key)) {
      for (const text of [encoded, `a ${encoded} b`, `x="${encoded}"`, `/${encoded}/`]) {
        const cleaned = redactor.text(text);
        assert.not(cleaned.includes(encoded), `${key}: ${cleaned}`);
        assert.ok(cleaned.includes(REDACTED));
      }
    }
  }
});

test('removes a secret inside a longer base64 text at each alignment', () => {
  const secret = 'canary-secret-value';
  const redactor = createRedactor([secret]);
  for (const before of ['', 'u', 'us', 'user:', 'someone:']) {
    for (const after of ['', 'x', '@h', '!!!']) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(before + secret + after).toString(encoding);
        const cleaned = redactor.text(`header ${text} end`);
        const rest = cleaned.replace('header ', '').replace(' end', '');
        const decoded = rest
          .split(REDACTED)
          .map((part) => Buffer.from(part, 'base64').toString('latin1'));
        assert.not(
          decoded.some((part) => part.includes('anary') || part.includes('alue')),
          cleaned,
        );
        assert.ok(cleaned.includes(REDACTED), cleaned);
      }
    }
  }
});

test('removes a short secret as a word of its own, but not inside words', () => {
  const { text } = createRedactor(['k1', 'abc']);
  assert.is(text('key=k1, k1; (abc)'), `key=${REDACTED}, ${REDACTED}; (${REDACTED})`);
  assert.is(text('task12 abcd xabc'), 'task12 abcd xabc');
});

test('finds a secret in keys, errors, causes, maps, URLs and header lists', () => {
  const secret = 'canary-0123';
  const redactor = createRedactor([secret]);
  const value = {
    [secret]: 1,
    error: new Error(`failed with ${secret}`, { cause: new TypeError(secret) }),
    map: new Map([[secret, secret]]),
    url: new URL(`https://example.test/?x=${secret}`),
    list: [[secret]],
    nested: { deep: { deeper: secret } },
  };
  assert.not.match(JSON.stringify(redactor.value(value)), /canary/);
});

test('removes a value whose name suggests a secret', () => {
  const { value } = createRedactor();
  for (const name of [
    ...'Authorization authorization Proxy-Authorization x-api-key X-Svc-Key x-goog-api-key api_key'.split(
      ' ',
    ),
    ...'apiKey api-key Cookie Set-Cookie password client_secret access_token oauth_token2'.split(
      ' ',
    ),
    ...'MSGPROV_API_KEY OPENAI_API_KEY MSGPROV_OAUTH_TOKEN'.split(' '),
  ]) {
    assert.equal(value({ [name]: 'unknown' }), { [name]: REDACTED }, name);
    assert.equal(value([name, 'unknown', 'x', 'y']), [name, REDACTED, 'x', 'y'], name);
    assert.equal(value({ [name]: ['unknown'] }), { [name]: REDACTED }, name);
  }
  const harmless = {
    max_tokens: 5,
    input_tokens: 6,
    saved_tokens: 7,
    keyId: 'ab',
    model: 'm',
    path: '/',
  };
  assert.equal(value(harmless), harmless);
  assert.equal(value({ api_key: null }), { api_key: null });
});

test('removes anything in free text that looks like a key', () => {
  const { text } = createRedactor();
  for (const sample of [
    'Authorization: Bearer canary.canary',
    'authorization=Basic canarycanary',
    'x-api-key: canary',
    '{"x-svc-key":"canary"}',
    'sk-ant-api03-canary_canary',
    'svc_canarycanarycanary',
    'AIzaCanarycanary'.replace('C', 'c'),
    'GET /v1beta/models?alt=sse&key=canary HTTP/1.1',
    'https://user:canary@proxy.test:3128/',
  ]) {
    assert.not.match(text(sample), /canary/, sample);
    assert.match(text(sample), /\[redacted\]/);
  }
  assert.is(text('the key is under the mat'), 'the key is under the mat');
});

test('removes terminal control sequences, which cannot split a secret', () => {
  const { text } = createRedactor(['canary-0123']);
  assert.is(text('a\u001b[31mred\u001b[0m b'), 'ared b');
  assert.is(text('\u001b]0;title\u0007x \u001b]8;;http://e\u001b\\y \u009b2Jz'), 'x y z');
  assert.is(text('a\u0000b\u0007c\u007fd\u0085e\u202ef\u2066g\r'), 'abcdefg');
  assert.is(text('tab\tand\nline'), 'tab\tand\nline');
  assert.is(text('cana\u001b[0mry-0\u0000123'), REDACTED);
});

test('removes secrets before a long text is cut', () => {
  const { text } = createRedactor(['canary-0123']);
  for (let offset = 16_370; offset < 16_390; offset += 1) {
    const cleaned = text(`${' '.repeat(offset)}canary-0123${' '.repeat(100)}`);
    assert.not.match(cleaned, /canar/);
    assert.match(cleaned, /characters\)$/);
  }
});

test('cleans a text of any length, and leaves no part of a secret where it is cut', () => {
  const { text } = createRedactor(['canary-0123']);
  for (let offset = 65_520; offset < 65_540; offset += 1) {
    const shrinking = 'canary-0123'.repeat(6000).slice(0, offset - (offset % 11));
    assert.not.match(text(`${shrinking}canary-0123 and on${' '.repeat(1000)}`), /canar/);
  }
});

test('cyclic and other unusual values are logged without an error', () => {
  const { value } = createRedactor();
  const loop: Record<string, unknown> = {};
  loop['loop'] = loop;
  assert.match(JSON.stringify(value(loop)), /deeper/);
  assert.equal(value({ big: 10n, none: undefined, call: () => 1, when: new Date(NaN) }), {
    big: '10',
    none: undefined,
    call: '[function]',
    when: null,
  });
  assert.equal(value(JSON.parse('{"__proto__":{"x":1}}')), JSON.parse('{"__proto__":{"x":1}}'));
  assert.is((value(Array.from({ length: 1000 }, () => 1)) as unknown[]).length, 201);
});

test('no secret passes through in any text', () => {
  const secrets = fc.string({ unit: 'grapheme-ascii', minLength: 6, maxLength: 40 });
  fc.assert(
    fc.property(secrets, fc.string(), fc.string(), (secret, before, after) => {
      const redactor = createRedactor([secret]);
      const cleaned = JSON.stringify(
        redactor.value({ a: before + secret + after, [secret]: [secret] }),
      );
      fc.pre(!before.includes(secret) && !after.includes(secret));
      assert.not(cleaned.includes(JSON.stringify(secret).slice(1, -1)), cleaned);
    }),
    { numRuns: 500, seed: 4 },
  );
});

test.run();
