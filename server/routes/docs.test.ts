import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { toOpenApiPath } from '../openapi/document.ts';
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
    const policy = String(page.headers['content-security-policy']);
    const style = /<style>([\s\S]*)<\/style>/.exec(page.text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    assert.ok(policy.includes(`style-src 'sha256-${hash}'`), 'its own style and no other');
    assert.not.match(page.text, /<script|src=|url\(|@import/);
    for (const { path } of t.proxy.app.routes)
      assert.ok(page.text.includes(` ${toOpenApiPath(path)}<`), path);
    const links = [...page.text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    for (const id of links) assert.ok(page.text.includes(`id="${id}"`), id);
  }));

test.after(closeClients);
test.run();
