import { mkdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { exchange } from '../../../fixtures/server/exchange.ts';

/** `/health` is recomputed once a second. */
const CACHE_MS = 1100;

test('/health reports that the audit log cannot be written, until it can', () =>
  withProxy({}, async (t) => {
    const health = async () => {
      const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
      return JSON.parse(text) as { status: string; reasons: string[] };
    };
    const log = join(dirname(t.db), 'audit.jsonl');
    mkdirSync(log);
    t.configure('audit: {enabled: true}');
    await t.proxy.reload();
    const { audit } = t.proxy.services;
    await audit.flush();
    const failing = await health();
    assert.is(failing.status, 'degraded');
    assert.match(failing.reasons.join(), /^audit: .* the audit log cannot be continued/);
    rmdirSync(log);
    await audit.flush();
    await new Promise((resolve) => setTimeout(resolve, CACHE_MS));
    assert.equal((await health()).reasons, []);
  }));

test.run();
