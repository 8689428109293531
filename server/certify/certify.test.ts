/** The checks behind a certificate, and a case that fails each of them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import { systemClock } from '../../engine/index.ts';
import { createPrices } from '../../stages/ledger/prices/prices.ts';
import { totalInputTokens } from '../../stages/model/usage.ts';
import { LOG, claudeCodeLines } from '../../fixtures/sessions.ts';
import { readSessionText } from '../sessions/read-file.ts';
import { boundsOf } from './bootstrap.ts';
import { certify } from './certify.ts';
import { failureLines } from './failures.ts';
import { normalizedLine, isSameJson } from './lines.ts';
import { checkConversation } from './session.ts';

const SETTINGS = {
  longResultsTokens: 10_000,
  mode: 'hybrid',
  maxChars: 120,
  thresholdTokens: 100,
  logBudgetTokens: 3500,
} as const;

test('detects a prefix that changes from turn to turn, or after a restart', async () => {
  const conversation = readSessionText(claudeCodeLines().join('\n'))!.conversations[0]!;
  const real = createConversationCompressor(100);
  const count = (text: string): number => text.length;
  const check = (compressor: Pick<typeof real, 'compress' | 'compressUncached'>) =>
    checkConversation(conversation, { compressor, settings: SETTINGS, count });
  const kept = await check(real);
  assert.equal(kept.broken, []);
  assert.ok(kept.changedBlocks > 0 && kept.fromNothing >= 2);
  assert.ok(kept.claimedTokens > 0 && kept.recountedTokens > 0);

  let turn = 0;
  const shifting = await check({
    compressUncached: (...job) => real.compressUncached(...job),
    async compress(job) {
      turn += 1;
      const outcomes = await real.compress(job);
      return outcomes.map((outcome) =>
        outcome.changed ? { ...outcome, text: `${outcome.text} ${turn}` } : outcome,
      );
    },
  });
  const broken = shifting.broken.map(({ check: name, line }) => `${name}: ${line}`);
  assert.ok(
    broken.includes('prefix: went out with other bytes than in the turn before'),
    broken.join(),
  );
  assert.ok(
    broken.includes('prefix: went out with other bytes than after a restart'),
    broken.join(),
  );
});

test('a claim above the recount and a session that cost more each fail their own check', async () => {
  const conversation = readSessionText(claudeCodeLines().join('\n'))!.conversations[0]!;
  const uncounted = {
    ...conversation,
    requests: conversation.requests.map((request) => ({ ...request, usage: null })),
  };
  const prices = createPrices();
  const broken = async (how: { tokenRatio?: number; prices?: typeof prices }) => {
    const { checks } = await certify({
      conversations: [uncounted],
      folders: [],
      options: SETTINGS,
      clock: systemClock,
      maxTimeMs: 600_000,
      prices: how.prices ?? prices,
      tokenRatio: () => how.tokenRatio ?? 1,
    });
    return checks.filter(({ holds }) => !holds).map(({ name }) => name);
  };
  assert.equal(await broken({}), []);
  assert.equal(await broken({ tokenRatio: 2 }), ['honesty']);
  // With prices that rise as input shrinks, the compressed request costs more.
  const inverse = {
    ...prices,
    costNanoUsd: (...[, , usage]: Parameters<typeof prices.costNanoUsd>) =>
      1e9 - (totalInputTokens(usage) ?? 0),
  };
  assert.equal(await broken({ prices: inverse }), ['cost']);
});

test('lines are compared without numbers, whitespace and colours, and short lines are ignored', () => {
  assert.is(normalizedLine('    12→  const answer = 42;'), 'const answer = 42;');
  assert.is(normalizedLine('  \u001b[31mconst answer = 42;\u001b[0m '), 'const answer = 42;');
  assert.is(normalizedLine('  }'), undefined);
  assert.ok(isSameJson('{ "a": [1, 2] }', '{"a":[1,2]}'));
  assert.not(isSameJson('{ "a": [1, 2] }', '{"a":[1]}'));
});

test('finds failed tests, errors, exit statuses and the last line, but nothing in a successful run', () => {
  const text = [
    'collected 3 items',
    'FAILED tests/test_a.py::test_one - AssertionError',
    '\u001b[31mTypeError: x is no function\u001b[0m',
    'Process exited with code 3',
    'took 2 s',
    '',
  ].join('\n');
  assert.equal(
    failureLines(text).map(({ kind, line }) => [kind, line]),
    [
      ['test', 'FAILED tests/test_a.py::test_one - AssertionError'],
      ['error', 'TypeError: x is no function'],
      ['exit', 'Process exited with code 3'],
      ['last', 'took 2 s'],
    ],
  );
  assert.equal(failureLines(LOG), []);
});

test('the bounds enclose the median, and the same values always give the same bounds', () => {
  assert.is(boundsOf([]), null);
  assert.equal(boundsOf([0.9]), { median: 0.9, from: 0.9, to: 0.9 });
  const values = Array.from({ length: 40 }, (_, n) => n / 40);
  const bounds = boundsOf(values)!;
  assert.ok(bounds.from < bounds.median && bounds.median < bounds.to);
  assert.equal(boundsOf(values), bounds);
});

test.run();
