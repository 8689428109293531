/**
 * Sums over several ledgers, copied files and machines of a fleet, compared with a recount of the
 * rows.
 */
import * as fs from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Database } from '../../stages/sqlite.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { listIn, objectIn } from '../../fixtures/cli/effects/effect.ts';
import { freePort } from '../../fixtures/cli/live.ts';
import type { Json } from '../../fixtures/cli/live.ts';
import { inPlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import { withServer } from '../../fixtures/cli/server.ts';
import { dayOf, group, recount } from '../../fixtures/ledger/recount.ts';
import { openIn, rowOf } from '../../fixtures/ledger/temp-ledger.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';

const KEY = 'svc_attic-key-0123456789';
const LOCKED = `security: { require_api_key: true, api_key: ${KEY} }`;
const DAY = 86_400_000;

/** Returns requests with and without prices, tokens and failures. */
function rowsOf(name: string, node: string | null, count = 12): readonly LedgerRow[] {
  return Array.from({ length: count }, (_, at) =>
    rowOf(at, {
      id: `${name}_${at}`,
      startedMs: Date.UTC(2026, 10, 20) + at * (DAY / 4),
      model: ['claude-a', 'claude-b', null][at % 3]!,
      node,
      status: at % 5 === 0 ? 500 : 200,
      outcome: at % 5 === 0 ? 'error' : 'ok',
      inputTokensRaw: at % 4 === 0 ? null : 100 * at,
      inputTokensSent: at % 4 === 0 ? null : 90 * at,
      savedTokens: at % 4 === 0 ? null : 10 * at,
      outputTokens: at % 4 === 0 ? null : 7 + at,
      costNanoUsd: at % 3 === 0 && at % 4 !== 0 ? 1000 * at : null,
      costSavedNanoUsd: at % 3 === 0 && at % 4 !== 0 ? 100 * at : null,
      latencyMs: 10 + at / 7,
    }),
  );
}

async function ledger(place: Place, name: string, rows: readonly LedgerRow[]): Promise<string> {
  const file = join(place.folder, name);
  fs.mkdirSync(join(file, '..'), { recursive: true });
  const { writer } = openIn(place.folder, { file });
  await writer.ready();
  for (const row of rows) writer.record(row);
  await writer.flush();
  await writer.close();
  return file;
}

async function aggregate(place: Place, ...argv: string[]): Promise<Json> {
  const ran = await run(place, ['aggregate', ...argv, '--json']);
  assert.is(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout) as Json;
}

function expectFigures(found: unknown, rows: readonly LedgerRow[], where: string): void {
  for (const [name, value] of Object.entries(recount(rows)))
    assert.is(objectIn(found)[name], value, `${where}: ${name}`);
}

/** Compares every figure of the response with a recount of the rows. */
function expectRows(found: Json, rows: readonly LedgerRow[]): void {
  expectFigures(found['totals'], rows, 'totals');
  for (const [list, name, of] of [
    ['by_model', 'model', (row: LedgerRow) => row.model],
    ['by_day', 'date', dayOf],
  ] as const) {
    const wanted = group(rows, of);
    const groups = listIn(found[list]);
    assert.equal(new Set(groups.map((one) => one[name])), new Set(wanted.keys()), list);
    for (const one of groups)
      expectFigures(one, wanted.get(one[name] as string) ?? [], `${list} ${String(one[name])}`);
  }
}

/** Returns the content of a folder, with times and file contents. */
function stateOf(folder: string): unknown {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const stat = fs.statSync(join(folder, name));
      const content = stat.isFile() ? fs.readFileSync(join(folder, name), 'base64') : '';
      return [name, stat.mtimeMs, content];
    });
}

