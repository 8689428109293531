import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { banner, endOfLifeNote, factsOf } from './facts.ts';
import type { ServeFacts } from './facts.ts';
import { colorsFor } from '../screen/output.ts';
import { loadConfig } from '../../server/config/load.ts';
import { makeContext, makePlace } from '../../fixtures/cli/run.ts';

const place = makePlace();
test.after(() => place.dispose());
const { context } = makeContext(place);
const plain = colorsFor(context.stdout, context.env);

async function factsWith(
  env: Readonly<Record<string, string>>,
  url = 'http://127.0.0.1:8766',
): Promise<ServeFacts> {
  const loaded = await loadConfig({
    env: { SVC_HOME: place.home, ...env },
    cwd: place.folder,
    home: place.folder,
  });
  const own = { version: '1.0.0', logFile: `${place.home}/logs/svc.log` };
  return factsOf(loaded, { url, wsPort: 8767 }, own);
}

test('the first lines show the source of each key, but never the key', async () => {
  const secret = 'a-secret-of-more-than-twenty-characters';
  const facts = await factsWith({ ANTHROPIC_API_KEY: secret, GEMINI_API_KEY: secret });
  const text = banner(facts, context, plain).join('\n');
  assert.match(text, /messages from ANTHROPIC_API_KEY; generative from GEMINI_API_KEY/);
  assert.not.ok(JSON.stringify(facts).includes(secret));
  const none = banner(await factsWith({}), context, plain).join('\n');
  assert.match(none, /Keys +none configured/);
});

test('the first lines are short and end with the warnings', async () => {
  const quiet = banner(await factsWith({}), context, plain);
  assert.ok(quiet.length <= 9, quiet.join('\n'));
  assert.ok(quiet.every((line) => line.length <= 100));
  const facts = {
    ...(await factsWith({})),
    warnings: ['look here'],
  };
  const text = banner(facts, context, plain).join('\n');
  assert.match(text, /\n\n +! look here$/);
});

test('clients are pointed at loopback when the proxy listens on all addresses', async () => {
  for (const [url, client] of [
    ['http://0.0.0.0:8766', 'http://127.0.0.1:8766'],
    ['http://[::]:8766', 'http://[::1]:8766'],
    ['http://[::1]:80', 'http://[::1]'],
  ] as const) {
    const facts = await factsWith({}, url);
    const text = banner(facts, context, plain).join('\n');
    assert.ok(text.includes(`ANTHROPIC_BASE_URL=${client} claude`), text);
    assert.is(facts.wsUrl, `ws://${new URL(url).hostname}:8767/ws`);
  }
});

test('a Node version without security fixes is named in one line; a supported one is not', () => {
  assert.match(endOfLifeNote('20.20.2')?.[0] ?? '', /^Node 20 .* since 2026-04-30/);
  for (const version of ['22.1.0', '24.0.0', '26.3.1'])
    assert.is(endOfLifeNote(version), undefined);
});

test.run();
