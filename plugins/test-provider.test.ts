import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../engine/index.ts';
import { projectRoot } from '../fixtures/paths.ts';
import type { ProviderDefinition } from './index.ts';
import { testProvider } from './test-provider.ts';

const file = pathToFileURL(join(projectRoot, 'examples/provider/acme.mjs')).href;
const { default: acme } = (await import(file)) as { default: ProviderDefinition };
const base: ProviderDefinition = { kind: 'chat', baseUrl: 'https://a.example' };

/**
 * Returns `base` with hooks that return invalid values, as an author without types may write them.
 */
function withMistakes(hooks: Readonly<Record<string, () => unknown>>): ProviderDefinition {
  return Object.assign({ ...base }, hooks);
}

test('shows what the example provider would send and how it reads responses', async () => {
  const provider = testProvider(acme);
  const sent = provider.sends({ model: 'm', stream_options: {} }, { headers: { Accept: 'x/y' } });
  assert.equal(sent, {
    path: '/2026-01/chat/completions',
    headers: { accept: 'x/y', 'x-acme-tenant': 'demo' },
    body: { model: 'm' },
  });
  const read = await provider.answers({ choices: [{ message: { output_text: 'hi' } }] });
  assert.equal(read, { choices: [{ message: { content: 'hi' } }] });
  const events = await provider.streams([
    { data: { type: 'keep-alive' } },
    { event: 'delta', data: { n: 1 } },
  ]);
  assert.equal(events, [{ event: 'delta', data: { n: 1 } }]);
});

test('a provider without hooks leaves requests and responses unchanged', async () => {
  const provider = testProvider(base);
  assert.equal(provider.sends({ a: 1 }).body, { a: 1 });
  assert.equal(await provider.answers({ b: 2 }), { b: 2 });
});

test('names a hook that throws, returns a promise, takes too long or returns an invalid value', async () => {
  const clock = createManualClock();
  const faults: [ProviderDefinition, RegExp][] = [
    [
      {
        ...base,
        request: () => {
          throw new Error('no\nsecret');
        },
      },
      /request hook of provider 'provider' failed: no$/,
    ],
    [withMistakes({ request: async () => undefined }), /returned a promise/],
    [
      {
        ...base,
        request: () => {
          clock.advance(51);
        },
      },
      /took 51 ms of at most 50/,
    ],
    [{ ...base, request: (r) => ({ ...r, path: 'x' }) }, /slash/],
    [{ ...base, request: (r) => ({ ...r, headers: { a: 'b\r\nc: d' } }) }, /header field/],
  ];
  for (const [definition, message] of faults)
    assert.throws(() => testProvider(definition, clock).sends({}), message);
  const wrong = testProvider(withMistakes({ event: () => 'x' }));
  await wrong.streams([{ data: {} }]).then(
    () => assert.unreachable(),
    (error: unknown) => assert.match(String(error), /something that is not { data }; return that/),
  );
  const event = testProvider({
    ...base,
    event: () => {
      throw new Error('odd');
    },
  });
  await event.streams([{ data: {} }]).then(
    () => assert.unreachable(),
    (error: unknown) => assert.match(String(error), /event hook .* failed: odd/),
  );
});

test('refuses an invalid definition and lists its faults', () => {
  assert.throws(() => testProvider({ ...base, baseUrl: 'nowhere' }), /baseUrl/);
});

test.run();