test('files and folders are grouped by node, model or day, and limited to a time span', () =>
  inPlace(async (place) => {
    const [desk, attic, nameless] = [
      rowsOf('desk', 'desk'),
      rowsOf('attic', 'attic', 7),
      rowsOf('old', null, 5),
    ];
    await ledger(place, 'copied/desk.db', desk);
    await ledger(place, 'copied/attic.db', attic);
    await ledger(place, 'old.db', nameless);
    fs.writeFileSync(join(place.folder, 'copied/notes.txt'), 'not a ledger');
    new Database(join(place.folder, 'copied/other.db')).exec('CREATE TABLE t (a)').close();
    const before = stateOf(place.folder);
    const all = [...desk, ...attic, ...nameless];
    const found = await aggregate(place, 'copied', 'old.db');
    expectRows(found, all);
    assert.equal([found['complete'], found['repeated'], found['missing']], [true, [], []]);
    const nodes = listIn(found['by_node']);
    assert.equal(
      nodes.map((one) => [one['node'], one['sources']]),
      [
        ['attic', ['copied/attic.db']],
        ['desk', ['copied/desk.db']],
        [null, ['old.db']],
      ],
    );
    for (const [at, rows] of [attic, desk, nameless].entries())
      expectFigures(nodes[at], rows, `node ${at}`);
    const [since, until] = ['2026-11-21', '2026-11-22T07:00:00Z'];
    const within = ({ startedMs }: LedgerRow) =>
      startedMs >= Date.parse(since) && startedMs < Date.parse(until);
    const span = await aggregate(place, 'copied', 'old.db', '--since', since, '--until', until);
    expectRows(span, all.filter(within));
    const { stdout, code } = await run(place, ['aggregate', 'copied', 'old.db']);
    assert.is(code, 0);
    assert.match(stdout, /^3 machines, all time/);
    assert.match(stdout, /\nold\.db +5 /);
    assert.match(stdout, new RegExp(`\\ntogether +${all.length} `));
    assert.match(stdout, /\nunknown +\d/);
    assert.equal(stateOf(place.folder), before, 'files are only read');
  }));

test('one machine in two ledgers is shown as one row', () =>
  inPlace(async (place) => {
    const rows = [rowsOf('a', 'desk', 3), rowsOf('b', 'desk', 4)];
    for (const [at, some] of rows.entries()) await ledger(place, `${at}.db`, some);
    const [only, ...others] = listIn((await aggregate(place, '0.db', '1.db'))['by_node']);
    assert.equal([only?.['sources'], others], [['0.db', '1.db'], []]);
    expectFigures(only, rows.flat(), 'desk');
  }));

test('unpriced or unmeasured figures are shown as a dash', () =>
  inPlace(async (place) => {
    const rows = rowsOf('a', 'desk').map((row) => ({
      ...row,
      costNanoUsd: null,
      costSavedNanoUsd: null,
    }));
    await ledger(place, 'a.db', rows);
    const found = await aggregate(place, 'a.db');
    assert.is(objectIn(found['totals'])['cost'], null);
    const { stdout, stderr } = await run(place, ['aggregate', 'a.db']);
    assert.match(stdout, /\ntogether .* – +–\n/);
    assert.match(stderr, 'without a known price');
  }));

test('a request in two files, or in a file given twice, is counted once and reported', () =>
  inPlace(async (place) => {
    const rows = rowsOf('desk', 'desk');
    const file = await ledger(place, 'now.db', rows);
    await ledger(place, 'older.db', rows.slice(0, 5));
    fs.symlinkSync(file, join(place.folder, 'link.db'));
    fs.linkSync(file, join(place.folder, 'hard.db'));
    fs.copyFileSync(file, join(place.folder, 'same.db'));
    const argv = ['now.db', 'older.db', 'now.db', './link.db', 'hard.db', 'same.db'];
    const found = await aggregate(place, ...argv);
    expectRows(found, rows);
    assert.equal(found['repeated'], [
      { source: 'now.db', of: 'now.db', requests: null },
      { source: './link.db', of: 'now.db', requests: null },
      { source: 'hard.db', of: 'now.db', requests: null },
      { source: 'older.db', of: null, requests: 5 },
      { source: 'same.db', of: null, requests: rows.length },
    ]);
    const { stderr } = await run(place, ['aggregate', ...argv]);
    assert.match(stderr, 'hard.db is the same ledger as now.db, and is counted once');
    assert.match(
      stderr,
      'older.db: 5 requests were already in an earlier ledger, and are counted once',
    );
  }));

