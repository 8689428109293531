/**
 * Proxy keys in the Postgres database of a shared ledger: two proxies, the CLI's store, and an
 * outage.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SvcError } from '../../engine/error.ts';
import { createManualClock, systemClock } from '../../engine/clock.ts';
import { folderForEach } from '../../fixtures/ledger/temp-ledger.ts';
import { startPostgres } from '../../fixtures/postgres.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { startTestProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { until } from '../../fixtures/wait.ts';
import { createKeyring, openKeyStore } from './auth.ts';
import { openSharedKeyStore } from './shared-keys.ts';
import { KEPT_MS, watchSharedKeys } from './watch-shared-keys.ts';

const tests = suite<{ server: Postgres }>('keys in a shared ledger');
const { at } = folderForEach(tests);

tests.before(async (t) => {
  t.server = await startPostgres();
});
tests.after(async (t) => {
  closeClients();
  await t.server.close();
});

const REMOTE = { 'x-forwarded-for': '10.1.2.3' };
const clock = systemClock;
const storeAt = (url: string, file: string) =>
  openSharedKeyStore({ url, file, clock, random: randomBytes });

const ask = async (t: TestProxy, key: string) =>
  (await exchange(t.proxy.port, { headers: { ...REMOTE, 'x-svc-key': key }, body: json(MESSAGE) }))
    .status;

async function answers(pair: readonly TestProxy[], key: string, status: number): Promise<void> {
  for (const t of pair) await until(`${status}`, async () => (await ask(t, key)) === status);
}

/** Runs `use` with the server stopped, and restarts the server even if `use` throws. */
async function whileAway(server: Postgres, use: () => Promise<void>): Promise<void> {
  await server.stop();
  try {
    await use();
  } finally {
    await server.start();
  }
}

async function withPair(
  url: string,
  use: (pair: readonly [TestProxy, TestProxy]) => Promise<void>,
): Promise<void> {
  const env = { SVC_DB: url };
  const one = await startTestProxy({ env });
  try {
    const two = await startTestProxy({ env });
    try {
      await use([one, two]);
    } finally {
      await two.close();
    }
  } finally {
    await one.close();
  }
}

tests(
  'a key created before the first start is valid on both proxies, and so is every change',
  async (t) => {
    const url = await t.server.create('pair');
    const store = storeAt(url, at('keys.json'));
    const anna = await store.create({ label: 'anna', project: 'shop' });
    await withPair(url, async (pair) => {
      for (const one of pair) assert.is(await ask(one, anna.key), 200, 'from the first request on');
      assert.is(await ask(pair[0], 'svc_wrong'), 401);
      const ben = await store.create({ label: 'ben' });
      await answers(pair, ben.key, 200);
      await store.update('ben', { models: ['gpt-5*'] });
      await answers(pair, ben.key, 403);
      const next = await store.rotate('ben', { graceS: 3600 });
      await answers(pair, next.key, 403);
      await store.revoke('anna');
      await answers(pair, anna.key, 401);
    });
    const kept = await t.server.ask<{ stored: string }>(url, 'SELECT stored FROM proxy_keys');
    assert.is(kept.length, 3);
    const text = JSON.stringify(kept);
    assert.not(text.includes(anna.key), 'only hashes are stored');
    assert.not(text.includes(anna.key.slice(4)), 'only hashes are stored');
  },
);

tests('concurrent changes lose no key', async (t) => {
  const url = await t.server.create('at_once');
  const stores = [storeAt(url, at('a.json')), storeAt(url, at('b.json'))];
  const labels = Array.from({ length: 12 }, (_, n) => `k${n}`);
  await Promise.all(labels.map((label, n) => stores[n % 2]!.create({ label })));
  assert.equal((await stores[0]!.list()).map(({ label }) => label).toSorted(), labels.toSorted());
});

tests('a change of a key waits for a concurrent one and is based on its result', async (t) => {
  const url = await t.server.create('one_by_one');
  const store = storeAt(url, at('keys.json'));
  const { stored } = await store.create({ label: 'anna' });
  let late: ReturnType<typeof store.update> | undefined;
  await t.server.session(url, async (client) => {
    await client.query('BEGIN');
    await client.query('LOCK TABLE proxy_keys IN EXCLUSIVE MODE');
    late = store.update('anna', { models: ['gpt-5*'] });
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await until('it waits', async () => (await t.server.ask(url, waiting)).length > 0);
    const text = JSON.stringify({ ...stored, project: 'shop' });
    await client.query('UPDATE proxy_keys SET stored = $1', [text]);
    await client.query('COMMIT');
  });
  const { project, models } = await late!;
  assert.equal([project, models], ['shop', ['gpt-5*']], 'neither is lost');
});

