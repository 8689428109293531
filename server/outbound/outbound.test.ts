/** Connections to a provider obey the configured timeouts and connection limits. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { outboundLimits } from '../../stages/providers/undici-upstream.ts';
import {
  MESSAGE,
  closeClients,
  exchange,
  json,
  openResponse,
} from '../../fixtures/server/exchange.ts';

const limits = (more: string): string => `providers:\n  messages: { ${more} }\n`;

test('a response head that does not arrive within timeout_seconds gives a 504', () =>
  withProxy({ yaml: limits('timeout_seconds: 0.2') }, async (t) => {
    t.upstream.script(undefined, 'stall-before-head');
    const startedMs = performance.now();
    const { status, text } = await exchange(t.proxy.port, { body: json(MESSAGE) });
    const tookMs = performance.now() - startedMs;
    assert.is(status, 504);
    assert.match(text, 'TIMEOUT_001');
    assert.ok(tookMs >= 190 && tookMs < 20_000, `${tookMs} ms`);
  }));

test('a body that pauses for idle_timeout_seconds is aborted, whatever the limit for the head', () =>
  withProxy({ yaml: limits('idle_timeout_seconds: 3, timeout_seconds: 2') }, async (t) => {
    t.upstream.script(undefined, 'stall-mid-body');
    const startedMs = performance.now();
    await exchange(t.proxy.port, { body: json(MESSAGE, { stream: true }) });
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs >= 2_500, `${tookMs} ms`);
    const [row] = await t.rows(1);
    assert.is(row?.outcome, 'partial');
  }));

test('a connection is reused, by one request at a time', () =>
  withProxy({}, async (t) => {
    for (let i = 0; i < 5; i += 1) await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.equal(
      t.upstream.connections.map((connection) => connection.requestCount),
      [5],
    );
    t.upstream.script(undefined, 'stall-after-head');
    const gone = new AbortController();
    const body = json(MESSAGE, { stream: true });
    const held = await Promise.all(
      [1, 2, 3].map(() => openResponse(t.proxy.port, { body, signal: gone.signal })),
    );
    for (const message of held) message.on('error', () => undefined);
    assert.is(t.upstream.connections.length, 3);
    gone.abort();
    assert.is(outboundLimits.pipelining, 1);
    assert.ok(
      outboundLimits.keepAliveTimeout < 30_000,
      'shorter than the idle timeout of connections',
    );
  }));

test.after(closeClients);
test.run();