test('reads a ledger while a proxy writes it, and a ledger copied with its write-ahead log', () =>
  inPlace(async (place) => {
    const rows = rowsOf('desk', 'desk');
    const { writer, file } = openIn(place.folder, { file: join(place.folder, 'live.db') });
    await writer.ready();
    for (const row of rows) writer.record(row);
    await writer.flush();
    assert.ok(fs.existsSync(`${file}-wal`));
    for (const end of ['', '-wal'])
      fs.copyFileSync(file + end, join(place.folder, `copy.db${end}`));
    expectRows(await aggregate(place, 'live.db'), rows);
    await writer.close();
    expectRows(await aggregate(place, 'copy.db'), rows);
  }));

test('a file that is not a ledger or has another version is named, with a remedy', () =>
  inPlace(async (place) => {
    fs.mkdirSync(join(place.folder, 'empty'));
    fs.writeFileSync(join(place.folder, 'notes.txt'), 'hello');
    fs.writeFileSync(join(place.folder, 'blank.db'), '');
    await ledger(place, 'good.db', rowsOf('a', 'desk'));
    for (const [name, version] of [
      ['newer.db', 999],
      ['older.db', 3],
    ] as const) {
      const database = new Database(await ledger(place, name, []));
      database.pragma(`user_version = ${version}`);
      database.close();
    }
    const whole = fs.readFileSync(join(place.folder, 'good.db'));
    fs.writeFileSync(join(place.folder, 'cut.db'), whole.subarray(0, 5000));
    for (const [name, code, says] of [
      ['nowhere.db', 5, /There is no file nowhere\.db/],
      ['empty', 5, /no svc ledger in the folder empty/],
      ['notes.txt', 8, /notes\.txt is not an svc ledger/],
      ['blank.db', 8, /blank\.db is not an svc ledger/],
      ['newer.db', 4, /The ledger newer\.db has another version.*newer[\s\S]*Update svc here/],
      ['older.db', 4, /The ledger older\.db has another version.*older[\s\S]*copy it again/],
      ['cut.db', 3, /cut\.db[\s\S]*Copy it again/],
      ['postgres://ada:secret@db/svc', 8, /error: postgres:\/\/db\/svc is not a file[\s\S]*SVC_DB/],
    ] as const) {
      const ran = await run(place, ['aggregate', 'good.db', name]);
      assert.is(ran.code, code, `${name}: ${ran.stderr}`);
      assert.match(ran.stderr, says);
      assert.is(ran.stdout, '');
      assert.not.match(ran.stderr, '/svc-ledger-');
    }
    for (const option of ['--since', '--config'])
      assert.is((await run(place, ['aggregate', 'good.db', option, 'soon'])).code, 2);
  }));

test('names from a ledger cannot control the terminal', () =>
  inPlace(async (place) => {
    const name = '\u001b[2J\u202eevil\nline';
    await ledger(place, 'a\u001b[1m.db', [
      ...rowsOf('a', null, 2).map((row) => ({ ...row, model: name })),
      ...rowsOf('b', null, 2).map((row) => ({ ...row, model: '__proto__' })),
    ]);
    const { stdout, stderr, code } = await run(place, ['aggregate', '.']);
    assert.is(code, 0);
    // oxlint-disable-next-line no-control-regex -- looks for control characters
    assert.not.match(stdout + stderr, /[\u001b\u202e]/);
    assert.match(stdout, '__proto__');
  }));

async function add(place: Place, name: string, url: string, key?: string): Promise<void> {
  const stdin = new PassThrough();
  stdin.end(key ?? '');
  const argv = ['fleet', 'add', name, url, ...(key === undefined ? [] : ['--key-stdin'])];
  const ran = await run(place, argv, { stdin });
  assert.is(ran.code, 0, ran.stderr);
}

