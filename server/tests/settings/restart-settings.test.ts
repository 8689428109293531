/**
 * A setting that takes effect only after a restart does not change what is reported of the running
 * proxy.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

test('after a reload that names another ledger, figures are still those of the open one', () =>
  withProxy({}, async (t) => {
    const read = async (path: string) => {
      const { status, text } = await exchange(t.proxy.port, { path, method: 'GET' });
      assert.is(status, 200, text);
      return JSON.parse(text) as Readonly<Record<string, unknown>>;
    };
    const { ledger } = await read('/ledger/sums');
    assert.type(ledger, 'string');
    for (const db of ['elsewhere.db', 'postgres://u@127.0.0.1:1/nowhere']) {
      t.configure(`ledger: { db: "${db}" }\n`);
      await t.proxy.reload();
      assert.is((await read('/ledger/sums'))['ledger'], ledger, db);
      assert.is('today_of_node' in (await read('/stats')), false, db);
    }
  }));

test.after(closeClients);
test.run();
