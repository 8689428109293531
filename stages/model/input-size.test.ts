import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messagesDialect } from '../dialect/messages/index.ts';
import { estimateInputTokens } from './input-size.ts';
import { toRequest } from './request.ts';

function sizeOf(json: unknown, bytes = Buffer.alloc(0)): number {
  const endpoint = {
    dialect: 'messages',
    operation: 'generate',
    rewritable: true,
    isConversation: true,
    defaultKind: 'messages',
  } as const;
  const body = { kind: 'body', method: 'POST', target: '/v1/messages', headers: [] } as const;
  const facts = messagesDialect.facts({}, '/v1/messages');
  return estimateInputTokens(
    toRequest({
      body: { ...body, endpoint, wireBytes: bytes, bytes },
      dialect: messagesDialect,
      facts,
      json,
    }),
  );
}
const message = (content: unknown): object => ({ messages: [{ role: 'user', content }] });

test('counts texts, tools and calls by their length, at any depth', () => {
  const base = sizeOf(message(''));
  assert.is(sizeOf(message('x'.repeat(3600))) - base, 1000);
  assert.is(sizeOf({ ...message(''), tools: [{ description: 'x'.repeat(3600) }] }) > 1000, true);
});

test('counts an image at a fixed size, and a signature as nothing', () => {
  const image = (data: string) => message([{ type: 'image', source: { type: 'base64', data } }]);
  assert.is(sizeOf(image('a')), sizeOf(image('a'.repeat(1_000_000))));
  const url = (text: string) => message([{ image_url: { url: `data:image/png;base64,${text}` } }]);
  assert.is(sizeOf(url('a')), sizeOf(url('a'.repeat(1_000_000))));
  assert.ok(sizeOf(image('a')) > 1000);
  const seal = (signature: string) => message([{ type: 'thinking', thinking: '', signature }]);
  assert.is(sizeOf(seal('')), sizeOf(seal('s'.repeat(9999))));
});

test('counts a body that was not parsed by its bytes', () => {
  assert.is(sizeOf(undefined, Buffer.alloc(360)), 100);
});

test('walks a body nested as deep as a parser allows, without recursion', () => {
  let deep: unknown = 'x';
  for (let i = 0; i < 100_000; i += 1) deep = [deep];
  assert.is(sizeOf(deep), 0);
});

test.run();
