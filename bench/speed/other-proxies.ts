/**
 * Proxies of others as further ways of a request: bare undici, nginx, and Portkey's gateway. What
 * is not installed is named instead.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../fixtures/cli/live.ts';
import type { OpenedArm } from '../arms.ts';
import { startChild } from '../channel.ts';
import type { Usage } from '../channel.ts';

/** What runs beside svc and the plain proxy. */
export interface OtherProxies {
  readonly arms: readonly OpenedArm[];
  /** Version or reason, one line each. */
  readonly notes: readonly string[];
}

type UndiciCommands = { usage: () => Usage };

const READY_ATTEMPTS = 400;
const READY_EVERY_MS = 50;
/** Clock ticks a second in `/proc/<pid>/stat`; the kernel's interface fixes it. */
const TICKS = 100;
const PAGE_BYTES = 4096;
const GATEWAY = 'node_modules/@portkey-ai/gateway';
/** It has no option for the address, and would serve the whole network. */
const LOOPBACK_ONLY = `data:text/javascript,${encodeURIComponent(`
  import { Server } from 'node:net';
  const { listen } = Server.prototype;
  Server.prototype.listen = function (port, host, done) {
    return listen.call(this, port, '127.0.0.1', done);
  };
`)}`;

/** Starts them; `portkey` is a folder in which `@portkey-ai/gateway` is installed. */
export async function startOthers(upstreamPort: number, portkey?: string): Promise<OtherProxies> {
  const arms: OpenedArm[] = [];
  const notes: string[] = [];
  const args = [String(upstreamPort)];
  const undici = await startChild<UndiciCommands>('bench/speed/undici-proxy.js', { args });
  const { port } = undici;
  arms.push({
    name: 'undici',
    port,
    usage: () => undici.call('usage'),
    close: () => undici.close(),
  });
  const nginx = spawnSync('nginx', ['-v'], { encoding: 'utf8' });
  if (nginx.error === undefined) {
    notes.push(`nginx: ${nginx.stderr.trim()}`);
    arms.push(await startNginx(upstreamPort));
  } else notes.push('nginx: left out, it is not installed');
  const gateway = portkey === undefined ? undefined : join(portkey, GATEWAY);
  if (gateway !== undefined && existsSync(gateway)) {
    const text = readFileSync(join(gateway, 'package.json'), 'utf8');
    notes.push(`Portkey: @portkey-ai/gateway ${(JSON.parse(text) as { version: string }).version}`);
    arms.push(await startPortkey(upstreamPort, gateway));
  } else notes.push(`Portkey: left out, ${portkey ? `not in ${portkey}` : 'no --portkey'}`);
  return { arms, notes };
}

async function startNginx(upstreamPort: number): Promise<OpenedArm> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-nginx-'));
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(
    file,
    `daemon off; pid ${folder}/pid; error_log stderr crit; worker_processes 1;
events { worker_connections 4096; }
http {
  access_log off; client_max_body_size 0; keepalive_requests 100000000;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  upstream provider { server 127.0.0.1:${upstreamPort}; keepalive 512; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_request_buffering off;
    }
  }
}`,
  );
  const child = start('nginx', ['-c', file, '-p', folder]);
  const close = async (): Promise<void> => {
    await stop(child);
    rmSync(folder, { recursive: true, force: true });
  };
  await waitUntilListening(child, port, close);
  // The first process only waits for its worker.
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  return { name: 'nginx', port, usage: () => usageOf(Number(children.split(' ')[0])), close };
}

async function startPortkey(upstreamPort: number, gateway: string): Promise<OpenedArm> {
  const port = await freePort();
  const entry = join(gateway, 'build/start-server.js');
  const args = ['--import', LOOPBACK_ONLY, entry, `--port=${port}`, '--headless'];
  const child = start(process.execPath, args);
  const close = () => stop(child);
  await waitUntilListening(child, port, close);
  const headers = {
    'x-portkey-provider': 'anthropic',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
    'x-portkey-forward-headers': 'x-upstream-scenario',
    Authorization: 'Bearer bench-key',
  };
  return { name: 'portkey', port, headers, usage: () => usageOf(child.pid), close };
}

/** Starts a program that ends with this process at the latest. */
function start(program: string, args: readonly string[]): ChildProcess {
  const env = { PATH: process.env['PATH'], NODE_ENV: 'production' };
  const child = spawn(program, args, { env, stdio: 'ignore' });
  process.once('exit', () => child.kill());
  return child;
}

/** Processor time and memory of a foreign process, according to Linux (proc(5), `stat`). */
function usageOf(pid: number | undefined): Promise<Usage> {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name may contain spaces; the numbers from the third on follow its parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, pages] = [fields[11], fields[12], fields[21]].map(Number);
  const cpuUs = ((user! + system!) / TICKS) * 1e6;
  return Promise.resolve({ cpuUs, rssBytes: pages! * PAGE_BYTES });
}

async function waitUntilListening(
  child: ChildProcess,
  port: number,
  close: () => Promise<void>,
): Promise<void> {
  for (let attempts = 0; attempts < READY_ATTEMPTS && child.exitCode === null; attempts += 1) {
    const socket = connect({ port, host: '127.0.0.1' });
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await setTimeout(READY_EVERY_MS);
  }
  await close();
  throw new Error(`${child.spawnfile} does not listen`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