tests('listening to the network without a key is refused, as with a local ledger', async (t) => {
  const url = await t.server.create('open');
  // A documentation address [RFC 5737] that no machine has: a start that is not refused fails to
  // listen.
  const yaml = 'server: { host: 192.0.2.1 }';
  const started = async () => {
    try {
      await (await startTestProxy({ yaml, env: { SVC_DB: url } })).close();
      return 'it listens';
    } catch (thrown) {
      return String(thrown);
    }
  };
  assert.match(await started(), /would let anyone on the network in: there is no proxy key/);
  const store = storeAt(url, at('keys.json'));
  await store.create({ label: 'anna' });
  assert.match(await started(), /this machine has no such address/);
  await store.revoke('anna');
  assert.match(await started(), /there is no proxy key/);
});

tests(
  'a key of the home folder stays valid there, and its revocation applies everywhere',
  async (t) => {
    const url = await t.server.create('home');
    const file = at('keys.json');
    const home = openKeyStore({ file, clock, random: randomBytes });
    const old = home.create({ label: 'old' });
    const store = storeAt(url, file);
    assert.equal(
      (await store.list()).map(({ label }) => label),
      ['old'],
    );
    const elsewhere = storeAt(url, at('elsewhere.json'));
    assert.equal(await elsewhere.list(), [], 'an unchanged key is valid on this machine only');
    await store.revoke('old');
    assert.ok((await elsewhere.list())[0]?.revoked, 'in the ledger');
    assert.ok(home.list()[0]?.revoked, 'and in the file, in case the ledger is local again later');
    const ring = createKeyring({ file, clock });
    ring.setSharedKeys(await elsewhere.list());
    assert.is(ring.check(old.key), 'dead');
  },
);

tests(
  'without the database keys stay valid for an hour, and revoked ones stay revoked',
  async (t) => {
    const url = await t.server.create('away');
    const file = at('keys.json');
    const home = openKeyStore({ file, clock, random: randomBytes });
    const moved = home.create({ label: 'moved' });
    const own = home.create({ label: 'own' });
    const store = storeAt(url, file);
    const anna = await store.create({ label: 'anna' });
    const revoked = await store.create({ label: 'gone' });
    await store.update('moved', { project: 'shop' });
    await store.revoke('gone');
    const manual = createManualClock(Date.now());
    const faults: string[] = [];
    const ring = createKeyring({ file, clock: manual });
    const watch = watchSharedKeys({
      url,
      clock: manual,
      onKeys: (keys) => ring.setSharedKeys(keys),
      onFault: ({ message }) => faults.push(message),
    });
    const verdicts = () =>
      [anna, revoked, moved, own].map(({ key }) => {
        const verdict = ring.check(key);
        return typeof verdict === 'string' ? verdict : verdict.verdict;
      });
    try {
      assert.ok(await watch.poll());
      assert.equal(verdicts(), ['keyed', 'dead', 'keyed', 'keyed']);
      await whileAway(t.server, async () => {
        assert.not(await watch.poll());
        manual.advance(KEPT_MS - 1);
        assert.not(await watch.poll());
        assert.equal(verdicts(), ['keyed', 'dead', 'keyed', 'keyed'], 'within the hour');
        manual.advance(1);
        assert.not(await watch.poll());
        assert.equal(verdicts(), ['dead', 'dead', 'dead', 'keyed'], 'after it');
        assert.is(faults.length, 1, 'it is reported once');
        let refused: unknown;
        await store.list().catch((thrown: unknown) => (refused = thrown));
        assert.match(String(refused), /keys of the shared ledger cannot be used/);
        assert.not.match((refused as SvcError).cure ?? '', /rows/, 'the message is about keys');
      });
      await until('it answers again', () => watch.poll());
      assert.equal(verdicts(), ['keyed', 'dead', 'keyed', 'keyed']);
    } finally {
      watch.close();
    }
  },
);

tests(
  'a proxy that starts without the database accepts no shared key until it is reachable',
  async (t) => {
    const url = await t.server.create('late');
    const anna = await storeAt(url, join(at('nowhere'), 'keys.json')).create({ label: 'anna' });
    let proxy: TestProxy | undefined;
    try {
      await whileAway(t.server, async () => {
        proxy = await startTestProxy({ env: { SVC_DB: url } });
        assert.is(await ask(proxy, anna.key), 401);
      });
      await answers([proxy!], anna.key, 200);
    } finally {
      await proxy?.close();
    }
  },
);

tests.run();
