/** Measures the time from the start of the built program until its port responds. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GIVE_UP_MS = 20_000;
const TRY_EVERY_MS = 2;

/** Starts `svc serve` with a new home, like a user, and returns the seconds until it listens. */
export async function startSeconds(): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'svc-start-'));
  const [port, wsPort] = await freePorts(2);
  const entry = fileURLToPath(new URL('../app/main.js', import.meta.url));
  const startedMs = performance.now();
  const child = spawn(process.execPath, [entry, 'serve', '--port', String(port)], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', SVC_HOME: home, SVC_WS_PORT: String(wsPort) },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  try {
    while (!(await answers(port!))) {
      if (child.exitCode !== null) throw new Error(`svc serve ended with ${child.exitCode}`);
      if (performance.now() - startedMs > GIVE_UP_MS) throw new Error('svc serve does not listen');
      await new Promise((resolve) => setTimeout(resolve, TRY_EVERY_MS));
    }
    return (performance.now() - startedMs) / 1000;
  } finally {
    child.kill('SIGKILL');
    await exited;
    rmSync(home, { recursive: true, force: true });
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Returns currently free ports; bound simultaneously, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}
