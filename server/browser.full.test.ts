/**
 * What a web page in a real browser can do to a proxy on the same machine:
 * nothing. The page is served from another port (same site, other origin) and
 * from another name (cross-site), and tries every door.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../fixtures/proxy.ts';

/** Tries each door and reports what it saw to the server that the page came from. */
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

interface PageServer {
  readonly port: number;
  /** What the page saw, door by door. */
  readonly report: Promise<Record<string, string>>;
  close(): void;
}

function servePage(page: string): Promise<PageServer> {
  let tell: (seen: Record<string, string>) => void = () => undefined;
  const report = new Promise<Record<string, string>>((resolve) => (tell = resolve));
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece: Buffer) => (text += piece.toString()));
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end(page);
      if (request.url === '/report') tell(JSON.parse(text) as Record<string, string>);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has such an address
      const { port } = server.address() as AddressInfo;
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      resolve({ port, report, close });
    });
  });
}

/** Opens the page in a browser and waits for its report. */
async function visit(url: string, report: PageServer['report']): Promise<Record<string, string>> {
  const profile = mkdtempSync(join(tmpdir(), 'svc-browser-'));
  const browser = spawn(
    'chromium',
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--user-data-dir=${profile}`,
      url,
    ],
    // A group of its own: the browser's helpers write to the profile, and must end with it.
    { stdio: 'ignore', detached: true },
  );
  const gone = new Promise<void>((resolve) => browser.once('exit', () => resolve()));
  const late = AbortSignal.timeout(60_000);
  try {
    return await Promise.race([
      report,
      new Promise<never>((_resolve, reject) => {
        late.addEventListener('abort', () => reject(new Error('the page did not report')));
      }),
    ]);
  } finally {
    if (browser.exitCode === null && browser.pid !== undefined)
      process.kill(-browser.pid, 'SIGKILL');
    await gone;
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  }
}

for (const host of ['127.0.0.1', 'localhost']) {
  test(`a page from ${host} on another port gets nowhere`, async () => {
    await withProxy({}, async ({ proxy, upstream }) => {
      const page = attackPage(proxy.port, proxy.wsPort);
      const server = await servePage(page);
      try {
        const seen = await visit(`http://${host}:${server.port}/`, server.report);
        for (const door of ['stats', 'recent', 'message']) {
          assert.match(seen[door] ?? '', /^(?:blocked|401)/, door);
        }
        // An opaque answer tells the page nothing; that nothing happened is seen below.
        for (const door of ['simple', 'ingest', 'reload'])
          assert.match(seen[door] ?? '', /^(?:blocked|0 )/, door);
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
