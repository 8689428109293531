/**
 * A web page in a real browser can do nothing to a proxy on the same machine.
 * The page is served from another port (same site, other origin) and from
 * another name (cross-site), and tries every way in.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { servePage, visit } from '../../../fixtures/server/browser.ts';

/** A page that tries each way in and reports what it saw to its own server. */
function attackPage(port: number, wsPort: number): string {
  return `<!doctype html><title>page</title><script>
const base = 'http://127.0.0.1:${port}';
const body = JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });
const text = (path, init) => fetch(base + path, init).then(async (r) => r.status + ' ' + (await r.text()).slice(0, 200), (e) => 'blocked');
const socket = (url) => new Promise((resolve) => {
  const ws = new WebSocket(url);
  ws.onopen = () => { ws.send(body); };
  ws.onmessage = (m) => resolve('message');
  ws.onclose = () => resolve('refused');
});
(async () => {
  const seen = {
    stats: await text('/stats'),
    recent: await text('/recent'),
    health: await text('/health'),
    message: await text('/v1/messages', { method: 'POST', headers: { 'content-type': 'application/json', 'x-api-key': 'stolen' }, body }),
    simple: await text('/v1/messages', { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body }),
    ingest: await text('/ingest', { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: JSON.stringify({ content: 'planted' }) }),
    reload: await text('/config/reload', { method: 'POST', mode: 'no-cors' }),
    socket: await socket('ws://127.0.0.1:${port}/ws'),
    socketPort: await socket('ws://127.0.0.1:${wsPort}/ws'),
  };
  await fetch('/report', { method: 'POST', body: JSON.stringify(seen) });
})();
</script>`;
}

for (const host of ['127.0.0.1', 'localhost']) {
  test(`a page from ${host} on another port is refused`, async () => {
    await withProxy({}, async ({ proxy, upstream }) => {
      const page = attackPage(proxy.port, proxy.wsPort);
      const server = await servePage(page);
      try {
        const seen = await visit(`http://${host}:${server.port}/`, server.report);
        for (const way of ['stats', 'recent', 'message']) {
          assert.match(seen[way] ?? '', /^(?:blocked|401)/, way);
        }
        // An opaque response shows the page nothing; that nothing happened is checked below.
        for (const way of ['simple', 'ingest', 'reload'])
          assert.match(seen[way] ?? '', /^(?:blocked|0 )/, way);
        assert.is(seen['socket'], 'refused');
        assert.is(seen['socketPort'], 'refused');
        assert.not.match(seen['health'] ?? '', /uptime|path|requests/);
        assert.is(upstream.requests.length, 0);
      } finally {
        server.close();
      }
    });
  });
}

test.run();
