/** The faults of a provider, met by clients that speak chat; `SVC_FAULT_SEEDS` sets the seeds (1). */
import { test } from 'uvu';

import { closeClients } from '../../server/testing.ts';
import { testTable } from './fault-table-testing.ts';

testTable('chat', Number(process.env['SVC_FAULT_SEEDS'] ?? 1));

test.after(closeClients);
test.run();
