/** A folder with a home, a fake provider, and proxies as users start them. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../stages/sqlite.ts';
import { entry } from '../../fixtures/cli/run.ts';
import { startUpstreamProcess } from '../channel.ts';
import type { Started } from '../channel.ts';

/** A running proxy. */
export interface Svc {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  /** What it has printed to stderr. */
  readonly stderrText: () => string;
  health(): Promise<{ readonly status: string; readonly reasons: readonly string[] }>;
  /** Value of an unlabelled metric. */
  metric(name: string): Promise<number>;
  rssMb(): number;
  openFiles(): number;
  /** SIGTERM unless another signal is given; resolves with the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface SvcOptions {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Program and arguments that start the proxy, such as `prlimit`. */
  readonly launcher?: readonly string[];
}

export interface Site {
  readonly folder: string;
  readonly home: string;
  readonly upstream: Started;
  readonly start: (options?: SvcOptions) => Promise<Svc>;
  /** Starts another command of `svc` in the home. */
  readonly command: (...argv: readonly string[]) => ChildProcess;
}

/** Turns on every feature that stores data, and raises the limits. */
export const EVERYTHING = `
audit: { enabled: true }
capture: { enabled: true, max_mb: 4096 }
`;

const settings = (port: number, more: string): string => `
server: { port: 0, ws_port: 0 }
security: { rate_limit_per_minute: 0 }
streaming: { max_concurrent_streams: 100000 }
providers:
  messages: { base_url: "http://127.0.0.1:${port}", api_key: messages-key }
${more}`;

/** A loaded machine takes long to start a process. */
const START_MS = 60_000;

/** Runs `use` in a new folder and ends every proxy that it started. */
export async function withSite<T>(
  use: (site: Site) => Promise<T>,
  {
    more = EVERYTHING,
    upstream: given,
  }: { readonly more?: string; readonly upstream?: Started } = {},
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-storm-'));
  const upstream = given ?? (await startUpstreamProcess());
  const started: Svc[] = [];
  const home = join(folder, 'home');
  prepareHome(home, upstream.port, more);
  const env = (place: string) => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    SVC_HOME: place,
  });
  try {
    return await use({
      folder,
      home,
      upstream,
      async start(options = {}) {
        const svc = await startSvc(folder, {
          ...options,
          env: { ...env(options.home ?? home), ...options.env },
        });
        started.push(svc);
        return svc;
      },
      command: (...argv) =>
        spawn(process.execPath, [entry, ...argv], { cwd: folder, env: env(home), stdio: 'ignore' }),
    });
  } finally {
    for (const svc of started) await svc.end('SIGKILL');
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the configuration of a proxy in front of the provider on `port`. */
export function prepareHome(home: string, port: number, more: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, 'config.yaml'), settings(port, more), { mode: 0o600 });
}

async function startSvc(
  cwd: string,
  { launcher = [], env = {} }: Pick<SvcOptions, 'env' | 'launcher'>,
): Promise<Svc> {
  const [program, ...argv] = [...launcher, process.execPath, entry, 'serve'];
  const child = spawn(program, argv, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (): void => reject(new Error(`the proxy did not start: ${text}`));
    const timer = setTimeout(fail, START_MS);
    child.once('exit', fail).once('error', reject);
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  }).catch((thrown: unknown) => {
    child.kill('SIGKILL');
    throw thrown;
  });
  const pid = child.pid ?? 0;
  const get = (path: string) => fetch(`${url}${path}`, { signal: AbortSignal.timeout(START_MS) });
  return {
    child,
    pid,
    port: Number(new URL(url).port),
    stderrText: () => text,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the proxy's own response
    health: async () => (await (await get('/health')).json()) as Awaited<ReturnType<Svc['health']>>,
    async metric(name) {
      const lines = (await (await get('/metrics')).text()).split('\n');
      return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
    },
    rssMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    openFiles: () => readdirSync(`/proc/${pid}/fd`).length,
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill(signal);
        await exited;
      }
      return child.exitCode;
    },
  };
}

/** Contents of a ledger's file: every id, duplicated ids, and SQLite's integrity errors. */
export function readLedger(file: string) {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one column of text
    const ids = db.prepare('SELECT id FROM requests').pluck().all() as string[];
    const faults = db.pragma('integrity_check', { simple: true });
    const unique = new Set(ids);
    return { ids: unique, twice: ids.length - unique.size, isSound: faults === 'ok' };
  } finally {
    db.close();
  }
}
