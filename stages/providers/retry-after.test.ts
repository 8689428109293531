import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  MAX_RETRY_AFTER_MS,
  MIN_RETRY_AFTER_MS,
  parseRetryAfter,
  retryAfterMs,
} from './retry-after.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);

test('seconds and the three forms of an HTTP date are read', () => {
  assert.is(parseRetryAfter('30', NOW), 30_000);
  assert.is(parseRetryAfter(' 2.5 ', NOW), 2_500);
  assert.is(parseRetryAfter('Fri, 20 Nov 2026 12:01:30 GMT', NOW), 90_000);
  assert.is(parseRetryAfter('Friday, 20-Nov-26 12:01:30 GMT', NOW), 90_000);
  assert.is(parseRetryAfter('Fri Nov 20 12:01:30 2026', NOW), 90_000);
});

test('a value that is neither seconds nor a date is not a wait', () => {
  for (const junk of ['', 'soon', '-5', '1e3', '0x10', '10s', '2026-11-20', 'Fri, 40 Foo 2026']) {
    assert.is(parseRetryAfter(junk, NOW), undefined, junk);
  }
  assert.is(parseRetryAfter('Fri, 20 Foo 2026 12:00:00 GMT', NOW), undefined);
});

test('a wait is at least a second and at most ten minutes', () => {
  assert.is(parseRetryAfter('0', NOW), MIN_RETRY_AFTER_MS);
  assert.is(parseRetryAfter('86400', NOW), MAX_RETRY_AFTER_MS);
  assert.is(parseRetryAfter('9'.repeat(400), NOW), MAX_RETRY_AFTER_MS);
  assert.is(parseRetryAfter('Fri, 20 Nov 2020 12:00:00 GMT', NOW), MIN_RETRY_AFTER_MS);
  assert.is(parseRetryAfter('Fri, 20 Nov 2099 12:00:00 GMT', NOW), MAX_RETRY_AFTER_MS);
  fc.assert(
    fc.property(fc.string(), (text) => {
      const ms = parseRetryAfter(text, NOW);
      assert.ok(ms === undefined || (ms >= MIN_RETRY_AFTER_MS && ms <= MAX_RETRY_AFTER_MS));
    }),
  );
});

test('the header in milliseconds takes precedence as the more exact one', () => {
  assert.is(retryAfterMs(['Retry-After', '7'], NOW), 7_000);
  assert.is(retryAfterMs(['Retry-After', '7', 'retry-after-ms', '6200'], NOW), 6_200);
  assert.is(retryAfterMs(['Retry-After', '7', 'retry-after-ms', 'x'], NOW), 7_000);
  assert.is(retryAfterMs(['content-type', 'a/b'], NOW), undefined);
});

test.run();
