/**
 * Clients that abandon live responses at any moment: no stream of the proxy throws an uncaught
 * error.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, json, openResponse } from '../../../fixtures/server/exchange.ts';

const LEAVERS = 60;
const FORMS: Readonly<Record<string, { readonly yaml: string; readonly accept?: string }>> = {
  events: { yaml: '' },
  'paced lines': {
    yaml: 'streaming: { buffer_tokens: 3, flush_interval_ms: 2 }',
    accept: 'application/x-ndjson',
  },
  translated: { yaml: 'provider: chat\n' },
};

for (const [form, { yaml, accept }] of Object.entries(FORMS))
  test(`${LEAVERS} clients leave ${form}, and every run is settled as cancelled`, async () => {
    const stray: unknown[] = [];
    const notice = (thrown: unknown): void => void stray.push(thrown);
    process.on('uncaughtException', notice).on('unhandledRejection', notice);
    try {
      await withProxy({ yaml }, async (t) => {
        t.upstream.script(undefined, 'events', { count: 2000, everyMs: 2 });
        const body = json(MESSAGE, { stream: true });
        const headers = { 'x-api-key': 'mine', ...(accept === undefined ? {} : { accept }) };
        for (let n = 0; n < LEAVERS; n += 1) {
          const response = await openResponse(t.proxy.port, { body, headers });
          // Leave at the head, in the middle of an event, or after several events.
          for (let pieces = n % 4; pieces > 0; pieces -= 1)
            await new Promise((resolve) => response.once('data', resolve));
          response.destroy();
        }
        const rows = await t.rows(LEAVERS);
        assert.equal(
          rows.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'cancelled'),
          [],
        );
        assert.is(t.proxy.services.streams.active, 0);
      });
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('uncaughtException', notice).off('unhandledRejection', notice);
    }
    assert.equal(stray, []);
  });

test.run();
