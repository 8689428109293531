import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { closeClients, exchange } from '../testing.ts';

test('what the root names is there, and the page describes every route that it lists', () =>
  withProxy({}, async (t) => {
    const get = (path: string) => exchange(t.proxy.port, { path, method: 'GET' });
    const root = JSON.parse((await get('/')).text) as {
      docs: string;
      endpoints: { health: string; stats: string; docs: string };
    };
    const { health, stats, docs } = root.endpoints;
    for (const path of [health, stats, docs, `${docs}/`, root.docs])
      assert.is((await get(path)).status, 200, path);
    const page = await get(docs);
    assert.match(page.headers['content-type'] ?? '', /^text\/html/);
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/);
    const rows = [...page.text.matchAll(/<tr><td><code>(.*)<\/code><td>(.*)/g)];
    const named = rows.map(([, name]) => name);
    for (const name of ['GET /health', 'GET /trace/:id', 'POST /ingest', 'POST /v1/messages'])
      assert.ok(named.includes(name), name);
    for (const [, name, about] of rows) assert.ok(about !== '', name);
  }));

test.after(closeClients);
test.run();
