/**
 * Clients that abandon live responses at any moment: no stream of the proxy throws an uncaught
 * error.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { defineStage } from '../../../engine/index.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { ProxyOptions, TestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, json, openResponse } from '../../../fixtures/server/exchange.ts';
import { sendOne } from '../../../fixtures/server/websocket.ts';
import type { ProxyFrame } from '../../../stages/model/frame.ts';

const LEAVERS = 60;

interface Form extends ProxyOptions {
  readonly accept?: string;
  /** Sends one request, reads `pieces` of its response, and leaves. */
  readonly leave?: (t: TestProxy, pieces: number) => Promise<void>;
}

const ownStream = defineStage<ProxyFrame, undefined, undefined>({
  name: 'own',
  build: () => ({ transform: () => new TransformStream<ProxyFrame, ProxyFrame>() }),
})(undefined, undefined);

const FORMS: Readonly<Record<string, Form>> = {
  events: { yaml: '' },
  'paced lines': {
    yaml: 'streaming: { buffer_tokens: 3, flush_interval_ms: 2 }',
    accept: 'application/x-ndjson',
  },
  translated: { yaml: 'provider: chat\n' },
  'a stage with its own stream': {
    insertions: [{ stage: ownStream, plugin: 'own', after: 'keep' }],
  },
  'a WebSocket': {
    async leave(t, pieces) {
      const { socket } = await sendOne(t, MESSAGE, { stream: true });
      // At least one, since terminating discards a request that is not sent yet.
      for (let left = pieces; left >= 0; left -= 1)
        await new Promise((resolve) => socket.once('message', resolve));
      socket.terminate();
    },
  },
};

async function leaveOverHttp(t: TestProxy, pieces: number, accept?: string): Promise<void> {
  const headers = { 'x-api-key': 'mine', ...(accept === undefined ? {} : { accept }) };
  const body = json(MESSAGE, { stream: true });
  const response = await openResponse(t.proxy.port, { body, headers });
  for (let left = pieces; left > 0; left -= 1)
    await new Promise((resolve) => response.once('data', resolve));
  response.destroy();
}

for (const [form, { accept, leave, ...options }] of Object.entries(FORMS))
  test(`${LEAVERS} clients leave ${form}, and every run is settled as cancelled`, async () => {
    const stray: unknown[] = [];
    const notice = (thrown: unknown): void => void stray.push(thrown);
    process.on('uncaughtException', notice).on('unhandledRejection', notice);
    try {
      await withProxy(options, async (t) => {
        t.upstream.script(undefined, 'events', { count: 2000, everyMs: 2 });
        // Leave at the head, in the middle of an event, or after several events.
        for (let n = 0; n < LEAVERS; n += 1)
          await (leave === undefined ? leaveOverHttp(t, n % 4, accept) : leave(t, n % 4));
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
