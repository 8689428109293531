/** Ten thousand turns under a hostile operator: nobody is refused, and no thought is dropped. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { playHostileOperator } from '../../fixtures/server/hostile-operator.ts';

const TURNS = Number(process.env['SVC_OPERATOR_TURNS'] ?? 10000);
const SEED = Number(process.env['SVC_OPERATOR_SEED'] ?? 1);

test(`${TURNS} turns under somebody who switches everything, seed ${SEED}`, async () => {
  const report = await playHostileOperator({ seed: SEED, turns: TURNS, restartEvery: 150 });
  assert.equal(report.failures, []);
  assert.equal(report.provider.differences, []);
  assert.equal(report.provider.refused, []);
  assert.equal(report.provider.dropped, []);
  assert.ok(report.provider.matched > TURNS, `${report.provider.matched} thoughts came back`);
  assert.ok(report.smaller > TURNS / 10, `${report.smaller} requests went out smaller`);
  assert.ok(report.switched.size >= 6, [...report.switched].join(' '));
});

test.after(closeClients);
test.run();
