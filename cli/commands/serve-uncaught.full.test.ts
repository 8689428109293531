import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { startUpstream } from '../../fixtures/upstream.ts';
import { stored } from '../../fixtures/ledger/temp-ledger.ts';
import { logFile } from '../../server/log/open-log.ts';
import { exitCodes } from '../exit.ts';
import { makePlace, start } from '../../fixtures/cli/run.ts';
import { until } from '../../fixtures/wait.ts';

/** Work that a hook may leave running. Each throws where nothing can catch it. */
const BACKGROUND_WORK: Readonly<Record<string, string>> = {
  'an async call': "(async () => { throw new Error('floating') })()",
  'a rejection that says nothing': 'Promise.reject()',
  'a timer': "setTimeout(() => { throw new Error('late') }, 5)",
  'a text': "setImmediate(() => { throw 'floating' })",
  'a microtask': "queueMicrotask(() => { throw new Error('floating') })",
  // Node loads `fetch` at its first call, which may take longer than a hook is allowed.
  'a request of its own': "setTimeout(() => fetch('http://127.0.0.1:1/'), 1)",
  'a file': "import('node:fs/promises').then((fs) => void fs.readFile('/nowhere/at/all'))",
  'an event': "import('node:net').then((net) => void net.connect(1, '127.0.0.1'))",
};

const CONFIG = `custom_providers:
  - { module: ./a.mjs, name: shaky }
  - { module: ./b.mjs, name: steady }
models:
  shaky-model: { provider: shaky }
  steady-model: { provider: steady }
`;

async function chat(
  url: string,
  model: string,
  more: object = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], ...more }),
    signal: AbortSignal.timeout(120_000),
  });
  return { status: response.status, text: await response.text() };
}

async function withProviders(
  hook: string,
  yaml: string,
  use: (t: {
    readonly ask: (model: string) => Promise<{ readonly status: number; readonly text: string }>;
    readonly health: () => Promise<{
      readonly status: string;
      readonly reasons: readonly string[];
    }>;
  }) => Promise<void>,
  top = '',
): Promise<void> {
  const place = makePlace();
  const upstream = await startUpstream();
  const write = (file: string, text: string): string => {
    const path = join(place.folder, file);
    writeFileSync(path, text);
    chmodSync(path, 0o600);
    return path;
  };
  const provider = (code: string): string =>
    `export default { kind: 'chat', baseUrl: '${upstream.url}', auth: 'none', request(r) { ${code} } };\n`;
  write('a.mjs', `${top}\n${provider(`if (r.body.n === 7) { ${hook} }`)}`);
  write('b.mjs', provider(''));
  const config = write('config.yaml', CONFIG + yaml);
  const env = { CHATPROV_BASE_URL: upstream.url, CHATPROV_API_KEY: 'chat-key' };
  const proxy = start(place, ['serve', '--port', '0', '--config', config], env);
  try {
    const [, url = ''] = await proxy.prints(/listens on (http:\S+)/);
    await use({
      ask: (model) => chat(url, model, model === 'shaky-model' ? { n: 7 } : {}),
      async health() {
        const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(120_000) });
        return (await response.json()) as { status: string; reasons: string[] };
      },
    });
  } finally {
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    await upstream.close();
    place.dispose();
  }
}

for (const [what, hook] of Object.entries(BACKGROUND_WORK)) {
  test(`${what} that throws outside of a hook stops only its own provider`, () =>
    withProviders(hook, '', async ({ ask, health }) => {
      assert.is((await ask('shaky-model')).status, 200);
      await until('it is stopped', async () => (await health()).status === 'degraded');
      const refused = await ask('shaky-model');
      assert.is(refused.status, 503);
      assert.match(refused.text, "Provider 'shaky' was stopped");
      assert.is((await ask('steady-model')).status, 200);
      const { status, reasons } = await health();
      assert.is(status, 'degraded');
      assert.match(reasons.join(), /^custom provider shaky: stopped, its code threw outside/);
    }));
}

