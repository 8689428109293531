/**
 * A request whose compression once timed out: it is sent whole from then on, and the reason is
 * reported.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/index.ts';
import type { Clock } from '../../../engine/index.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { askingOf, foundHits } from '../../../fixtures/server/search-results.ts';
import { until } from '../../../fixtures/wait.ts';

/** A length that no other timer has. */
const LIMIT_MS = 54_321;
const YAML = 'compression: { threshold_tokens: 0 }\nsecurity: { rate_limit_per_minute: 0 }';
const env = { SVC_MAX_COMPRESSION_TIME_MS: String(LIMIT_MS) };

const FOUND = foundHits(4000);

/** The system clock, on which the compression time limit passes at once or never. */
class LimitClock implements Clock {
  isOver = true;
  wallMs(): number {
    return systemClock.wallMs();
  }
  monotonicMs(): number {
    return systemClock.monotonicMs();
  }
  after(delayMs: number, callback: () => void): () => void {
    if (delayMs !== LIMIT_MS) return systemClock.after(delayMs, callback);
    return this.isOver ? systemClock.after(1, callback) : () => undefined;
  }
}

/** Sends a question; returns the trace's reason why it was not compressed. */
async function skipReason(t: TestProxy, question: string): Promise<unknown> {
  const before = t.upstream.requests.length;
  assert.is((await exchange(t.proxy.port, { body: askingOf(question, FOUND) })).status, 200);
  await t.rows(before + 1);
  const { text } = await exchange(t.proxy.port, { path: '/trace/last', method: 'GET' });
  const { stages } = JSON.parse(text) as {
    readonly stages: readonly Readonly<Record<string, unknown>>[];
  };
  return stages.find(({ name }) => name === 'compaction')?.['not_compressed_because'];
}

/**
 * Returns what `/health` reports of it; read directly, because `/health` caches its response for a
 * second.
 */
const healthProblem = (t: TestProxy): string => t.proxy.services.compressor.problem() ?? '';

test('a compression timeout is reported, even when remembered, and counts as degraded', () => {
  const clock = new LimitClock();
  return withProxy({ yaml: YAML, env, clock, prepares: true }, async (t) => {
    const late: string[] = [];
    // A busy machine may notice the limit only after the work is done, and a thread must have
    // started.
    await until('three in a row took too long', async () => {
      const question = `question ${t.upstream.requests.length}`;
      if ((await skipReason(t, question)) === 'timeout') late.push(question);
      return healthProblem(t).includes('within compression.max_time_ms') && late.length > 0;
    });
    assert.match(healthProblem(t), /sent unchanged/);
    clock.isOver = false;
    for (const question of late) {
      // The thread that the time limit ended is replaced by one that has yet to start.
      const words = await until('a thread is ready', async () => {
        const found = String(await skipReason(t, question));
        return found !== 'starting' && found;
      });
      assert.match(words, /took too long when it was sent before/, words);
      assert.is(t.upstream.requests.at(-1)!.body.length, askingOf(question, FOUND).length);
      assert.match(healthProblem(t), /sent unchanged/);
    }
    assert.is(await skipReason(t, 'another'), undefined);
    assert.ok(t.upstream.requests.at(-1)!.body.length < askingOf('another', FOUND).length);
    assert.not.match(healthProblem(t), /sent unchanged/);
  });
});

test.after(closeClients);
test.run();
