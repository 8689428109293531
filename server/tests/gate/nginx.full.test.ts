/**
 * A reverse proxy on the same machine makes every client look local, but must not
 * make any client trusted: requests through it need a key, and with one they
 * work, streams included.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has such an address
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

interface Nginx {
  readonly url: string;
  stop(): Promise<void>;
}

async function startNginx(target: number, headers: string): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-nginx-'));
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1;
events { worker_connections 64; }
http {
  access_log off; client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://127.0.0.1:${target}; proxy_buffering off; proxy_http_version 1.1; ${headers} }
  }
}`,
  );
  const child: ChildProcess = spawn('nginx', ['-c', file, '-p', folder], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  for (let attempts = 0; attempts < 100; attempts += 1) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => {
          rmSync(folder, { recursive: true, force: true });
          resolve();
        });
        child.kill('SIGTERM');
      }),
  };
}

const FORWARDED = 'proxy_set_header X-Forwarded-For $remote_addr;';
const message = (stream: boolean) =>
  JSON.stringify({
    model: 'm',
    max_tokens: 5,
    stream,
    messages: [{ role: 'user', content: 'hi' }],
  });

const yaml = 'security:\n  api_key: let-me-in-through-nginx\n';

test('behind a reverse proxy no client counts as local, and a key grants access', async () => {
  await withProxy({ yaml }, async ({ proxy, upstream }) => {
    const nginx = await startNginx(
      proxy.port,
      `${FORWARDED} proxy_set_header Host 127.0.0.1:${proxy.port};`,
    );
    try {
      const headers = { 'content-type': 'application/json' };
      const post = (more: Record<string, string>, stream: boolean) =>
        fetch(`${nginx.url}/v1/messages`, {
          method: 'POST',
          headers: { ...headers, ...more },
          body: message(stream),
        });
      assert.is((await fetch(`${nginx.url}/stats`)).status, 401);
      assert.is((await post({}, false)).status, 401);
      assert.is(upstream.requests.length, 0);
      const key = { 'x-svc-key': 'let-me-in-through-nginx' };
      assert.is((await post(key, false)).status, 200);
      const streamed = await post(key, true);
      assert.match(await streamed.text(), /event: message_stop/);
      assert.is(
        (await fetch(`${nginx.url}/config/reload`, { method: 'POST', headers: key })).status,
        403,
      );
      const seen = upstream.requests.flatMap((request) =>
        request.rawHeaders.map(([name]) => name.toLowerCase()),
      );
      assert.not.ok(seen.includes('x-svc-key'));
    } finally {
      await nginx.stop();
    }
  });
});

test('a reverse proxy that passes on its own Host is refused', async () => {
  await withProxy({ yaml }, async ({ proxy }) => {
    const nginx = await startNginx(proxy.port, `${FORWARDED} proxy_set_header Host evil.example;`);
    try {
      assert.is((await fetch(`${nginx.url}/stats`)).status, 403);
    } finally {
      await nginx.stop();
    }
  });
});

test.run();
