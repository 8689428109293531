/** `svc` with its ledger in a real Postgres, from outside: what is served, kept, shown and hidden. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { conversation, post, until } from '../../fixtures/cli/live.ts';
import type { Json, Sent } from '../../fixtures/cli/live.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place, Spawned } from '../../fixtures/cli/run.ts';
import { openIn, stored } from '../../fixtures/ledger/temp-ledger.ts';
import { PASSWORD, startPostgres } from '../../fixtures/postgres.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { threadsWaitedMs } from '../../fixtures/starvation.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import type { Upstream } from '../../fixtures/upstream.ts';
import { migrations } from '../../stages/ledger/tables.ts';

/** A row is promised for an answer that ended at least so long ago. */
const ACKNOWLEDGED_MS = 100;
const SECRETS = [PASSWORD, encodeURIComponent(PASSWORD)];

interface Context {
  server: Postgres;
  upstream: Upstream;
}

/** A home with a proxy, or none. */
interface Machine {
  readonly place: Place;
  readonly svc: (...argv: string[]) => ReturnType<typeof run>;
  /** Starts the proxy; its origin. */
  serve(): Promise<string>;
  readonly proxy: () => Spawned;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const outside = suite<Context>('svc with its ledger in Postgres');

outside.before(async (t) => {
  t.server = await startPostgres();
  t.upstream = await startUpstream({ seed: 3 });
});
outside.after(async (t) => {
  await t.upstream.close();
  await t.server.close();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs `use` with machines that keep their rows at `db`, and clears them away. */
async function withMachines(
  { upstream }: Context,
  db: Readonly<Record<string, string>>,
  use: (...machines: Machine[]) => Promise<void>,
): Promise<void> {
  const isBudgeted = Object.keys(db).length > 1;
  const machines = Object.entries(db).map(([node, url]) =>
    makeMachine({ upstream, node, db: url, isBudgeted }),
  );
  try {
    await use(...machines);
  } finally {
    for (const machine of machines) {
      await machine.stop();
      machine.place.dispose();
    }
  }
}

interface MachineOptions {
  readonly upstream: Upstream;
  readonly node: string;
  readonly db: string;
  readonly isBudgeted: boolean;
}

function makeMachine({ upstream, node, db, isBudgeted }: MachineOptions): Machine {
  const bare = makePlace();
  const [, password = ''] = /:([^:@]+)@/.exec(db) ?? [];
  const place = {
    ...bare,
    env: { ...bare.env, LEDGER_PASSWORD: password, SVC_NODE: node },
  };
  mkdirSync(place.home, { mode: 0o700 });
  const yaml = [
    'server: { port: 0, ws_port: 0 }',
    ...(db === ''
      ? []
      : [`ledger: { db: "${db.replace(`:${password}@`, ':${LEDGER_PASSWORD}@')}" }`]),
    'providers:',
    ...['messages', 'chat', 'generative'].map(
      (name) => `  ${name}: { base_url: "${upstream.url}", api_key: ${name}-key }`,
    ),
    'alerts:',
    '  - { name: many, when: { metric: requests, above: 1000 } }',
    ...(isBudgeted ? ['budget: { enabled: true, per_day_usd: 100 }'] : []),
  ].join('\n');
  writeFileSync(join(place.home, 'config.yaml'), yaml, { mode: 0o600 });
  let proxy: Spawned | undefined;
  return {
    place,
    svc: (...argv) => run(place, argv),
    async serve() {
      proxy = start(place, ['serve']);
      const [url] = await proxy.prints(/http:\/\/127\.0\.0\.1:\d+/);
      return url;
    },
    proxy: () => proxy!,
    async stop(signal = 'SIGTERM') {
      proxy?.child.kill(signal);
      await proxy?.ended;
      proxy = undefined;
    },
  };
}

/** Sends `count` requests of several kinds, ten at a time. */
async function ask(url: string, count: number): Promise<Sent[]> {
  const sent: Sent[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const model = ['claude-sonnet-4-5', 'claude-haiku-4-5', 'unknown-model'][n % 3]!;
      const messages = n % 5 === 0 ? conversation(`thing${n % 2}`) : `question ${n}`;
      const headers = { 'user-agent': n % 2 === 0 ? 'claude-cli/2.0' : 'curl/8' };
      sent.push(await post(url, { model, messages, headers }));
    }
  };
  await Promise.all(Array.from({ length: 10 }, client));
  return sent;
}

async function get(url: string, path: string): Promise<Json> {
  return (await (await fetch(`${url}${path}`)).json()) as Json;
}

function holdsNoSecret(text: string, where: string): void {
  for (const secret of SECRETS) assert.not(text.includes(secret), `${where}: ${text}`);
}

/** All that lies in the home, as text. */
function textsIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** Without what differs from one moment, or one order of adding fractions, to the next. */
function comparable(value: unknown): unknown {
  const text = JSON.stringify(value, (name, one: unknown) => {
    if (
      /^(?:timestamp|uptime|start_time|ledger$|by_node|bucket|since|until|.*_seconds$)/.test(name)
    )
      return undefined;
    return typeof one === 'number' && !Number.isInteger(one) ? Number(one.toPrecision(9)) : one;
  });
  return JSON.parse(text) as unknown;
}

const COMMANDS: readonly (readonly string[])[] = [
  ['stats'],
  ['models'],
  ['usage'],
  ['savings'],
  ['requests', '-n', '300'],
  ['requests', '--failed'],
  ['requests', '--model', 'SONNET', '--client', 'claude-code'],
  ['timeline'],
  ['cost'],
  ['cost-breakdown'],
  ['compare'],
  ['leaderboard'],
  ['report'],
  ['attribution'],
  ['attribution', '--by', 'node'],
  ['aggregate'],
  ['check-alerts'],
];

const ENDPOINTS = [
  '/savings',
  '/savings?since=2026-01-01',
  '/ledger/sums',
  '/metrics/dashboard',
  '/dashboard/api/requests?limit=300',
  '/dashboard/api/report',
  '/dashboard/api/conversations',
];

outside(
  '200 requests: every command and page says what it says of a file; no word of the password',
  async (t) => {
    const db = await t.server.create('outside');
    await withMachines(t, { desk: db, copy: '' }, async (desk, copy) => {
      const url = await desk.serve();
      const sent = await ask(url, 200);
      const health = await get(url, '/health');
      assert.is(health['status'], 'ok', JSON.stringify(health));
      const stats = await get(url, '/stats');
      assert.is((stats['today'] as Json)['requests'], 200);
      const shown = await desk.svc('config', 'show');
      const doctor = await desk.svc('doctor');
      assert.match(
        doctor.stdout,
        /Ledger .*postgres:\/\/127\.0\.0\.1:\d+\/outside answers \(PostgreSQL \d+\)/,
      );
      assert.not.match(doctor.stdout, /have no name in the shared ledger/);
      const { SVC_NODE: _name, ...nameless } = desk.place.env as Record<string, string>;
      const unnamed = await run({ ...desk.place, env: nameless }, ['doctor']);
      assert.match(unnamed.stdout, /rows of this machine have no name in the shared ledger/);
      const { pid } = desk.proxy().child;
      const title = `${readFileSync(`/proc/${pid}/cmdline`, 'latin1')} ${readFileSync(`/proc/${pid}/comm`, 'latin1')}`;
      const pages = [
        JSON.stringify(health),
        JSON.stringify(stats),
        shown.stdout,
        doctor.stdout,
        title,
      ];
      pages.push(await (await fetch(`${url}/metrics`)).text(), JSON.stringify(await get(url, '/')));
      await desk.stop();
      pages.push(desk.place.home);
      const rows = await stored(db);
      assert.equal(rows.map(({ id }) => id).toSorted(), sent.map(({ id }) => id).toSorted());
      assert.ok(rows.every(({ node }) => node === 'desk'));
      for (const page of pages) holdsNoSecret(page, 'shown');
      holdsNoSecret(textsIn(desk.place.home), 'in the home');

      const { writer } = openIn(copy.place.folder, { file: join(copy.place.home, 'monitor.db') });
      for (const row of rows) writer.record(row);
      await writer.close();
      const clock = {
        ...(await import('../../engine/clock.ts')).systemClock,
        wallMs: () => Date.UTC(2026, 10, 25),
      };
      for (const argv of COMMANDS) {
        for (const more of [[], ['--json']]) {
          const line = [...argv, ...more];
          const changes = rows[0]!.startedMs > clock.wallMs() ? {} : { clock };
          const [expected, found] = await Promise.all(
            [copy, desk].map(({ place }) => run(place, line, changes)),
          );
          assert.is(expected!.code, 0, `${line.join(' ')}: ${expected!.stderr}`);
          assert.is(found!.code, 0, `${line.join(' ')}: ${found!.stderr}`);
          // Which names its machines, and of a single one says how to add others.
          if (argv[0] === 'aggregate' && more.length === 0) continue;
          assert.equal(found!.stderr, expected!.stderr, line.join(' '));
          if (more.length > 0)
            assert.equal(
              comparable(JSON.parse(found!.stdout)),
              comparable(JSON.parse(expected!.stdout)),
              line.join(' '),
            );
          else assert.is(found!.stdout, expected!.stdout, line.join(' '));
        }
      }
      const [one, two] = [await desk.serve(), await copy.serve()];
      for (const path of ENDPOINTS) {
        const [found, expected] = [await get(one, path), await get(two, path)];
        for (const json of [found, expected])
          if (path === '/ledger/sums') delete (json as { node?: unknown }).node;
        assert.equal(comparable(found), comparable(expected), path);
      }
      const [{ id }] = sent as [Sent];
      const [found, expected] = await Promise.all(
        [one, two].map((at) => get(at, `/dashboard/api/request/${id}`)),
      );
      assert.equal(comparable(found), comparable(expected));
    });
  },
);

outside('killed under load: no acknowledged row is lost, none is there twice', async (t) => {
  const db = await t.server.create('killed');
  await withMachines(t, { desk: db }, async (desk) => {
    const url = await desk.serve();
    const ended = new Map<string, number>();
    let isOver = false;
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const sent = await post(url, { model: 'claude-haiku-4-5', messages: 'hello' }).catch(
          () => undefined,
        );
        if (sent === undefined) return;
        ended.set(sent.id, Date.now());
      }
    });
    await until(() => ended.size >= 60, 'sixty answers');
    const pid = desk.proxy().child.pid ?? 0;
    const before = threadsWaitedMs(pid);
    const stalls = monitorEventLoopDelay({ resolution: 1 });
    stalls.enable();
    await pause(300);
    // What a thread waited for a processor is not the promise's fault.
    const waits = [...threadsWaitedMs(pid)].map(([id, ms]) => ms - (before.get(id) ?? 0));
    const lateMs = Math.max(stalls.max / 1e6, ...waits);
    const killedMs = Date.now();
    await desk.stop('SIGKILL');
    isOver = true;
    await Promise.all(clients);
    const promised = [...ended].filter(([, atMs]) => atMs <= killedMs - ACKNOWLEDGED_MS - lateMs);
    assert.ok(promised.length > 20, `${promised.length} promised`);
    const ids = (await stored(db)).map((row) => row.id);
    const found = new Set(ids);
    assert.is(found.size, ids.length);
    assert.equal(
      promised.filter(([id]) => !found.has(id)),
      [],
    );
    // And it goes on where it was.
    const again = await desk.serve();
    await ask(again, 5);
    await desk.stop();
    assert.is((await stored(db)).length, ids.length + 5);
  });
});

