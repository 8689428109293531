/**
 * A thousand planted cache misses of twelve kinds: at least 99 of 100 causes are right, and a
 * thousand hits get none.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { closeClients } from '../../../fixtures/server/exchange.ts';
import { playPlantedMisses } from '../../../fixtures/server/planted-misses.ts';

const MISSES = Number(process.env['SVC_PLANTED_MISSES'] ?? 1000);
const SEED = Number(process.env['SVC_PLANTED_SEED'] ?? 2);

test(`finds the cause of ${MISSES} planted misses, seed ${SEED}`, async () => {
  const { planted, right, hits, invented, wrong } = await playPlantedMisses({
    seed: SEED,
    misses: MISSES,
  });
  const all = Object.values(planted).reduce((sum, count) => sum + count, 0);
  const words = JSON.stringify(wrong.slice(0, 20), null, 1);
  assert.ok(hits >= MISSES, `${hits} hits`);
  assert.is(invented, 0, `${invented} causes invented: ${words}`);
  assert.ok(right >= 0.99 * all, `${right} of ${all} right: ${words}`);
});

test.after(closeClients);
test.run();
