import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { askWhilePruning } from '../../fixtures/server/pruning.ts';

/**
 * If the old rows were deleted in one transaction, not even the first new row could be stored
 * meanwhile.
 */
const MIN_STORED = 5;

test('requests are served and recorded while 100,000 old rows are deleted', async () => {
  const { stored, tookMs } = await askWhilePruning();
  assert.ok(stored > MIN_STORED, `only ${stored} rows were stored in ${tookMs} ms`);
});

test.after(closeClients);
test.run();
