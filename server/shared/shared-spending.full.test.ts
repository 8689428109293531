/** Spending limits of keys and projects, enforced jointly by two proxies through a real Redis. */
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/clock.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { until, withSteadyPair } from '../../fixtures/server/redis.ts';
import { openKeyStore } from '../auth/auth.ts';

/** A dollar per input token; output costs nothing. */
const PRICES = `providers:
  messages:
    pricing: { input_cost_per_1m_tokens: 1000000, output_cost_per_1m_tokens: 0 }
`;
const TURN = json({ ...MESSAGE, messages: [{ role: 'user', content: 'x'.repeat(360) }] });

const send = (t: TestProxy, headers: Readonly<Record<string, string>>) =>
  exchange(t.proxy.port, { headers, body: TURN });

const sum = (list: readonly number[]): number => list.reduce((all, one) => all + one, 0);

/** Returns the actual cost of each request at both proxies, in nano-dollars. */
async function costs(pair: readonly TestProxy[], requests: number): Promise<number[]> {
  const totalRequests = () => sum(pair.map((t) => t.proxy.services.window.totals().requests));
  await until('all rows are there', () => totalRequests() >= requests);
  const rows = await Promise.all(pair.map((t) => t.rows(0)));
  return rows.flat().map((row) => row.costNanoUsd ?? 0);
}

/** Waits until both proxies have settled their reservations and have sent them to Redis. */
async function settled(
  pair: readonly TestProxy[],
  ...of: readonly ['key' | 'project', string, 'day' | 'month']
): Promise<void> {
  const isHeld = (t: TestProxy) => t.proxy.services.spending.accountOf(...of).held > 0;
  await until('nothing is held', () => {
    for (const t of pair) t.proxy.services.deferredWork.flush();
    return !pair.some(isHeld);
  });
  // Each proxy uses one connection, which keeps the order of commands.
  for (const t of pair)
    await t.proxy.services.shared!.link.ask((redis) => redis.run(NOTHING, [], []));
}

const NOTHING = { lua: 'return 1' };

/** Returns the estimated and actual cost of one request in dollars, from a 402 and a row. */
async function measure(t: TestProxy): Promise<{ estimate: number; cost: number }> {
  const { text } = await send(t, { 'x-svc-project': 'poor' });
  const estimate = Number(/estimated at \$([\d.]+)/.exec(text)?.[1]);
  assert.is((await send(t, {})).status, 200);
  const rows = await t.rows(2);
  return { estimate, cost: rows.at(-1)!.costNanoUsd! / 1e9 };
}

const limited = (limits: string): string =>
  `${PRICES}budget: { enabled: true, projects: { poor: { per_day_usd: 0 }, ${limits} } }\n`;

/**
 * Returns the headers that name the owner at each proxy; a key is created at both, with the limit.
 */
async function ownersAt(
  pair: readonly TestProxy[],
  owner: 'key' | 'project',
  limitUsd: number,
): Promise<readonly Readonly<Record<string, string>>[]> {
  if (owner === 'project') {
    for (const t of pair) {
      t.configure(limited(`shop: { per_day_usd: ${limitUsd} }`));
      await t.proxy.reload();
    }
    return pair.map(() => ({ 'x-svc-project': 'shop' }));
  }
  return pair.map((t) => {
    const file = join(dirname(t.db), 'keys.json');
    const store = openKeyStore({ file, clock: systemClock, random: randomBytes });
    const { key } = store.create({ label: 'shop', perDayUsd: limitUsd });
    return { 'x-forwarded-for': '10.1.2.3', 'x-svc-key': key };
  });
}

