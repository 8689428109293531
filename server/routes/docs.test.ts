import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { toOpenApiPath } from '../openapi/document.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';

/** The only script on each page. */
const SCRIPT = '<script type="module" src="/docs/docs.js"></script>';

test('every link of the root page works, and the page describes every route that it lists', () =>
  withProxy({}, async (t) => {
    const get = (path: string) => exchange(t.proxy.port, { path, method: 'GET' });
    const root = JSON.parse((await get('/')).text) as {
      docs: string;
      endpoints: { health: string; stats: string; docs: string };
    };
    const { health, stats, docs } = root.endpoints;
    assert.is(root.docs, `http://127.0.0.1:${t.proxy.port}/docs`);
    for (const path of [health, stats, docs, `${docs}/`])
      assert.is((await get(path)).status, 200, path);
    const start = await get(docs);
    assert.match(start.text, /<h1 id="svc">/);
    const page = await get(`${docs}/api`);
    assert.match(page.headers['content-type'] ?? '', /^text\/html/);
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/);
    const policy = String(page.headers['content-security-policy']);
    const style = /<style>([\s\S]*)<\/style>/.exec(page.text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    assert.ok(policy.includes(`style-src 'sha256-${hash}'`), 'only the style sheet of svc applies');
    assert.match(policy, /; script-src 'self'; connect-src 'self'; img-src 'self';/);
    assert.not.match(page.text.replace(SCRIPT, ''), /<script|src=|url\(|@import/);
    // Line-break hints in a path are not part of its text.
    const text = page.text.replaceAll('<wbr>', '');
    for (const { path } of t.proxy.app.routes)
      assert.ok(text.includes(` ${toOpenApiPath(path)}<`), path);
    const links = [...page.text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    for (const id of links) assert.ok(page.text.includes(`id="${id}"`), id);
  }));

test('every guide has a page with the same policy; other names are 404, and clients without a key get 401', () =>
  withProxy({}, async (t) => {
    const get = (path: string, headers: Record<string, string> = {}) =>
      exchange(t.proxy.port, { path, method: 'GET', headers });
    const api = await get('/docs/api');
    const names = [...api.text.matchAll(/href="\/docs\/([\w-]+)"/g)].map(([, name]) => name!);
    assert.ok(names.length > 12, names.join());
    // The set grows during the loop: pages missing from the list are linked from pages in it.
    const linked = new Set(names);
    for (const name of linked) {
      const page = await get(`/docs/${name}`);
      assert.is(page.status, 200, name);
      const style = /<style>([\s\S]*?)<\/style>/.exec(page.text)?.[1] ?? '';
      const hash = createHash('sha256').update(style).digest('base64');
      const policy = String(page.headers['content-security-policy']);
      assert.match(policy, /^default-src 'none'; /);
      assert.ok(policy.includes(`style-src 'sha256-${hash}'`), name);
      assert.match(page.text, /<main id="text">\n<h1 id=/, name);
      const isListed = page.text.includes(`href="/docs/${name}" aria-current="page"`);
      assert.ok(isListed || /^(?:decision-\w|tests|release|index)/.test(name), name);
      for (const [, other] of page.text.matchAll(/href="\/docs\/([\w-]+)/g)) linked.add(other!);
    }
    for (const path of [
      '/docs/no-such-page',
      '/docs/..',
      '/docs/%2e%2e%2fpackage.json',
      '/docs/a/b',
    ])
      assert.is((await get(path)).status, 404, path);
    const foreign = await get('/docs/settings', { origin: 'https://evil.example' });
    assert.is(foreign.status, 401);
  }));

test('every page links to the next, and its Markdown version links to Markdown versions', () =>
  withProxy({}, async (t) => {
    const get = (path: string) => exchange(t.proxy.port, { path, method: 'GET' });
    const visited: string[] = [];
    let at: string | undefined = '/docs';
    while (at !== undefined) {
      const { text } = await get(at);
      visited.push(at);
      at = /<a rel="next" href="([^"]+)"/.exec(text)?.[1];
    }
    const list = await get('/docs/llms.txt');
    assert.match(list.headers['content-type'] ?? '', /^text\/plain/);
    const twins = [...list.text.matchAll(/\]\((\/docs\/[\w-]+\.md)\): (?!undefined)\S/g)].map(
      ([, path]) => path!,
    );
    assert.equal(
      twins,
      visited.slice(1).map((path) => `${path}.md`),
    );
    assert.ok(twins.length > 30, String(twins.length));
    for (const path of twins) {
      const twin = await get(path);
      assert.is(twin.status, 200, path);
      assert.match(twin.headers['content-type'] ?? '', /^text\/markdown/);
      assert.match(twin.text, /^# \S/, path);
      for (const [, to] of twin.text.matchAll(/\]\(([^)\s#:]+\.md)/g))
        assert.ok(to!.startsWith('/docs/'), `${path}: ${to}`);
    }
    const index = await get('/docs/search.json');
    assert.ok((JSON.parse(index.text) as { parts: unknown[] }).parts.length > 200);
    assert.match((await get('/docs/docs.js')).headers['content-type'] ?? '', /^text\/javascript/);
  }));

test('pictures of pages are served, and no other files', () =>
  withProxy({}, async (t) => {
    const get = (path: string) => exchange(t.proxy.port, { path, method: 'GET' });
    const { text } = await get('/docs/dashboard');
    const twin = (await get('/docs/dashboard.md')).text;
    const paths = [...text.matchAll(/<img src="([^"]+)"/g)].map(([, path]) => path!);
    assert.ok(paths.length > 1, paths.join());
    for (const path of paths) {
      const picture = await get(path);
      assert.is(picture.status, 200, path);
      assert.match(picture.headers['content-type'] ?? '', /^image\/(?:webp|svg\+xml)$/);
      assert.is(picture.headers['content-security-policy'], "default-src 'none'");
      assert.ok(twin.includes(`](${path})`), path);
    }
    for (const path of ['/docs/none.webp', '/docs/..%2fREADME.svg', '/docs/guide.svg'])
      assert.is((await get(path)).status, 404, path);
  }));

test.after(closeClients);
test.run();
