import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withoutNamedCredentials } from './credential-members.ts';

const clean = (text: string): string => withoutNamedCredentials(text, '[redacted]');

test('redacts a member with the name of a credential', () => {
  for (const name of [
    'authorization_token',
    'authorization',
    'Authorization',
    'api_key',
    'apiKey',
    'client_secret',
    'access_token',
    'password',
  ])
    assert.is(
      clean(JSON.stringify({ url: 'https://mcp.example', [name]: 'plain words' })),
      `{"url":"https://mcp.example","${name}":"[redacted]"}`,
      name,
    );
  assert.is(clean('{"authorization" : "Bearer abc"}'), '{"authorization" : "Bearer [redacted]"}');
  assert.is(clean('{"password":"a\\"b\\\\","x":"y"}'), '{"password":"[redacted]","x":"y"}');
});

test('redacts credentials in the arguments of a call, which are JSON inside JSON', () => {
  const args = JSON.stringify({ api_key: 'a"b\\c\n', note: 'stays "so"', password: '' });
  assert.is(
    clean(JSON.stringify({ name: 'deploy', arguments: args })),
    JSON.stringify({ name: 'deploy', arguments: args.replace('a\\"b\\\\c\\n', '[redacted]') }),
  );
});

test('redacts every header field of a tool server', () => {
  const tool = {
    type: 'mcp',
    headers: { 'X-Team': 'a}b', Authorization: 'Bearer "q"' },
    more: 'stays',
  };
  assert.is(
    clean(JSON.stringify(tool)),
    '{"type":"mcp","headers":{"X-Team":"[redacted]","Authorization":"Bearer [redacted]"},"more":"stays"}',
  );
});

test('redacts credentials in URLs', () => {
  for (const [address, cleaned] of [
    ['https://anna:pass@host/a', 'https://anna:[redacted]@host/a'],
    ['postgres://:p%40ss@host/db', 'postgres://:[redacted]@host/db'],
    [
      'https://h/a?X-Amz-Date=1&X-Amz-Signature=abc&x=1',
      'https://h/a?X-Amz-Date=1&X-Amz-Signature=[redacted]&x=1',
    ],
    ['https://h/a?sig=abc#top', 'https://h/a?sig=[redacted]#top'],
    ['https://h/a?access_token=abc', 'https://h/a?access_token=[redacted]'],
  ] as const)
    assert.is(clean(`see "${address}" there`), `see "${cleaned}" there`);
  for (const kept of [
    'https://h/a?keyword=abc&design=2',
    'mail anna@host, https://host:8080/a',
    'git@host:team/a.git',
  ])
    assert.is(clean(kept), kept);
});

test('redacts a text that was truncated inside a credential', () => {
  assert.is(clean('{"authorization_token":"half of'), '{"authorization_token":"[redacted]');
  assert.is(
    clean('{"headers":{"A":"1","B":"half \\'),
    '{"headers":{"A":"[redacted]","B":"[redacted]\\',
  );
});

test('keeps the values of other members', () => {
  for (const text of [
    '{"properties":{"password":{"type":"string"},"headers":{"type":"object"}}}',
    '{"max_tokens":3,"token_count":"7","text":"the password is in the safe"}',
    '{"password":"","authorization":null,"headers":{}}',
    'no JSON at all: "headers" and authorization',
  ])
    assert.is(clean(text), text);
});

test('lets a replacement keep the length', () => {
  const text = '{"authorization_token":"twelve chars"}';
  const masked = withoutNamedCredentials(text, ({ length }) => '*'.repeat(length));
  assert.is(masked, '{"authorization_token":"************"}');
});

test.run();
