/**
 * Bodies whose content type is not JSON are rejected before they are read, and reach no provider.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { isJsonType } from './media-type.ts';
import {
  CHAT,
  MESSAGE,
  closeClients,
  exchange,
  json,
  sendRaw,
} from '../../fixtures/server/exchange.ts';

test('recognises the media types that count as JSON', () => {
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json ;charset=utf-8',
    'application/vnd.api+json',
    'application/problem+json;x=1',
    'model/gltf+json',
  ])
    assert.ok(isJsonType(type), type);
  for (const type of [
    undefined,
    '',
    'text/plain',
    'text/plain; application/json',
    'text/plain;a=application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=json',
    'application/jsonx',
    'application/json-seq',
    'application/json,text/plain',
    'text/json',
    'json',
  ])
    assert.not.ok(isJsonType(type), type);
});

const PATHS: readonly (readonly [string, object])[] = [
  ['/v1/messages', MESSAGE],
  ['/v1/messages?beta=true', MESSAGE],
  ['/v1/messages/count_tokens', MESSAGE],
  ['/v1/chat/completions', CHAT],
  ['/v1/responses', { model: 'm', input: 'hello' }],
  ['/v1/completions', { model: 'm', prompt: 'hello' }],
  ['/v1/embeddings', { model: 'm', input: 'hello' }],
  ['/v1beta/models/m:generateContent', { contents: [{ parts: [{ text: 'hello' }] }] }],
];

test('a conversation is accepted only as JSON', async () => {
  await withProxy({}, async ({ proxy, upstream }) => {
    for (const [path, body] of PATHS) {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
        for (const key of [undefined, 'a key']) {
          const headers = { 'content-type': type, ...(key && { 'x-api-key': key }) };
          const response = await exchange(proxy.port, {
            path,
            body: JSON.stringify(body),
            headers,
          });
          assert.is(response.status, 415, `${path} ${type}`);
          assert.match(response.text, /unsupported_media_type/);
        }
      assert.is(upstream.requests.length, 0, path);
    }
  });
});

test('a missing media type is accepted with a key that no HTML form could send', async () => {
  await withProxy({}, async ({ proxy, upstream }) => {
    const body = json(MESSAGE);
    const sent = (fields: string): Promise<string> =>
      sendRaw(
        proxy.port,
        `POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${fields}` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      );
    assert.match(await sent(''), /^HTTP\/1.1 415 /);
    assert.match(await sent('Content-Type: \r\n'), /^HTTP\/1.1 415 /);
    assert.match(await sent('Cookie: a=b\r\n'), /^HTTP\/1.1 415 /);
    assert.is(upstream.requests.length, 0);
    assert.match(await sent('x-api-key: own\r\n'), /^HTTP\/1.1 200 /);
    assert.match(await sent('Authorization: Bearer own\r\n'), /^HTTP\/1.1 200 /);
    assert.match(await sent('Content-Type: application/vnd.x+json\r\n'), /^HTTP\/1.1 200 /);
    assert.is(upstream.requests.length, 3);
  });
});

test('an uploaded file keeps its media type', async () => {
  await withProxy({}, async ({ proxy, upstream }) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    await exchange(proxy.port, { path: '/v1/files', body: '--x--', headers });
    assert.is(upstream.requests.length, 1);
  });
});

test.after(closeClients);
test.run();
