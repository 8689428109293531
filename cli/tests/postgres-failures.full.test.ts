/**
 * A ledger in Postgres from outside: a killed proxy, a lost or missing server, tables of a newer
 * svc.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { sendRequest, until } from '../../fixtures/cli/live.ts';
import type { Sent } from '../../fixtures/cli/live.ts';
import {
  ask,
  get,
  holdsNoSecret,
  postgresSuite,
  textsIn,
  withMachines,
} from '../../fixtures/cli/postgres-machines.ts';
import { start } from '../../fixtures/cli/run.ts';
import { openIn, stored } from '../../fixtures/ledger/temp-ledger.ts';
import { threadsWaitedMs } from '../../fixtures/starvation.ts';
import { migrations } from '../../stages/ledger/migrations.ts';

/** A row is guaranteed for a response that ended at least this long ago. */
const ACKNOWLEDGED_MS = 1000;

const failures = postgresSuite('svc with its ledger in Postgres, with failures');

failures('a proxy killed under load loses no acknowledged row and writes none twice', async (t) => {
  const db = await t.server.create('killed');
  await withMachines(t, { desk: db }, async (desk) => {
    const url = await desk.serve();
    const ended = new Map<string, number>();
    let isOver = false;
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const sent = await sendRequest(url, { model: 'claude-haiku-4-5', messages: 'hello' }).catch(
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
    const startedMs = Date.now();
    let lateMs = 0;
    // Long enough that the first sixty are guaranteed, however busy the machine is.
    while (Date.now() - startedMs - lateMs < ACKNOWLEDGED_MS + 200) {
      await pause(100);
      // Time that a thread waited for a processor is not counted.
      const waits = [...threadsWaitedMs(pid)].map(([id, ms]) => ms - (before.get(id) ?? 0));
      lateMs = Math.max(stalls.max / 1e6, ...waits);
    }
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
    // And it continues where it was.
    const again = await desk.serve();
    await ask(again, 5);
    await desk.stop();
    assert.is((await stored(db)).length, ids.length + 5);
  });
});

failures('a restart of the database under load fails no request and loses no row', async (t) => {
  const db = await t.server.create('restarted');
  await withMachines(t, { desk: db }, async (desk) => {
    const url = await desk.serve();
    const sent: Sent[] = [];
    const failed: unknown[] = [];
    let isOver = false;
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver && failed.length === 0) {
        const response = sendRequest(url, { model: 'claude-haiku-4-5', messages: 'hello' });
        await response.then(
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
    const sentBefore = sent.length;
    await until(() => sent.length > sentBefore + 40, 'answers without a ledger');
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

failures(
  'a proxy whose database is unreachable at startup serves, reports it, and writes later',
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

failures(
  'a newer schema is refused by the proxy and by commands with the same message',
  async (t) => {
    const db = await t.server.create('newer');
    const next = [...migrations, ['ALTER TABLE requests ADD COLUMN later INTEGER']];
    const { writer } = openIn('/nowhere', { file: db, migrations: next });
    await writer.ready();
    await writer.close();
    await withMachines(t, { desk: db }, async (desk) => {
      const served = await start(desk.place, ['serve']).ended;
      assert.is(served.code, 4);
      const versions = `(schema ${next.length}, this one knows ${migrations.length})`;
      assert.ok(served.stderr.includes(`was written by a newer svc ${versions}`), served.stderr);
      assert.match(served.stderr, /Update svc/);
      const ran = await desk.svc('usage');
      assert.is(ran.code, 4);
      assert.match(ran.stderr, /has another version than this svc, a newer one/);
      assert.match((await desk.svc('doctor')).stdout, /was written by a newer svc/);
      holdsNoSecret(`${served.stderr}${ran.stderr}`, 'printed');
    });
  },
);

failures.run();
