/** For the test that kills indexers: indexes the folder given first into the vault given second, again and again. */
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../engine/clock.ts';
import { indexFolder } from './indexer.ts';

const [root, indexDir] = process.argv.slice(2);
if (root === undefined || indexDir === undefined) throw new Error('Two folders are needed');
const options = { root, indexDir, clock: systemClock, newId: randomUUID, parseCode: false };
for (;;) await indexFolder({ ...options, workers: 1 });
