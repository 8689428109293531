/** `svc status` of a proxy that has retried requests. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../../fixtures/upstream.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';

/** Sends a small request and reads its response. */
async function ask(url: string): Promise<void> {
  const content = 'hello';
  const body = { model: 'claude-x', max_tokens: 5, messages: [{ role: 'user', content }] };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  assert.is(response.status, 200);
  await response.text();
}

test('status shows the newest retries with their reasons, and what provider caches read', async () => {
  const upstream = await startUpstream();
  const place = makePlace();
  const file = join(place.folder, 'svc.yaml');
  writeFileSync(file, 'providers: { messages: { oauth_token: token-two } }\n', { mode: 0o600 });
  const proxy = start(place, ['serve', '--port', '0', '--config', file], {
    MSGPROV_BASE_URL: upstream.url,
    MSGPROV_API_KEY: 'messages-key',
  });
  try {
    const url = await proxy.prints(/http:\/\/127\.0\.0\.1:\d+/);
    assert.not.match((await run(place, ['status'])).stdout, /retries/i);
    upstream.script(undefined, '429', { times: 1 });
    await ask(url[0]);
    const { stdout } = await run(place, ['status']);
    assert.match(stdout, /Newest retries/);
    assert.match(
      stdout,
      /messages +MSGPROV_API_KEY +status 429 +messages +providers\.messages\.oauth_token +ok/,
    );
    const { retries } = JSON.parse((await run(place, ['status', '--json'])).stdout) as {
      retries: readonly Record<string, unknown>[];
    };
    assert.equal(
      retries.map(({ provider, key, status, next_provider: next }) => [
        provider,
        key,
        status,
        next,
      ]),
      [['messages', 'MSGPROV_API_KEY', 429, 'messages']],
    );
    const cache = await run(place, ['status', '--tip-cache']);
    assert.match(cache.stdout, /prompt cache of +tokens read/);
    assert.match(cache.stdout, /messages/);
    const json = await run(place, ['status', '--tip-cache', '--json']);
    const { prompt_cache: reported } = JSON.parse(json.stdout) as { prompt_cache: object };
    assert.ok('providers' in reported);
  } finally {
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    await upstream.close();
    place.dispose();
  }
});

test.run();
