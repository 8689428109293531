import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { leastCachedTokens, takesPromptCacheKey } from './known-models.ts';

test('each model has its minimum, whoever sells it', () => {
  const least: Readonly<Record<string, number | undefined>> = {
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
    'gpt-5': undefined,
    'glm-4.6': undefined,
  };
  const found = Object.fromEntries(
    Object.keys(least).map((name) => [name, leastCachedTokens(name)]),
  );
  assert.equal(found, least);
});

test('a key goes to the provider that documents it, and to no other by a similar name', () => {
  const origins = ['https://api.openai.com', 'https://eu.api.openai.com'];
  const others = [
    'http://api.openai.com',
    'https://api.openai.com.example',
    'https://x.openai.azure.com',
    'http://127.0.0.1:1',
  ];
  assert.ok(origins.every(takesPromptCacheKey));
  assert.not(others.some(takesPromptCacheKey));
});

test.run();
