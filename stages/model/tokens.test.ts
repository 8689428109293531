import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadTokenCounter, tokenizerFamily } from './count-tokens.ts';
import { costsAtLeast, estimateRange, estimateTokens } from './tokens.ts';

test('keeps the estimate constant, because it decides which bytes are sent', () => {
  assert.is(estimateTokens(''), 0);
  assert.is(estimateTokens('a'), 1);
  assert.is(estimateTokens('The quick brown fox jumps over the lazy dog.'), 10);
  assert.is(estimateTokens('{"id": 1234, "name": "svc"}'), 11);
  assert.is(estimateTokens('if (a) {\n    return 12;\n}\n'), 10);
});

test('estimates a range like its slice', () => {
  const text = 'alpha beta, 12 gamma\n  delta';
  assert.is(estimateRange(text, 6, 20), estimateTokens(text.slice(6, 20)));
});

test('counts control tokens as text, and differs little from the estimate', async () => {
  const text = 'Whole lines are dropped, never words inside a line. '.repeat(40);
  for (const family of ['o200k', 'claude'] as const) {
    const count = await loadTokenCounter(family);
    for (const token of ['<|endoftext|>', '<EOT>', '<META_START>', '<|endofprompt|>'])
      assert.ok(count(`a ${token} b`) > 2, `${family}: ${token}`);
    const ratio = estimateTokens(text) / count(text);
    assert.ok(ratio > 0.8 && ratio < 1.25, `${family}: ${ratio}`);
  }
  assert.is(tokenizerFamily('claude-sonnet-4-5'), 'claude');
  assert.is(tokenizerFamily('gpt-5.6'), 'o200k');
});

test('counts a very long word in proportion to its length, without splitting surrogate pairs', async () => {
  for (const family of ['o200k', 'claude'] as const) {
    const count = await loadTokenCounter(family);
    for (const word of ['a', ' ', '-', '\u{1f600}', '\u4e2d']) {
      const one = count(word.repeat(256));
      const many = count(word.repeat(25_000));
      assert.ok(many >= 45 * one && many <= 110 * one + 100, `${family} ${word}: ${one} ${many}`);
    }
    const text = 'Words of a usual length, some 12345 figures, and `code()`. '.repeat(50);
    const word = 'x'.repeat(300);
    // The word is merged with the space before it, which changes how its letters pair.
    const difference = count(text + word) - count(text) - count(word);
    assert.ok(Math.abs(difference) <= 5, `${family}: ${difference}`);
  }
});

test('compares a text with a token limit as its full estimate would', () => {
  for (const text of [
    '',
    'a',
    'one two 3',
    '1',
    '1.'.repeat(500),
    ' '.repeat(5000),
    'ab1, '.repeat(9000),
    '\r'.repeat(1e5),
  ]) {
    const tokens = estimateTokens(text);
    for (const limit of [0, 1, tokens - 1, tokens, tokens + 1, tokens * 2 + 9])
      assert.is(costsAtLeast(text, limit), tokens >= limit, `${text.slice(0, 9)} ${limit}`);
  }
});

test.run();