outside('the server stops and starts under load: no client sees it, no row is lost', async (t) => {
  const db = await t.server.create('restarted');
  await withMachines(t, { desk: db }, async (desk) => {
    const url = await desk.serve();
    const sent: Sent[] = [];
    const failed: unknown[] = [];
    let isOver = false;
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver && failed.length === 0) {
        const asked = post(url, { model: 'claude-haiku-4-5', messages: 'hello' });
        await asked.then(
          (one) => sent.push(one),
          (error: unknown) => failed.push(error),
        );
        await pause(5);
      }
    });
    await until(() => sent.length > 40, 'answers');
    await t.server.stop();
    await until(
      async () => (await get(url, '/health'))['status'] === 'degraded',
      'a degraded proxy',
    );
    const { reasons } = await get(url, '/health');
    assert.match(
      String(reasons),
      /ledger: The ledger cannot be written: postgres:\/\/127\.0\.0\.1/,
    );
    const away = sent.length;
    await until(() => sent.length > away + 40, 'answers without a ledger');
    const savings = await fetch(`${url}/savings`);
    assert.is(savings.status, 503);
    assert.match(await savings.text(), /The ledger cannot be read/);
    await t.server.start();
    await until(async () => (await get(url, '/health'))['status'] === 'ok', 'a healthy proxy');
    isOver = true;
    await Promise.all(clients);
    assert.equal([failed, sent.filter(({ status }) => status !== 200)], [[], []]);
    await desk.stop();
    const ids = (await stored(db)).map(({ id }) => id);
    assert.equal(ids.toSorted(), sent.map(({ id }) => id).toSorted());
    const ran = await desk.svc('logs', '-n', '50');
    holdsNoSecret(`${ran.stdout}${textsIn(desk.place.home)}`, 'logged');
  });
});

