import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, exchange, json } from '../../fixtures/server/exchange.ts';

const isLoaded = (): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('@opentelemetry'));
const sent = (headers: Readonly<Record<string, string>>) => ({ headers, body: json(MESSAGE) });

test('while telemetry is off, nothing is written and traceparent stays as it was', () =>
  withProxy({}, async (t) => {
    await exchange(t.proxy.port, sent({ traceparent: 'nonsense' }));
    await t.rows(1);
    assert.is(t.upstream.requests[0]?.header('traceparent'), 'nonsense');
    assert.not.ok(isLoaded(), 'no package of it is loaded');
    assert.not.ok(existsSync(join(dirname(t.db), 'telemetry.jsonl')));
  }));

test('turned on, its packages are loaded', () =>
  withProxy({ yaml: 'telemetry: {enabled: true}' }, async () => {
    assert.ok(isLoaded());
  }));

test.run();
