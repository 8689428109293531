/**
 * Runs a temporary proxy between this process and a built-in provider: no key, no network, no user
 * data.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { DemoSession, DemoTurn } from '../../fixtures/demo.ts';
import type { RunningProxy } from '../../server/index.ts';
import type { CliContext } from '../context.ts';
import type { PlayedTurn } from '../screen/demo-report.ts';
import { readJson } from '../remote.ts';
import type { Json } from '../remote.ts';

/**
 * A trace and a row appear when a run has settled, right after its last byte; on a busy machine
 * that takes seconds.
 */
const SETTLE_MS = 60_000;
const FIRST_POLL_MS = 5;
const MAX_POLL_MS = 250;

/** Settings by key, which override the defaults. */
type Settings = Readonly<Record<string, unknown>>;

/** The interface during `withLoopback`. */
export interface Loopback {
  /** The coding session to send. */
  readonly session: DemoSession;
  /** Address of the proxy. */
  readonly url: string;
  /** Sends one turn; resolves when its row and trace are available. */
  readonly play: (turn: DemoTurn) => Promise<PlayedTurn>;
}

/** Runs `use` with a proxy on a free port, and removes the proxy and its files afterwards. */
export async function withLoopback<T>(
  context: CliContext,
  settings: Settings,
  use: (loopback: Loopback) => Promise<T>,
): Promise<T> {
  const [{ createDemoReplies, loadDemo }, { startUpstream }] = await Promise.all([
    import('../../fixtures/demo.ts'),
    import('../../fixtures/upstream.ts'),
  ]);
  const session = loadDemo();
  const home = mkdtempSync(join(tmpdir(), 'svc-demo-'));
  const upstream = await startUpstream({ replies: createDemoReplies(session), record: false });
  try {
    const proxy = await startProxyIn(home, upstream.url, context, settings);
    try {
      const { url } = proxy;
      return await use({ session, url, play: (turn) => playTurn(session, turn, url, context) });
    } finally {
      await proxy.stop(true);
    }
  } finally {
    await upstream.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function startProxyIn(
  home: string,
  upstreamUrl: string,
  context: CliContext,
  settings: Settings,
): Promise<RunningProxy> {
  const [{ loadConfig }, { startProxy }] = await Promise.all([
    import('../../server/config/load.ts'),
    import('../../server/index.ts'),
  ]);
  // Ignores the user's environment, and a proxy.yaml in the current folder.
  const load = () =>
    loadConfig({
      env: { SVC_HOME: home, MSGPROV_BASE_URL: upstreamUrl },
      flags: { ...settings, 'server.port': 0, 'server.ws_port': 0 },
      cwd: home,
      home,
    });
  const { clock, version } = context;
  return startProxy({ loaded: await load(), reload: load, version, clock, control: false });
}

async function playTurn(
  session: DemoSession,
  turn: DemoTurn,
  url: string,
  context: CliContext,
): Promise<PlayedTurn> {
  const { clock } = context;
  const startMs = clock.monotonicMs();
  const response = await post(`${url}${session.path}`, session.headers, turn.body);
  const firstByteMs = clock.monotonicMs() - startMs;
  let sizeBytes = 0;
  for await (const piece of response.body) sizeBytes += (piece as Buffer).length;
  const totalMs = clock.monotonicMs() - startMs;
  const read = async (path: string, find: (json: Json) => Json | undefined) => {
    // At growing intervals: on a busy machine the proxy's own rate limit must not be hit.
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(2 * pollMs, MAX_POLL_MS)) {
      const found = find(await readJson(url, path).catch(() => ({})));
      if (found !== undefined) return found;
      if (clock.monotonicMs() - startMs > totalMs + SETTLE_MS)
        throw new SvcError('internal', `The proxy has no ${path} for request ${response.id}`);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  };
  const trace = await read(`/trace/${response.id}`, (json) =>
    'stages' in json ? json : undefined,
  );
  const row = await read('/recent', (json) =>
    (json['recent'] as readonly Json[] | undefined)?.find(
      (one) => one['request_id'] === response.id,
    ),
  );
  const { title } = turn;
  return { title, status: response.status, firstByteMs, totalMs, sizeBytes, trace, row };
}

interface Streamed {
  readonly status: number;
  readonly id: string;
  readonly body: AsyncIterable<unknown>;
}

function post(url: string, headers: Readonly<Record<string, string>>, body: Buffer) {
  return new Promise<Streamed>((resolve, reject) => {
    const call = request(
      url,
      { method: 'POST', headers: { ...headers, 'x-api-key': 'demo' }, agent: false },
      (response) => {
        const id = response.headers['x-request-id'];
        resolve({
          status: response.statusCode ?? 0,
          id: typeof id === 'string' ? id : '',
          body: response,
        });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}