outside(
  'two machines at once: sums are exact, each by its name, and nothing is counted twice',
  async (t) => {
    const db = await t.server.create('fleet');
    await withMachines(t, { desk: db, attic: db }, async (desk, attic) => {
      const [one, two] = [await desk.serve(), await attic.serve()];
      const sent = await Promise.all([ask(one, 90), ask(two, 60)]);
      const tokens = sent.map((some) =>
        some.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
      );
      assert.is((await desk.svc('fleet', 'add', 'attic', two)).code, 0);
      const ran = await desk.svc('aggregate', '--json');
      assert.is(ran.code, 0, ran.stderr);
      const json = JSON.parse(ran.stdout) as Record<string, readonly Json[]> & { totals: Json };
      assert.equal(
        [json.totals['requests'], json.totals['output_tokens']],
        [150, tokens[0]! + tokens[1]!],
      );
      const nodes = json['by_node']!.map(({ node, requests, output_tokens: output }) => [
        node,
        { requests, output },
      ]);
      assert.equal(Object.fromEntries(nodes), {
        attic: { requests: 60, output: tokens[1] },
        desk: { requests: 90, output: tokens[0] },
      });
      assert.equal(json['repeated'], [{ source: 'attic', of: 'desk', requests: null }]);
      assert.is((await desk.svc('fleet', 'init', '--node', 'desk')).code, 0);
      const status = JSON.parse((await desk.svc('fleet', 'status', '--json')).stdout) as {
        readonly machines: readonly { readonly node: string; readonly today: Json }[];
      };
      const requests = status.machines.map(({ node, today }) => [node, today['requests']]);
      assert.equal(Object.fromEntries(requests), { attic: 60, desk: 90 });
      await Promise.all([desk.stop(), attic.stop()]);
      const alone = await attic.svc('aggregate', '--json');
      assert.is((JSON.parse(alone.stdout) as { totals: Json }).totals['requests'], 150);
      const shown = await attic.svc('attribution', '--by', 'node');
      assert.match(shown.stdout, /desk[\s\S]*attic|attic[\s\S]*desk/);
      // A limit is the machine's own: so is what it has spent before.
      const again = await desk.serve();
      const own = (await stored(db)).filter(({ node }) => node === 'desk');
      const spent = own.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0);
      assert.ok(spent > 0);
      const known = async () => ((await get(again, '/health'))['budget'] as Json)['spent_usd'];
      await until(async () => (await known()) !== 0, 'what was spent before');
      assert.is(await known(), spent / 1e9);
    });
  },
);

