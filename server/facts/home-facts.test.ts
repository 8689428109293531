import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { stored } from '../../fixtures/ledger/temp-ledger.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

interface Health {
  readonly status: string;
  readonly reasons: readonly string[];
}

/** Longer than a `/health` response is cached, even on a busy machine. */
const TIMEOUT_MS = 120_000;
/** How often a folder is deleted until it is missed before it is back. */
const MAX_ATTEMPTS = 20;

/**
 * Returns the first `/health` response that satisfies `wanted`, or the last one read before the
 * deadline.
 */
async function healthUntil(port: number, isExpected: (health: Health) => boolean): Promise<Health> {
  const untilMs = Date.now() + TIMEOUT_MS;
  for (;;) {
    const { text } = await exchange(port, { path: '/health', method: 'GET' });
    const health = JSON.parse(text) as Health;
    if (isExpected(health) || Date.now() > untilMs) return health;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const isDegraded = ({ status }: Health): boolean => status === 'degraded';
const isOk = ({ status }: Health): boolean => status === 'ok';

test('/health reports that the home folder and the ledger are gone, and that they are back', () =>
  withProxy({}, async ({ proxy, db }) => {
    const home = dirname(db);
    const whole = [
      `home: the folder ${home} is gone, with all that svc kept in it`,
      `ledger: the file ${db} is gone; the next request begins a new one`,
    ];
    let reasons: readonly string[] = [];
    // The ledger's thread makes both again every few seconds, perhaps before they are missed.
    for (
      let attempts = 0;
      reasons.length < whole.length && attempts < MAX_ATTEMPTS;
      attempts += 1
    ) {
      assert.equal((await healthUntil(proxy.port, isOk)).reasons, []);
      rmSync(home, { recursive: true });
      ({ reasons } = await healthUntil(proxy.port, isDegraded));
    }
    assert.equal(reasons, whole);
    const response = await exchange(proxy.port, { body: json(MESSAGE) });
    assert.is(response.status, 200);
    await proxy.services.ledgerFile.flush();
    assert.equal((await healthUntil(proxy.port, isOk)).reasons, []);
    assert.is((await stored(db)).length, 1);
  }));

test('/health reports that the ledger was replaced by another file', () =>
  withProxy({}, async ({ proxy, db }) => {
    await healthUntil(proxy.port, isOk);
    renameSync(db, `${db}.moved`);
    writeFileSync(db, '', { mode: 0o600 });
    assert.equal((await healthUntil(proxy.port, isDegraded)).reasons, [
      `ledger: the file ${db} was replaced by another; the next request goes there`,
    ]);
    rmSync(db);
    renameSync(`${db}.moved`, db);
    assert.equal((await healthUntil(proxy.port, isOk)).reasons, []);
  }));

test('/health reports that the home folder cannot be read', () =>
  withProxy({}, async ({ proxy, db }) => {
    const home = dirname(db);
    await healthUntil(proxy.port, isOk);
    renameSync(home, `${home}.moved`);
    writeFileSync(home, 'a file where the folder was');
    const { reasons } = await healthUntil(proxy.port, isDegraded);
    assert.is(reasons[0], `home: ${home} is not a folder any more`);
    rmSync(home);
    renameSync(`${home}.moved`, home);
    assert.equal((await healthUntil(proxy.port, isOk)).reasons, []);
    mkdirSync(home, { recursive: true });
  }));

test.after(closeClients);
test.run();