test('a fallback takes over from a provider that was stopped', () =>
  withProviders(BACKGROUND_WORK['a timer']!, 'fallback: [chat]\n', async ({ ask, health }) => {
    await ask('shaky-model');
    await until('it is stopped', async () => (await health()).status === 'degraded');
    assert.is((await ask('shaky-model')).status, 200);
  }));

test('a module that throws at its top level later is stopped too, even during startup', () =>
  withProviders(
    '',
    '',
    async ({ ask, health }) => {
      await until('it is stopped', async () => (await health()).status === 'degraded');
      assert.is((await ask('steady-model')).status, 200);
      assert.match((await health()).reasons.join(), 'custom provider shaky: stopped');
    },
    "setTimeout(() => { throw new Error('early') }, 1);",
  ));

test('an error thrown in the background by a plugin is logged by name and fails no request', async () => {
  const place = makePlace();
  const upstream = await startUpstream();
  const left = [
    "setTimeout(() => { throw new Error('late timer') }, 5)",
    "Promise.reject(new Error('late promise'))",
  ];
  const module = join(place.folder, 'ticking.mjs');
  writeFileSync(
    module,
    `export default { name: 'ticking', stages: [{ before: 'route', on: { request() { ${left.join('; ')}; } } }] };`,
    { mode: 0o600 },
  );
  const config = join(place.folder, 'config.yaml');
  writeFileSync(config, 'plugins: [{ module: ./ticking.mjs }]\n', { mode: 0o600 });
  const env = { CHATPROV_BASE_URL: upstream.url, CHATPROV_API_KEY: 'chat-key' };
  const proxy = start(place, ['serve', '--port', '0', '--config', config], env);
  try {
    const [, url = ''] = await proxy.prints(/listens on (http:\S+)/);
    const logged = (what: string) =>
      readFileSync(logFile(place.home), 'utf8').split(what).length - 1;
    for (let count = 1; count <= 2; count += 1) {
      assert.is((await chat(url, 'm')).status, 200);
      for (const what of ['late timer', 'late promise'])
        await until(`${what} is logged`, () => existsSync(logFile(place.home)) && logged(what) > 0);
    }
    proxy.child.kill('SIGTERM');
    assert.is((await proxy.ended).code, 0);
    const log = readFileSync(logFile(place.home), 'utf8');
    for (const what of ['late timer', 'late promise'])
      assert.match(
        log,
        new RegExp(`plugin ticking: its code threw outside of its handlers: .*${what}`),
      );
  } finally {
    proxy.child.kill('SIGKILL');
    await upstream.close();
    place.dispose();
  }
});

test('a fault in svc itself ends the proxy with a stack trace, after the rows are written', async () => {
  const place = makePlace();
  const upstream = await startUpstream();
  const pluginOfSvc = join(place.folder, 'ours.mjs');
  writeFileSync(pluginOfSvc, "process.on('SIGUSR2', () => { throw new Error('of nobody') });\n");
  const env = {
    NODE_OPTIONS: `--import=${pluginOfSvc}`,
    CHATPROV_BASE_URL: upstream.url,
    CHATPROV_API_KEY: 'chat-key',
  };
  const proxy = start(place, ['serve', '--port', '0'], env);
  try {
    const [, url = ''] = await proxy.prints(/listens on (http:\S+)/);
    assert.is((await chat(url, 'm')).status, 200);
    proxy.child.kill('SIGUSR2');
    const { code, stderr } = await proxy.ended;
    assert.is(code, exitCodes.internal);
    assert.match(stderr, /svc failed and is stopping: Error: of nobody\n\s+at /);
    assert.is((await stored(join(place.home, 'monitor.db'))).length, 1);
  } finally {
    proxy.child.kill('SIGKILL');
    await upstream.close();
    place.dispose();
  }
});

test.run();
