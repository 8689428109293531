/** `svc demo`: a recorded kind of coding session through the real proxy, without key or network. */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import type { DemoSession, DemoTurn } from '../../fixtures/demo.ts';
import type { RunningProxy } from '../../server/index.ts';
import type { CliContext } from '../context.ts';
import { laneTable } from '../lanes.ts';
import { demoJson, demoLines, demoTable, stageTable } from '../demo-report.ts';
import type { PlayedTurn } from '../demo-report.ts';
import { colorsFor, counted, note, print, printJson } from '../output.ts';
import type { CliCommand } from '../registry.ts';
import { readJson } from '../remote.ts';
import type { Json } from '../remote.ts';
import { printTable } from '../table.ts';

/** A trace and a row appear when a run has settled, right after its last byte. */
const SETTLE_MS = 2000;
const LOOK_MS = 5;

class Demo extends Command<CliContext> {
  static override paths = [['demo']];
  static override usage = Command.Usage({
    category: 'Try',
    description: 'Play a coding session through the real proxy; needs no key and no network',
    details:
      'A built-in provider answers on this machine. Ports are free ones and the home folder is a temporary one, so nothing of yours is touched.',
    examples: [
      ['Watch it work', '$0 demo'],
      ['The figures for a program', '$0 demo --json'],
    ],
  });

  json = Option.Boolean('--json', false, { description: 'As JSON' });

  async execute() {
    const { context } = this;
    const [{ createDemoReplies, loadDemo }, { startUpstream }] = await Promise.all([
      import('../../fixtures/demo.ts'),
      import('../../fixtures/upstream.ts'),
    ]);
    const session = loadDemo();
    const home = mkdtempSync(join(tmpdir(), 'svc-demo-'));
    const upstream = await startUpstream({ replies: createDemoReplies(session), record: false });
    try {
      const proxy = await startProxyIn(home, upstream.url, context);
      try {
        await this.play(session, proxy);
      } finally {
        await proxy.stop(true);
      }
    } finally {
      await upstream.close();
      rmSync(home, { recursive: true, force: true });
    }
    return 0;
  }

  private async play(session: DemoSession, proxy: RunningProxy): Promise<void> {
    const { context } = this;
    if (!this.json) note(context, `Playing ${session.turns.length} turns of a coding session…`);
    const played: PlayedTurn[] = [];
    for (const turn of session.turns) played.push(await playTurn(session, turn, proxy, context));
    const lanes = ((await readJson(proxy.url, '/savings'))['lanes'] ?? {}) as Json;
    if (this.json) printJson(context, demoJson(session.model, played, lanes));
    else this.show(session, played, lanes);
    const failed = played.filter(({ row }) => row['outcome'] !== 'ok').length;
    if (failed > 0)
      throw new SvcError('internal', `${counted(failed, 'request')} of the demo did not succeed`);
  }

  private show(session: DemoSession, played: readonly PlayedTurn[], lanes: Json): void {
    const { context } = this;
    for (const { head, rows } of [demoTable(played), stageTable(played), laneTable(lanes)]) {
      print(context);
      printTable(context, head, rows);
    }
    const colors = colorsFor(context.stdout, context.env);
    for (const line of demoLines(session.model, played, colors, context.program))
      print(context, line);
  }
}

async function startProxyIn(
  home: string,
  upstreamUrl: string,
  context: CliContext,
): Promise<RunningProxy> {
  const [{ loadConfig }, { startProxy }] = await Promise.all([
    import('../../server/config/load.ts'),
    import('../../server/index.ts'),
  ]);
  // Nothing of the user's: not the environment, not a proxy.yaml in the current folder.
  const load = () =>
    loadConfig({
      env: { SVC_HOME: home, MSGPROV_BASE_URL: upstreamUrl },
      flags: { 'server.port': 0, 'server.ws_port': 0 },
      cwd: home,
      home,
    });
  const { clock, version } = context;
  return startProxy({ loaded: await load(), reload: load, version, clock, control: false });
}

async function playTurn(
  session: DemoSession,
  turn: DemoTurn,
  proxy: RunningProxy,
  context: CliContext,
): Promise<PlayedTurn> {
  const { clock } = context;
  const startMs = clock.monotonicMs();
  const answer = await post(`${proxy.url}${session.path}`, session.headers, turn.body);
  const firstByteMs = clock.monotonicMs() - startMs;
  let sizeBytes = 0;
  for await (const piece of answer.body) sizeBytes += (piece as Buffer).length;
  const totalMs = clock.monotonicMs() - startMs;
  const read = async (path: string, find: (json: Json) => Json | undefined) => {
    for (;;) {
      const found = find(await readJson(proxy.url, path).catch(() => ({})));
      if (found !== undefined) return found;
      if (clock.monotonicMs() - startMs > totalMs + SETTLE_MS)
        throw new SvcError('internal', `The proxy has no ${path} for request ${answer.id}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };
  const trace = await read(`/trace/${answer.id}`, (json) => ('stages' in json ? json : undefined));
  const row = await read('/recent', (json) =>
    (json['recent'] as readonly Json[] | undefined)?.find((one) => one['request_id'] === answer.id),
  );
  const { title } = turn;
  return { title, status: answer.status, firstByteMs, totalMs, sizeBytes, trace, row };
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

export const demoCommands: readonly CliCommand[] = [Demo];
