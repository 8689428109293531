/**
 * The ledger's guarantee: a row recorded long enough before `kill -9` is in the file. The guarantee
 * is 100 ms; this test allows ten times that, so that a busy machine does not break it, and `npm
 * run bench:limits` checks the 100 ms. `SVC_KILL_ROUNDS` sets the rounds (5).
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { killRounds } from '../../../fixtures/ledger/kill-rounds.ts';

const ROUNDS = Number(process.env['SVC_KILL_ROUNDS'] ?? 5);
const ACKNOWLEDGED_MS = 1000;

async function expectKept(rounds: number, children: number): Promise<void> {
  const { acknowledged, lost } = await killRounds({
    rounds,
    children,
    acknowledgedMs: ACKNOWLEDGED_MS,
  });
  assert.equal(lost, [], 'acknowledged rows were lost');
  assert.ok(acknowledged > rounds * 10, `only ${acknowledged} rows were acknowledged`);
}

test(`${ROUNDS} kills under load lose, repeat or invent no acknowledged row`, () =>
  expectKept(ROUNDS, 1));

test('kills of two proxies that share a ledger lose, repeat or invent no acknowledged row', () =>
  expectKept(Math.ceil(ROUNDS / 3), 2));

test.run();
