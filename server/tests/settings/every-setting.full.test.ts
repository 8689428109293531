/**
 * Every variable and key of the specification: its visible effect on a proxy with the default and
 * on one with another value. `setting-rows.test.ts` tests that every name has a row.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse, stringify } from 'yaml';
import { freePort } from '../../../fixtures/cli/live.ts';
import { makePlace, start } from '../../../fixtures/cli/run.ts';
import { startTestProxy } from '../../../fixtures/proxy.ts';
import { closeClients } from '../../../fixtures/server/exchange.ts';
import { ANY_OTHER } from '../../../fixtures/server/effects/effect.ts';
import type { SettingEffect } from '../../../fixtures/server/effects/effect.ts';
import { SETTING_EFFECTS } from '../../../fixtures/server/effects/setting-effects.ts';

/** Returns the sources to start a proxy with when `name` is set. */
function sourcesOf(row: SettingEffect, name: string | undefined, home: string) {
  const text = name === undefined ? '' : (row.set[name] ?? '').replace('HOME', home);
  const isVariable = name !== undefined && /^[A-Z]/.test(name);
  const line = name === undefined || isVariable ? '' : oneLine(concrete(name), text);
  return {
    yaml: stringify(merged(parse(row.yaml ?? ''), parse(line))),
    env: { SVC_HOME: home, ...row.env, ...(isVariable && { [name]: text }) },
  };
}

/** Merges two parsed config files; the second wins. */
function merged(one: unknown, other: unknown): unknown {
  if (!isMap(one) || !isMap(other)) return other ?? one ?? {};
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, merged(one[name], other[name])]));
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the key with real names in place of placeholders. */
function concrete(key: string): string {
  const isForChat = key === 'providers.<name>.supports_streaming';
  const isModelOfChat = key === 'models.<alias>.stream';
  return key
    .replace('<name>', isForChat ? 'chat' : 'messages')
    .replace('<provider>', 'messages')
    .replace('<alias>', isModelOfChat ? 'gpt-fixture-1' : 'claude-fixture-1');
}

/**
 * Writes `a.b.c` with a value as nested flow maps on one line; no name used here contains a dot.
 */
function oneLine(key: string, text: string): string {
  const segments = key.split('.');
  return `${segments.join(': { ')}: ${text}${' }'.repeat(segments.length - 1)}`;
}

async function see(row: SettingEffect, name: string | undefined): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-setting-'));
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  try {
    await row.prepare?.(home);
    const t = await startTestProxy(sourcesOf(row, name, home));
    try {
      return await row.probe(t);
    } finally {
      await t.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const row of SETTING_EFFECTS) {
  test(`${Object.keys(row.set).join(', ')}`, async () => {
    const names = Object.keys(row.set);
    // In parallel, because some probes wait for seconds.
    const [before, ...seen] = await Promise.all(
      [undefined, ...names].map((name) => see(row, name)),
    );
    if (row.before !== ANY_OTHER) assert.equal(before, row.before, 'with the default');
    for (const [index, name] of names.entries()) {
      if (row.after === ANY_OTHER) assert.not.equal(seen[index], before, name);
      else assert.equal(seen[index], row.after, name);
    }
  });
}

/** True if a process listens at this address. */
const listens = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ port, host });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** Starts a proxy process, runs the probe, and ends it; `yaml` and `env` may use the free port. */
async function listening<T>(
  { yaml = '', env = {} }: { yaml?: string; env?: Readonly<Record<string, string>> },
  observe: (seen: { readonly stdout: () => string; readonly stderr: () => string }) => Promise<T>,
): Promise<T> {
  const place = makePlace();
  mkdirSync(place.home, { mode: 0o700 });
  writeFileSync(join(place.home, 'config.yaml'), yaml, { mode: 0o600 });
  const free = { SVC_PORT: '0', SVC_WS_PORT: '0' };
  const own = /port/.test(yaml) ? { SVC_WS_PORT: '0' } : free;
  const proxy = start(place, ['serve'], { ...own, ...env });
  try {
    await proxy.prints(/listens on http/);
    return await observe({ stdout: () => proxy.output.stdout, stderr: () => proxy.output.stderr });
  } finally {
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    place.dispose();
  }
}

test('SVC_PORT, server.port, proxy.port, SVC_WS_PORT', async () => {
  const port = await freePort();
  assert.not.ok(await listens(port, '127.0.0.1'));
  const isListening = () => listens(port, '127.0.0.1');
  assert.ok(await listening({ env: { SVC_PORT: String(port) } }, isListening));
  for (const name of ['server', 'proxy'])
    assert.ok(await listening({ yaml: `${name}: { port: ${port} }` }, isListening), name);
  assert.ok(await listening({ env: { SVC_WS_PORT: String(port) } }, isListening));
});

test('server.host, proxy.host', async () => {
  const ends = async (yaml: string) =>
    listening({ yaml }, async ({ stderr }) => {
      const port = Number(/listens on http:\S+:(\d+)/.exec(stderr())?.[1]);
      return [await listens(port, '127.0.0.1'), await listens(port, '::1')];
    });
  assert.equal(await ends(''), [true, false]);
  for (const name of ['server', 'proxy'])
    assert.equal(await ends(`${name}: { host: "::1" }`), [false, true], name);
});

test('logging.destination', async () => {
  const line =
    (withinMs: number) =>
    async ({ stdout }: { readonly stdout: () => string }) => {
      const untilMs = Date.now() + withinMs;
      while (stdout() === '' && Date.now() < untilMs)
        await new Promise((resolve) => setTimeout(resolve, 20));
      return stdout().includes('"msg":"listening"');
    };
  assert.is(await listening({}, line(1000)), false);
  // On a busy machine the line may come late.
  assert.is(await listening({ yaml: 'logging: { destination: stdout }' }, line(120_000)), true);
});

test.after(closeClients);
test.run();
