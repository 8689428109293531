/** Provider faults as seen by messages clients; `SVC_FAULT_SEEDS` sets the number of seeds (1). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { testTable } from '../../fixtures/forward/fault-table.ts';
import { missingScenarios } from '../../fixtures/forward/faults.ts';

testTable('messages', Number(process.env['SVC_FAULT_SEEDS'] ?? 1));

test('the table has every scenario', () => assert.equal(missingScenarios(), []));

test.after(closeClients);
test.run();
