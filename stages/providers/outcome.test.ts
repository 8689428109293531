import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../engine/index.ts';
import { providerUnreachable, upstreamTimeout } from '../model/errors.ts';
import { isProviderFailure, outcomeOfFailure, outcomeOfStatus } from './outcome.ts';

test('statuses are attributed to the provider, the request or neither', () => {
  const cloudflareStatuses = Array.from({ length: 11 }, (_, at) => 520 + at);
  for (const status of [500, 502, 503, 504, ...cloudflareStatuses]) {
    assert.is(outcomeOfStatus(status), 'failed', String(status));
    assert.is(isProviderFailure(status), true);
  }
  for (const status of [200, 204, 304, 400, 401, 403, 404, 413, 422])
    assert.is(outcomeOfStatus(status), 'succeeded', String(status));
  for (const status of [402, 429, 501, 505, 519, 531]) {
    assert.is(outcomeOfStatus(status), 'abandoned', String(status));
    assert.is(isProviderFailure(status), false);
  }
});

test('a failure counts against the provider unless the run was cancelled or the fault is ours', () => {
  const { signal } = new AbortController();
  assert.is(outcomeOfFailure(providerUnreachable('connection refused'), signal), 'failed');
  assert.is(outcomeOfFailure(upstreamTimeout(), signal), 'failed');
  assert.is(outcomeOfFailure(new SvcError('internal', 'ours'), signal), 'abandoned');
  for (const code of ['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS']) {
    const cause = Object.assign(new Error(`connect ${code}`), { code });
    assert.is(outcomeOfFailure(providerUnreachable(code, cause), signal), 'abandoned', code);
  }
  assert.is(outcomeOfFailure(new TypeError('ours'), signal), 'abandoned');
  const aborted = AbortSignal.abort(new Error('client gone'));
  assert.is(outcomeOfFailure(providerUnreachable('reset'), aborted), 'abandoned');
});

test.run();
