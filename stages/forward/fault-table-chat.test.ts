/** Provider faults as seen by chat clients; `SVC_FAULT_SEEDS` sets the number of seeds (1). */
import { test } from 'uvu';

import { closeClients } from '../../fixtures/server/exchange.ts';
import { testTable } from '../../fixtures/forward/fault-table.ts';

testTable('chat', Number(process.env['SVC_FAULT_SEEDS'] ?? 1));

test.after(closeClients);
test.run();
