import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { systemClock } from '../../engine/index.ts';
import { FIRST_MS } from './retention.ts';
import { MESSAGE, exchange, json } from '../../fixtures/server/exchange.ts';

const DAY_MS = 86_400_000;

/** The system clock, shifted; the timers of retention wait for `ring`. */
function shiftedClock(offsetMs: number) {
  const late = new Map<() => void, number>();
  return {
    offsetMs,
    wallMs() {
      return Date.now() + this.offsetMs;
    },
    monotonicMs: () => systemClock.monotonicMs(),
    after(delayMs: number, callback: () => void) {
      if (delayMs !== FIRST_MS && delayMs !== DAY_MS) return systemClock.after(delayMs, callback);
      late.set(callback, delayMs);
      return () => late.delete(callback);
    },
    ring(delayMs: number) {
      const due = [...late].filter(([, delay]) => delay === delayMs);
      for (const [callback] of due) {
        late.delete(callback);
        callback();
      }
    },
  };
}

const ask = (t: TestProxy) => exchange(t.proxy.port, { body: json(MESSAGE) });
const totalRequests = async (t: TestProxy) => {
  const { text } = await exchange(t.proxy.port, { path: '/savings', method: 'GET' });
  return (JSON.parse(text) as { total_requests: number }).total_requests;
};

async function rowsLeft(t: TestProxy, count: number): Promise<number> {
  let left = await t.rows(0);
  for (const untilMs = Date.now() + 120_000; left.length > count && Date.now() < untilMs;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    left = await t.rows(0);
  }
  return left.length;
}

test('rows older than metrics.retention_days are deleted at the start and daily, and totals stay', () => {
  const clock = shiftedClock(-10 * DAY_MS);
  return withProxy({ clock, yaml: 'metrics: {retention_days: 2}' }, async (t) => {
    await ask(t);
    await ask(t);
    await t.rows(2);
    clock.ring(FIRST_MS);
    await ask(t);
    assert.is((await t.rows(3)).length, 3, 'nothing is old yet');
    clock.offsetMs = 0;
    clock.ring(DAY_MS);
    assert.is(await rowsLeft(t, 0), 0);
    await ask(t);
    assert.is((await t.rows(4)).length, 1);
    assert.is(await totalRequests(t), 4);
    t.configure('metrics: {retention_days: 0}');
    await t.proxy.reload();
    clock.offsetMs = DAY_MS;
    clock.ring(DAY_MS);
    assert.is(await rowsLeft(t, 0), 0, 'a reload applies another number of days');
    assert.is(await totalRequests(t), 4);
  });
});

test.run();