for (const owner of ['project', 'key'] as const)
  test(`two hundred concurrent requests spend the rest of a ${owner} budget within 1 %, and no more`, () =>
    withSteadyPair({ yaml: limited('any: { per_day_usd: 1 }') }, async (one, other) => {
      const { estimate, cost } = await measure(one);
      assert.ok(cost > 0 && cost <= estimate, `${cost} of ${estimate}`);
      const limit = estimate * 150;
      const pair = [one, other] as const;
      const headers = await ownersAt(pair, owner, limit);
      const sendTo = (n: number) => send(pair[n % 2]!, headers[n % 2]!);
      let passed = 0;
      // A key made now is known within a second of use.
      for (const at of [0, 1]) {
        let { status } = await sendTo(at);
        const untilMs = Date.now() + 60_000;
        while (status === 401 && Date.now() < untilMs) ({ status } = await sendTo(at));
        assert.is(status, 200);
        passed += 1;
      }
      const count = () => sum(pair.map((t) => t.proxy.services.window.totals().requests));
      const before = count();
      const responses = await Promise.all(Array.from({ length: 200 }, (_, n) => sendTo(n)));
      const statuses = responses.map(({ status }) => status);
      assert.ok(
        statuses.every((status) => status === 200 || status === 402),
        statuses.join(),
      );
      passed += statuses.filter((status) => status === 200).length;
      assert.ok(passed >= 150, `${passed} of at least 150 passed`);
      await costs(pair, before + 200);
      // Reservations are released: either proxy can spend the rest, down to the last request that
      // fits.
      let more = 0;
      while ((await sendTo(more)).status === 200) more += 1;
      await costs(pair, before + 200 + more + 1);
      const rows = (await Promise.all([one.rows(0), other.rows(0)])).flat();
      const own = rows.filter((row) => (owner === 'key' ? row.keyLabel : row.project) === 'shop');
      const spent = sum(own.map((row) => row.costNanoUsd ?? 0));
      assert.is(spent, (passed + more) * Math.round(cost * 1e9), 'each job is charged once');
      const left = limit - spent / 1e9;
      assert.ok(left >= 0 && left < limit / 100, `${left} left of ${limit}`);
      await settled(pair, owner, 'shop', 'day');
      const used = pair.map((t) => t.proxy.services.spending.accountOf(owner, 'shop', 'day'));
      assert.equal(
        used.map(({ held }) => held),
        [0, 0],
      );
    }));

test('keys with the same label share one budget, whichever proxy created them', () =>
  withSteadyPair({ yaml: limited('any: { per_day_usd: 1 }') }, async (one, other) => {
    const { estimate, cost } = await measure(one);
    const keys = [one, other].map((t) => {
      const file = join(dirname(t.db), 'keys.json');
      const store = openKeyStore({ file, clock: systemClock, random: randomBytes });
      return store.create({ label: 'anna', perMonthUsd: estimate + cost * 3.5 }).key;
    });
    const ask = async (at: number) => {
      const t = at % 2 === 0 ? one : other;
      const headers = { 'x-forwarded-for': '10.1.2.3', 'x-svc-key': keys[at % 2]! };
      let response = await send(t, headers);
      // A key made now is known within a second of use.
      const untilMs = Date.now() + 60_000;
      while (response.status === 401 && Date.now() < untilMs) response = await send(t, headers);
      return response;
    };
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      statuses.push((await ask(n)).status);
      await settled([one, other], 'key', 'anna', 'month');
    }
    assert.equal(statuses, [200, 200, 200, 200, 402, 402]);
    assert.match((await ask(1)).text, "per month of the key 'anna' reached");
  }));

for (const how of ['gone', 'silent'])
  test(`while Redis is ${how} each proxy counts alone, and afterwards both know the spending`, () =>
    withSteadyPair({ yaml: limited('any: { per_day_usd: 1 }') }, async (one, other, redis) => {
      const { estimate, cost } = await measure(one);
      for (const t of [one, other]) {
        t.configure(limited(`shop: { per_day_usd: ${estimate + cost * 2.5} }`));
        await t.proxy.reload();
      }
      const shop = { 'x-svc-project': 'shop' };
      assert.is((await send(one, shop)).status, 200);
      await settled([one, other], 'project', 'shop', 'day');
      if (how === 'gone') await redis.kill();
      else redis.freeze();
      assert.is((await send(other, shop)).status, 200);
      assert.is((await send(one, shop)).status, 200);
      if (how === 'gone') await redis.restart();
      else redis.thaw();
      const isUp = (t: TestProxy) => t.proxy.services.shared?.link.isUp === true;
      await until('both are back', () => isUp(one) && isUp(other));
      await settled([one, other], 'project', 'shop', 'day');
      // Each proxy reports its spending with its next request: one spent twice, the other once,
      // both before and without Redis.
      assert.is((await send(one, shop)).status, 200);
      await settled([one, other], 'project', 'shop', 'day');
      assert.is((await send(other, shop)).status, 402);
      assert.is((await send(one, shop)).status, 402);
    }));

test.after(closeClients);
test.run();