outside(
  'not reachable at the start: it serves, says why and what to do, and writes later',
  async (t) => {
    const db = await t.server.create('late');
    await t.server.stop();
    await withMachines(t, { desk: db }, async (desk) => {
      const url = await desk.serve();
      const [sent] = await ask(url, 1);
      assert.is(sent?.status, 200);
      const { status, reasons } = await get(url, '/health');
      assert.is(status, 'degraded');
      assert.match(String(reasons), /connect ECONNREFUSED/);
      assert.match(desk.proxy().output.stderr, /cannot be written: .*ECONNREFUSED/);
      assert.match(
        desk.proxy().output.stderr,
        /server runs and that host and port in SVC_DB are right/,
      );
      const ran = await desk.svc('usage');
      assert.is(ran.code, 3);
      assert.match(
        ran.stderr,
        /cannot be read: postgres:\/\/127\.0\.0\.1:\d+\/late: connect ECONNREFUSED/,
      );
      const doctor = await desk.svc('doctor');
      assert.match(doctor.stdout, /Ledger .*cannot be read/);
      holdsNoSecret(`${ran.stderr}${doctor.stdout}${desk.proxy().output.stderr}`, 'printed');
      await t.server.start();
      await until(async () => (await get(url, '/health'))['status'] === 'ok', 'a healthy proxy');
      assert.is((await stored(db)).length, 1);
    });
  },
);

outside('a newer schema is refused by the proxy and by commands, in the same words', async (t) => {
  const db = await t.server.create('newer');
  const next = [...migrations, ['ALTER TABLE requests ADD COLUMN later INTEGER']];
  const { writer } = openIn('/nowhere', { file: db, migrations: next });
  await writer.ready();
  await writer.close();
  await withMachines(t, { desk: db }, async (desk) => {
    const served = await start(desk.place, ['serve']).ended;
    assert.is(served.code, 4);
    assert.match(served.stderr, /was written by a newer svc \(schema 10, this one knows 9\)/);
    assert.match(served.stderr, /Update svc/);
    const ran = await desk.svc('usage');
    assert.is(ran.code, 4);
    assert.match(ran.stderr, /has another version than this svc, a newer one/);
    assert.match((await desk.svc('doctor')).stdout, /was written by a newer svc/);
    holdsNoSecret(`${served.stderr}${ran.stderr}`, 'printed');
  });
});

outside.run();
