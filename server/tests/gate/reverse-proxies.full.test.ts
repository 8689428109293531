/**
 * The configurations in `deploy`, shown in docs/reverse-proxy.md, in real nginx and haproxy:
 * streams, large bodies, WebSocket.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Agent, fetch } from 'undici';
import { WebSocket } from 'ws';
import { withProxy } from '../../../fixtures/proxy.ts';
import { TIMEOUT_MS } from '../../../fixtures/server/exchange.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const certificate = readFileSync(join(root, 'fixtures/tls/provider.crt'));
const key = readFileSync(join(root, 'fixtures/tls/provider.key'));
const HOST = 'svc.example.net';
const KEY = 'svc_0123456789abcdef0123456789abcdef';
const YAML = `server: { allowed_hosts: [${HOST}] }\nsecurity: { api_key: ${KEY} }\n`;

const deployed = (file: string) => readFileSync(join(root, 'deploy', file), 'utf8');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has such an
  // address
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Writes the files of a server on `port` with svc on `target`; returns the command that starts it.
 */
type Prepare = (folder: string, port: number, target: number) => readonly string[];

/**
 * Replaces the only occurrence of `from`; asserts that there is exactly one, so that a changed page
 * is noticed.
 */
function replaceOnce(text: string, from: string, to: string): string {
  assert.is(text.split(from).length, 2, `one ${from}`);
  return text.replace(from, to);
}

const servers: Readonly<Record<string, Prepare>> = {
  nginx(folder, port, target) {
    let site = replaceOnce(
      deployed('nginx/svc.conf'),
      'listen 443 ssl',
      `listen 127.0.0.1:${port} ssl`,
    );
    site = replaceOnce(site, `/etc/ssl/${HOST}.pem`, join(folder, 'tls.crt'));
    site = replaceOnce(site, `/etc/ssl/${HOST}.key`, join(folder, 'tls.key'));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = paths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
    const file = join(folder, 'nginx.conf');
    writeFileSync(
      file,
      `user root; daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1;
events { worker_connections 64; }
http { access_log off; ${temporary}
${replaceOnce(deployed('nginx/upstream-one.conf'), '127.0.0.1:8766', `127.0.0.1:${target}`)}
${site}}`,
    );
    return ['nginx', '-c', file, '-p', folder];
  },
  haproxy(folder, port, target) {
    let text = replaceOnce(deployed('haproxy/haproxy.cfg'), 'bind :443', `bind 127.0.0.1:${port}`);
    text = replaceOnce(text, '127.0.0.1:8766', `127.0.0.1:${target}`);
    text = replaceOnce(text, `/etc/haproxy/${HOST}.pem`, join(folder, 'both.pem'));
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, text);
    return ['haproxy', '-f', file];
  },
};

/** Runs `use` with the port of a reverse proxy in front of the proxy on `target`. */
async function withReverseProxy(
  name: string,
  target: number,
  use: (port: number, agent: Agent) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `svc-${name}-`));
  const port = await freePort();
  writeFileSync(join(folder, 'tls.crt'), certificate);
  writeFileSync(join(folder, 'tls.key'), key);
  writeFileSync(join(folder, 'both.pem'), Buffer.concat([certificate, key]));
  const [command = '', ...args] = servers[name]!(folder, port, target);
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  const ended = once(child, 'exit');
  const agent = new Agent({ connect: { rejectUnauthorized: false, servername: HOST } });
  try {
    const lastMs = Date.now() + TIMEOUT_MS;
    const isUp = () =>
      fetch(`https://127.0.0.1:${port}/`, { dispatcher: agent }).then(
        () => true,
        () => false,
      );
    while (!(await isUp())) {
      assert.ok(Date.now() < lastMs && child.exitCode === null, `${name} starts: ${errors}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await use(port, agent);
  } finally {
    await agent.destroy();
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

const message = (content: string, stream: boolean) =>
  JSON.stringify({ model: 'm', max_tokens: 5, stream, messages: [{ role: 'user', content }] });
const FIELDS = { host: HOST, 'content-type': 'application/json' };

for (const name of Object.keys(servers)) {
  test(`${name}: refuses a client without a key, and streams without delay to one with a key`, () =>
    withProxy({ yaml: YAML }, (t) =>
      withReverseProxy(name, t.proxy.port, async (port, agent) => {
        const post = (body: string, more: Record<string, string> = {}) =>
          fetch(`https://127.0.0.1:${port}/v1/messages`, {
            method: 'POST',
            headers: { ...FIELDS, ...more },
            body,
            dispatcher: agent,
            signal: AbortSignal.timeout(TIMEOUT_MS),
          });
        assert.is((await post(message('hi', false))).status, 401);
        const keyed = { 'x-svc-key': KEY };
        assert.is((await post(message('x'.repeat(4_000_000), false), keyed)).status, 200);
        // The provider sends some events and then stalls: those events must not wait for the rest.
        t.upstream.script(undefined, 'stall-mid-body', { atByte: 1700 });
        const response = await post(message('hi', true), keyed);
        const reader = response.body!.getReader();
        let text = '';
        while (!text.includes('content_block_delta')) {
          const { done, value } = await reader.read();
          assert.not.ok(done, `the stream continues: ${text}`);
          text += Buffer.from(value ?? []).toString();
        }
        await reader.cancel();
      }),
    ));

  test(`${name}: forwards a WebSocket`, () =>
    withProxy({ yaml: YAML }, (t) =>
      withReverseProxy(name, t.proxy.port, async (port) => {
        const socket = new WebSocket(`wss://127.0.0.1:${port}/ws`, {
          headers: { host: HOST, 'x-svc-key': KEY },
          rejectUnauthorized: false,
        });
        await once(socket, 'open', { signal: AbortSignal.timeout(TIMEOUT_MS) });
        socket.send(message('hi', false));
        const [data] = (await once(socket, 'message')) as [Buffer];
        assert.is((JSON.parse(data.toString()) as { type: string }).type, 'message');
        socket.terminate();
      }),
    ));
}

test.run();
