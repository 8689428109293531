/**
 * Ten thousand turns under a hostile operator (`SVC_OPERATOR_TURNS`): no request is refused, no
 * thinking is dropped.
 */
import { test } from 'uvu';
import { closeClients } from '../../../fixtures/server/exchange.ts';
import { assertUnharmed, playHostileOperator } from '../../../fixtures/server/hostile-operator.ts';

const TURNS = Number(process.env['SVC_OPERATOR_TURNS'] ?? 10_000);
const SEED = Number(process.env['SVC_OPERATOR_SEED'] ?? 1);

test(`${TURNS} turns survive an operator who switches every setting, seed ${SEED}`, async () => {
  assertUnharmed(await playHostileOperator({ seed: SEED, turns: TURNS, restartEvery: 150 }), TURNS);
});

test.after(closeClients);
test.run();
