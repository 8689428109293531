/**
 * A conversation goes to the provider chosen for it, even without generation, or to none at all.
 */
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { withPair } from '../../fixtures/forward/pair.ts';
import type { Pair, PairOptions } from '../../fixtures/forward/pair.ts';

const CONTENTS = json({ contents: [{ parts: [{ text: 'hello' }] }] });
const INPUT = json({ model: 'gpt-fixture-1', input: 'hello' });
const GEMINI = '/v1beta/models/gemini-fixture-1';

/** Every path whose body is a conversation and that only one kind of provider has. */
const PATHS: readonly (readonly [path: string, body: string])[] = [
  ['/v1/messages/count_tokens', json(MESSAGE)],
  ['/v1/messages/count_tokens?beta=true', json(MESSAGE)],
  ['/v1/messages/batches', json({ requests: [{ custom_id: 'a', params: MESSAGE }] })],
  ['/v1/completions', json({ model: 'gpt-fixture-1', prompt: 'hello' })],
  ['/v1/responses/input_tokens', INPUT],
  ['/v1/responses/compact', INPUT],
  [`${GEMINI}:countTokens`, CONTENTS],
  ['/v1/models/gemini-fixture-1:countTokens', CONTENTS],
  [`${GEMINI}:countTokens?key=mine`, CONTENTS],
  [`${GEMINI}:batchGenerateContent`, json({ batch: {} })],
  ['/v1beta/tunedModels/mine:generateContent', CONTENTS],
  ['/v1beta/tunedModels/mine:streamGenerateContent?alt=sse', CONTENTS],
  ['/v1beta/cachedContents', CONTENTS],
];

/** Returns a config in which `spare`, of `kind`, answers first. */
const first =
  (kind: string): PairOptions['yaml'] =>
  (url) =>
    `provider: spare
providers:
  spare: { kind: ${kind}, base_url: "${url}", api_key: spare-key }
`;

/** Returns a config in which `spare`, of `kind`, has the models of the fixtures. */
const ofModels =
  (kind: string): PairOptions['yaml'] =>
  (url) =>
    `models:
  claude-fixture-1: { provider: spare }
  gpt-fixture-1: { provider: spare }
  gemini-fixture-1: { provider: spare }
providers:
  spare: { kind: ${kind}, base_url: "${url}", api_key: spare-key }
`;

const sentOn = ({ upstream, spare }: Pair) => [upstream.requests.length, spare.requests.length];

const COUNTS = /count_tokens|input_tokens|countTokens/;

/** Returns true if a provider of `kind` serves `path`, itself or for a translated request. */
const isServed = (kind: string, path: string): boolean =>
  ownerOf(path) === kind || (kind !== 'chat' && COUNTS.test(path));

/** Returns the kind of provider that has `path`. */
function ownerOf(path: string): string {
  if (path.startsWith('/v1/messages')) return 'messages';
  return /^\/v1\/(?:completions|responses)/.test(path) ? 'chat' : 'generative';
}

for (const kind of ['messages', 'chat', 'generative']) {
  test(`with a primary of kind ${kind}, no conversation is sent to another vendor`, () =>
    withPair({ yaml: first(kind) }, async (t) => {
      for (const [path, body] of PATHS) {
        const before = sentOn(t);
        const response = await exchange(t.proxy.port, { path, body });
        const isOwn = isServed(kind, path);
        if (!isOwn) {
          assert.is(response.status, 404, path);
          assert.match(response.text, "'spare'", path);
        }
        const [vendor, spare] = before as [number, number];
        assert.equal(sentOn(t), [vendor, spare + (isOwn ? 1 : 0)], path);
      }
    }));

  test(`conversations with a model of a ${kind} provider are sent to no other vendor`, () =>
    withPair({ yaml: ofModels(kind) }, async (t) => {
      for (const [path, body] of PATHS) {
        if (!/fixture-1/.test(path + body) || path.endsWith('batches')) continue;
        const response = await exchange(t.proxy.port, { path, body });
        const isOwn = isServed(kind, path);
        if (!isOwn) assert.is(response.status, 404, path);
        assert.is(t.upstream.requests.length, 0, path);
        const target = t.spare.requests.at(-1)?.target;
        const itself = target?.startsWith(path.split('?')[0]!) ?? false;
        assert.is(itself || (isOwn && COUNTS.test(target ?? '')), isOwn, path);
      }
    }));
}

test('without routing every path goes to its own vendor', () =>
  withPair({ yaml: () => '' }, async (t) => {
    for (const [path, body] of PATHS) {
      await exchange(t.proxy.port, { path, body });
      assert.is(t.upstream.requests.at(-1)?.target, path);
    }
  }));

test('requests without a conversation are not refused', () =>
  withPair({ yaml: first('chat') }, async (t) => {
    const list = '/v1/messages/batches';
    await exchange(t.proxy.port, { path: list, method: 'GET' });
    await exchange(t.proxy.port, { path: `${GEMINI}:embedContent`, body: CONTENTS });
    assert.equal(sentOn(t), [2, 0]);
  }));

test('an undecoded body is refused if the provider depends on its model', () =>
  withPair({ yaml: ofModels('messages') }, async (t) => {
    const headers = { 'content-encoding': 'gzip' };
    const prompt = gzipSync(json({ model: 'gpt-fixture-1', prompt: 'hello' }));
    const response = await exchange(t.proxy.port, {
      path: '/v1/completions',
      body: prompt,
      headers,
    });
    assert.is(response.status, 415);
    // The body of this endpoint is decoded and read.
    const summary = { path: '/v1/responses/compact', body: gzipSync(INPUT), headers };
    assert.is((await exchange(t.proxy.port, summary)).status, 404);
    assert.equal(sentOn(t), [0, 0]);
    // The path names the model.
    const named = { path: `${GEMINI}:countTokens`, body: gzipSync(CONTENTS), headers };
    assert.is((await exchange(t.proxy.port, named)).status, 200);
    assert.equal(sentOn(t), [0, 1]);
    const chat = { path: '/v1/chat/completions', body: gzipSync(json(CHAT)), headers };
    assert.is((await exchange(t.proxy.port, chat)).status, 200);
    assert.equal(sentOn(t), [0, 2]);
  }));

test.after(closeClients);
test.run();
