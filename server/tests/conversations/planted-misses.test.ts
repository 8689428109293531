/** Planted cache misses with known causes, a few of each kind. The full test has a thousand. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { closeClients } from '../../../fixtures/server/exchange.ts';
import { playPlantedMisses } from '../../../fixtures/server/planted-misses.ts';

const MISSES = 96;
const SEED = 1;

test(`finds the cause of ${MISSES} planted misses in twelve kinds, seed ${SEED}`, async () => {
  const { planted, right, hits, invented, wrong } = await playPlantedMisses({
    seed: SEED,
    misses: MISSES,
  });
  const all = Object.values(planted).reduce((sum, count) => sum + count, 0);
  assert.ok(
    Object.values(planted).every((count) => count > 0),
    'every kind',
  );
  const words = JSON.stringify(wrong.slice(0, 20), null, 1);
  assert.is(invented, 0, `${invented} causes invented on ${hits} hits: ${words}`);
  assert.ok(right >= 0.99 * all, `${right} of ${all} right: ${words}`);
});

test.after(closeClients);
test.run();
