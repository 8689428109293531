/** The log and `/health` during a failover. */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import { logFile } from '../../server/log/open-log.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import { createFailover } from '../providers/failover.ts';
import { bodyOf, clientKey, withPair, withSpare } from '../../fixtures/forward/pair.ts';
import type { Pair } from '../../fixtures/forward/pair.ts';

type Line = Readonly<Record<string, unknown>>;

async function ask(t: Pair, times = 1): Promise<void> {
  const sent = { path: '/v1/messages', body: bodyOf('messages', false) };
  for (let n = 0; n < times; n += 1) {
    const { status } = await exchange(t.proxy.port, { ...sent, headers: clientKey('messages') });
    assert.is(status, 200);
  }
}

async function health(t: Pair): Promise<{ status: string; reasons: string[] }> {
  const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
  return JSON.parse(text) as { status: string; reasons: string[] };
}

/** Closes the proxy and returns its log lines about failovers. */
async function failovers(t: Pair): Promise<Line[]> {
  const file = logFile(dirname(t.db));
  await t.proxy.stop(true);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => String(msg).includes('failover'));
}

test('a failover logs one line when it begins and one when it ends, and /health gives the reason meanwhile', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    await ask(t);
    const stop = t.upstream.script(undefined, '500');
    await ask(t);
    assert.is((await health(t)).status, 'ok', 'one failure changes nothing');
    await ask(t, 2);
    assert.equal(await health(t), {
      ...(await health(t)),
      status: 'degraded',
      reasons: ['provider messages: unhealthy: 3 requests in a row failed'],
    });
    await ask(t, 3);
    stop();
    t.recover();
    assert.is((await health(t)).status, 'degraded', 'until a request succeeds');
    await ask(t, 2);
    assert.is((await health(t)).status, 'ok');
    const [began, ended, ...more] = await failovers(t);
    assert.equal(more, []);
    assert.equal(
      [began?.['level'], began?.['provider'], began?.['why'], began?.['to']],
      ['warning', 'messages', 'Provider error: 500', 'spare'],
    );
    assert.equal(
      [ended?.['level'], ended?.['provider'], ended?.['requests']],
      ['info', 'messages', 6],
    );
  }));

test('a provider that was disabled by hand is reported as such', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    t.proxy.services.states.forceHealth('messages', 'unhealthy');
    await ask(t, 2);
    assert.equal((await health(t)).reasons, ['provider messages: set to unhealthy by hand']);
    const lines = await failovers(t);
    assert.equal(
      lines.map(({ why }) => why),
      ['set to unhealthy by hand'],
    );
  }));

test('no failover is logged if no provider answers', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    t.upstream.script(undefined, '500');
    t.spare.script(undefined, '500');
    const sent = { path: '/v1/messages', body: bodyOf('messages', false) };
    const { status } = await exchange(t.proxy.port, { ...sent, headers: clientKey('messages') });
    assert.is(status, 500);
    await t.rows(1);
    assert.equal(await failovers(t), []);
  }));

test('a provider that fails every other request logs at most one begin and end in ten seconds', () => {
  const clock = createManualClock();
  const failover = createFailover(clock);
  const logged: unknown[] = [];
  for (let n = 0; n < 100; n += 1) {
    logged.push(failover.away(), failover.back());
    clock.advance(100);
  }
  assert.equal(
    logged.filter((each) => each !== false && each !== undefined),
    [true, 1],
  );
  assert.equal([failover.away(), failover.away(), failover.back()], [true, false, 101]);
  clock.advance(1);
  assert.is(failover.away(), false);
  clock.advance(10_000);
  assert.is(failover.away(), true, 'a lasting failover is reported in the end');
});

test.after(closeClients);
test.run();
