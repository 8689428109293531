/**
 * A ledger in Postgres from outside: every command and page shows the same as for a file, and no
 * secrets.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/clock.ts';
import type { Json, Sent } from '../../fixtures/cli/live.ts';
import {
  ask,
  get,
  holdsNoSecret,
  postgresSuite,
  textsIn,
  withMachines,
} from '../../fixtures/cli/postgres-machines.ts';
import { run } from '../../fixtures/cli/run.ts';
import { openIn, stored } from '../../fixtures/ledger/temp-ledger.ts';

/** Removes what depends on the time, or on the order of adding fractions. */
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
  ['report', '--month', new Date().toISOString().slice(0, 7), '--by', 'project'],
  ['attribution'],
  ['attribution', '--by', 'node'],
  ['attribution', '--by', 'tool,model'],
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
  '/dashboard/api/tools',
  '/dashboard/api/conversations',
];

const equal = postgresSuite('svc with its ledger in Postgres, compared with one in a file');

equal(
  'after 200 requests every command and page shows the same as with a file, and no password',
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
      // Both are queried with the same time.
      const nowMs = Date.now();
      const clock = { ...systemClock, wallMs: () => nowMs };
      for (const argv of COMMANDS) {
        for (const more of [[], ['--json']]) {
          const line = [...argv, ...more];
          const [expected, found] = await Promise.all(
            [copy, desk].map(({ place }) => run(place, line, { clock })),
          );
          assert.is(expected!.code, 0, `${line.join(' ')}: ${expected!.stderr}`);
          assert.is(found!.code, 0, `${line.join(' ')}: ${found!.stderr}`);
          // It names its machines, and for a single one how to add others.
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

equal.run();
