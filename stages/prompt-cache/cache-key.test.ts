import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { takesPromptCacheKey } from './cache-key.ts';

test('a cache key is sent to the provider that documents it, not to one with a similar name', () => {
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
