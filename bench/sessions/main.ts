/**
 * `npm run bench:sessions`: records sessions of real clients, offline, for `npm run bench:quality
 * -- --sessions DIR`. The client, its tools, the work tree and the programs run are real; only the
 * choice of tool calls is scripted.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Database } from '../../stages/sqlite.ts';
import { readProgramOptions, refuseOptions } from '../../fixtures/program-options.ts';
import { createRandom, randomInt } from '../../fixtures/random.ts';
import type { Random } from '../../fixtures/random.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import { loadTokenCounter } from '../../stages/model/count-tokens.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { agent } from './agent.ts';
import { createSessionClock, toSessionTimeJson, toSessionTimeLine } from './clock.ts';
import type { SessionClock } from './clock.ts';
import { createModel } from './model.ts';
import { startClaudeCode, startOpencode } from './record.ts';
import { FOLLOW_UP_PROMPTS, planOf, PROMPTS } from './plan.ts';
import { makeTree } from './tree.ts';

const USAGE = `npm run bench:sessions -- --prefix DIR --out DIR [--count N] [--client claude-code|opencode] [--from N]

--prefix DIR  the folder in which the client is installed (see fixtures/clients/packages)
--out DIR     the folder for the sessions
`;

const CLIENTS = { 'claude-code': startClaudeCode, opencode: startOpencode } as const;
type Client = keyof typeof CLIENTS;

/** Records session `n` into `out`. */
async function record(
  client: Client,
  n: number,
  { prefix, out }: Record<'prefix' | 'out', string>,
  count: CountTokens,
): Promise<number> {
  const { task, tree: name, turns, pausesMs } = planOf(n);
  const random: Random = createRandom(n);
  const folder = mkdtempSync(join(tmpdir(), 'svc-session-'));
  const [home, work] = [join(folder, 'home'), join(folder, name)];
  mkdirSync(home);
  const tree = makeTree(name, work);
  const clock = createSessionClock();
  const left = [...turns];
  const steps = agent(createRandom(n + 1), tree, task, () => (left.shift() ?? 1) - 1);
  const upstream = await startUpstream({
    replies: createModel({ steps, folder: work, random, clock, count }),
    record: false,
  });
  try {
    const recorder = CLIENTS[client]({ prefix, home, work, url: upstream.url });
    await recorder.prompt(PROMPTS[task]);
    for (const pauseMs of pausesMs) {
      clock.advance(pauseMs);
      await recorder.prompt(FOLLOW_UP_PROMPTS[randomInt(random, 0, FOLLOW_UP_PROMPTS.length)]!);
    }
    await recorder.end();
    keep(client, home, join(out, `${client}-${String(n).padStart(3, '0')}`), clock);
  } finally {
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return turns.reduce((sum, one) => sum + one, 0);
}

/** Stores what the client wrote, with adjusted times. */
function keep(client: Client, home: string, out: string, clock: SessionClock): void {
  mkdirSync(out, { recursive: true });
  if (client === 'claude-code') {
    const projects = join(home, '.claude/projects');
    const files = readdirSync(projects, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((one) => one.endsWith('.jsonl'))) {
      const lines = readFileSync(join(projects, file), 'utf8').split('\n');
      const text = lines.map((line) => toSessionTimeLine(line, clock)).join('\n');
      writeFileSync(join(out, file.replaceAll('/', '-')), text);
    }
    return;
  }
  const from = join(home, '.local/share/opencode');
  for (const file of readdirSync(from).filter((one) => /^opencode\.db(?:-wal)?$/.test(one)))
    copyFileSync(join(from, file), join(out, file));
  const database = new Database(join(out, 'opencode.db'));
  database.function('in_time', (json: unknown) => toSessionTimeJson(String(json), clock));
  database.exec('UPDATE message SET data = in_time(data); UPDATE part SET data = in_time(data);');
  database.pragma('journal_mode = DELETE');
  database.close();
}

async function main(): Promise<void> {
  const { values } = readProgramOptions(USAGE, {
    options: {
      prefix: { type: 'string' },
      out: { type: 'string' },
      count: { type: 'string', default: '24' },
      from: { type: 'string', default: '1' },
      client: { type: 'string', default: 'claude-code' },
    },
  });
  const client = values.client === 'opencode' ? 'opencode' : 'claude-code';
  const bin = client === 'opencode' ? 'opencode' : 'claude';
  if (values.prefix === undefined || values.out === undefined)
    refuseOptions(USAGE, '--prefix and --out are required');
  if (!existsSync(join(values.prefix, 'node_modules/.bin', bin)))
    refuseOptions(USAGE, `${bin} is not installed in ${values.prefix}`);
  const place = { prefix: resolve(values.prefix), out: resolve(values.out) };
  const known = new Map<string, number>();
  const counter = await loadTokenCounter('claude');
  const count: CountTokens = (text) => {
    const tokens = known.get(text) ?? counter(text);
    known.set(text, tokens);
    return tokens;
  };
  const first = Number(values.from);
  for (let n = first; n < first + Number(values.count); n++) {
    const { task, tree, pausesMs } = planOf(n);
    const what = `${client} ${n}: ${task} in ${tree}, ${pausesMs.length} pauses, ${pausesMs.filter((ms) => ms > 300_000).length} above five minutes`;
    try {
      process.stdout.write(`${what}, ${await record(client, n, place, count)} requests\n`);
    } catch (thrown) {
      process.exitCode = 1;
      process.stdout.write(`${what}: ${String(thrown)}\n`);
    }
    known.clear();
  }
}

await main();