test('without arguments: shows this machine alone, with or without a ledger or a proxy', () =>
  inPlace(async (place) => {
    const none = await aggregate(place);
    assert.is(objectIn(none['totals'])['requests'], 0);
    const rows = rowsOf('desk', 'desk');
    fs.mkdirSync(place.home, { mode: 0o700 });
    await ledger(place, 'home/monitor.db', rows);
    expectRows(await aggregate(place), rows);
    const { stderr } = await run(place, ['aggregate']);
    assert.match(stderr, 'There are no other machines');
    const env = { SVC_WS_PORT: '0', SVC_NODE: 'desk' };
    const proxy = start(place, ['serve', '--port', '0'], env);
    try {
      const [, port] = await proxy.prints(/http:\/\/127\.0\.0\.1:(\d+)/);
      // Retention deletes rows older than its limit; their sums stay.
      expectRows(await aggregate(place), rows);
      await add(place, 'myself', `http://127.0.0.1:${port}`);
      const found = await aggregate(place);
      expectRows(found, rows);
      assert.equal(found['repeated'], [{ source: 'myself', of: 'this machine', requests: null }]);
    } finally {
      proxy.child.kill('SIGTERM');
      await proxy.ended;
    }
  }));

test('without arguments: shows the machines of the fleet, and which are missing', () =>
  withProxy({ yaml: LOCKED }, (attic) =>
    withProxy({}, (shed) =>
      inPlace(async (place) => {
        for (const [t, count, key] of [
          [attic, 3, KEY],
          [shed, 2, undefined],
        ] as const) {
          for (let at = 0; at < count; at += 1)
            await exchange(t.proxy.port, {
              body: json(MESSAGE),
              ...(key !== undefined && { headers: { 'x-svc-key': key } }),
            });
        }
        const rows = { attic: await attic.rows(3), shed: await shed.rows(2) };
        assert.is((await run(place, ['fleet', 'init', '--node', 'desk'])).code, 0);
        const own = rowsOf('desk', null, 4);
        await ledger(place, 'home/monitor.db', own);
        await add(place, 'attic', attic.proxy.url, KEY);
        await add(place, 'shed', shed.proxy.url);
        await add(place, 'shed-again', `${shed.proxy.url.replace('127.0.0.1', 'localhost')}`);
        const found = await aggregate(place);
        const all = [...own, ...rows.attic, ...rows.shed];
        expectRows(found, all);
        assert.equal(
          listIn(found['by_node']).map((one) => [one['node'], one['requests']]),
          [
            ['desk', 4],
            ['attic', 3],
            ['shed', 2],
          ],
        );
        assert.equal(found['repeated'], [{ source: 'shed-again', of: 'shed', requests: null }]);
        const since = new Date(Date.now() - DAY).toISOString();
        expectRows(await aggregate(place, '--since', since), [...rows.attic, ...rows.shed]);
        expectRows(await aggregate(place, '--until', since), own);

        const nonsense: RequestListener = (request, response) => {
          const key = String(request.headers['x-svc-key']);
          response.end(JSON.stringify({ by_model: [{ model: key, sums: { requests: 1e9 } }] }));
        };
        await withServer(nonsense, async (url) => {
          await add(place, 'odd', url, KEY);
          await add(place, 'wrong', attic.proxy.url, 'svc_another-key');
          await add(place, 'down', `http://127.0.0.1:${await freePort()}`);
          const ran = await run(place, ['aggregate', '--json']);
          assert.is(ran.code, 3);
          const partial = JSON.parse(ran.stdout) as Json;
          expectRows(partial, all);
          assert.is(partial['complete'], false);
          assert.equal(
            listIn(partial['missing']).map((one) => [
              one['node'],
              /refuses the key|ECONNREFUSED|not those of an svc proxy/.exec(
                String(one['error']),
              )?.[0],
            ]),
            [
              ['odd', 'not those of an svc proxy'],
              ['wrong', 'refuses the key'],
              ['down', 'ECONNREFUSED'],
            ],
          );
          assert.match(ran.stderr, /Not counted: odd: .*; wrong: .*; down: /);
          const table = await run(place, ['aggregate']);
          assert.is(table.code, 3);
          assert.match(table.stdout, /\ndown +– +–/);
          assert.match(table.stdout, /\ntogether without odd, wrong, down +9 /);
          assert.not.match(ran.stdout + ran.stderr + table.stdout + table.stderr, KEY);
        });
      }),
    ),
  ));

test.after(closeClients);
test.run();
