import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { factsOf } from './model-facts.ts';

test('knows the minimum cacheable length of each model, whatever provider sells it', () => {
  const min: Readonly<Record<string, number | undefined>> = {
    'claude-sonnet-4-5-20250929': 1024,
    'claude-sonnet-4-20250514': 1024,
    'claude-sonnet-4@20250514': 1024,
    'anthropic/claude-sonnet-4.6': 1024,
    'us.anthropic.claude-opus-4-1-20250805-v1:0': 1024,
    'claude-opus-4-5': 4096,
    'claude-opus-4-6[1m]': 4096,
    'claude-opus-4-8': 1024,
    'claude-haiku-4-5-20251001': 4096,
    'claude-3-5-haiku-20241022': 2048,
    'claude-3-haiku-20240307': 2048,
    'claude-3-7-sonnet-latest': 1024,
    'claude-3-opus-20240229': 1024,
    'claude-unheard-7': 4096,
    'claude-2.1': undefined,
    'claude-instant-1.2': undefined,
    'gpt-5': 1024,
    'claude-opus-4-7': 2048,
    'claude-opus-5': 512,
    'claude-fable-5-1': 512,
    'glm-4.6': undefined,
  };
  const found = Object.fromEntries(
    Object.keys(min).map((name) => [name, factsOf(name).minCachedTokens]),
  );
  assert.equal(found, min);
});

test('uses the documented maximum output for a request without a limit', () => {
  const max: Readonly<Record<string, number>> = {
    'claude-3-opus-20240229': 4096,
    'claude-3-haiku-20240307': 4096,
    'anthropic/claude-3-5-sonnet-20241022': 8192,
    'claude-3-7-sonnet-latest': 64_000,
    'claude-sonnet-4-20250514': 64_000,
    'claude-sonnet-4-5-20250929': 64_000,
    'claude-haiku-4-5': 64_000,
    'claude-opus-4-20250514': 32_000,
    'claude-opus-4-1-20250805': 32_000,
    'claude-opus-4-0': 32_000,
    'claude-opus-4-5-20251101': 64_000,
    'claude-opus-4-8': 128_000,
    'gpt-3.5-turbo': 4096,
    'gpt-4': 8192,
    'gpt-4-turbo': 4096,
    'gpt-4o-mini': 16_384,
    'gpt-4.1-nano': 32_768,
    'o3-mini': 100_000,
    'gpt-5.1-codex': 128_000,
    'gpt-6.2-sol': 128_000,
    'gemini-1.5-pro': 8192,
    'gemini-2.0-flash': 8192,
    'gemini-2.5-pro': 65_536,
    'gemini-3-pro-preview': 65_536,
    'llama-of-mine': 128_000,
  };
  for (const [model, tokens] of Object.entries(max))
    assert.is(factsOf(model).maxOutputTokens, tokens, model);
  assert.is(factsOf(undefined).maxOutputTokens, 128_000);
});

test('gives the source of every row, and the differences between newer models', () => {
  const facts = (model: string) => {
    const { readPrice, thinking, lifetime, minCachedTokens } = factsOf(model);
    return [minCachedTokens, readPrice, thinking, lifetime];
  };
  assert.equal(facts('claude-opus-5-5'), [512, 0.05, 'prefix', '5m']);
  assert.equal(facts('claude-sonnet-5-5'), [1024, 0.05, 'account', '5m']);
  assert.equal(facts('claude-fable-5-2'), [512, 0.025, 'prefix', '5m']);
  assert.equal(facts('claude-opus-5'), [512, 0.1, 'none', '5m']);
  assert.equal(facts('gpt-6.2-sol'), [1024, 0.05, 'account', '30m']);
  assert.equal(facts('gpt-5.1-codex'), [1024, 0.1, 'none', '5m']);
  for (const model of ['claude-opus-5-5', 'gpt-5', 'gemini-3-pro', 'claude-unheard-7', 'llama'])
    assert.match(factsOf(model).source, /20\d\d-\d\d|^none: /);
});

test.run();
