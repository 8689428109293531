import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cleanLog } from './clean.ts';
import { reduceLog } from './reduce.ts';

const LIMIT_MS = 1500;

test('a megabyte on one line costs no more than a long log', () => {
  const context = {
    mode: 'hybrid',
    classification: { kind: 'log' },
    query: '',
    maxChars: 120,
    logBudgetTokens: 100,
  } as const;
  const startedMs = performance.now();
  for (const piece of ['a', 'error ', 'a/b.c:1 ', '\u001b[', '12 ', '= ']) {
    const line = piece.repeat(Math.ceil(1e6 / piece.length));
    cleanLog(line, context);
    reduceLog(line, context);
  }
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs < LIMIT_MS, `${Math.round(tookMs)} ms`);
});

test.run();
