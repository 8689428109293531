/** Which side is at fault when there is no response. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCanceller, createTurn, isSvcError } from '../../engine/index.ts';
import { outcomeOfFailure } from './outcome.ts';
import { createAgent, createUpstream } from './undici-upstream.ts';
import type { UpstreamRequest } from './upstream.ts';

const { signal } = createCanceller();
const REQUEST: UpstreamRequest = {
  // Nothing listens on this port.
  origin: 'http://127.0.0.1:9',
  path: '/v1/messages',
  method: 'POST',
  headers: [],
  body: Buffer.from('{}'),
  headTimeoutMs: 5000,
  idleTimeoutMs: 5000,
  signal,
};

const CASES: readonly (readonly [name: string, more: Partial<UpstreamRequest>, kind: string])[] = [
  ['a path with a space', { path: '/v1/ messages' }, 'bad_request'],
  ['a path with a line break', { path: '/v1/\r\nx: y' }, 'bad_request'],
  ['a path beyond Latin', { path: '/v1/東' }, 'bad_request'],
  ['a path without a slash', { path: 'v1' }, 'bad_request'],
  ['a method with a space', { method: 'PO ST' }, 'bad_request'],
  ['a field with a line break', { headers: ['x', 'a\r\nb: c'] }, 'bad_request'],
  ['a field without a name', { headers: ['', 'a'] }, 'bad_request'],
  ['a field that is ours', { headers: ['expect', '100-continue'] }, 'bad_request'],
  ['a length that is wrong', { headers: ['content-length', 'x'] }, 'bad_request'],
  ['an origin that is none', { origin: 'nowhere' }, 'internal'],
  ['nobody there', {}, 'bad_gateway'],
];

test('a request that cannot be sent does not count as a failure of the provider', async () => {
  const upstream = createUpstream(createAgent(), createTurn());
  for (const [name, more, kind] of CASES) {
    const error: unknown = await upstream.send({ ...REQUEST, ...more }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.is(isSvcError(error) ? error.kind : error, kind, name);
    const outcome = kind === 'bad_gateway' ? 'failed' : 'abandoned';
    assert.is(outcomeOfFailure(error, signal), outcome, name);
  }
  await upstream.close();
  const late: unknown = await upstream.send(REQUEST).catch((thrown: unknown) => thrown);
  assert.is(isSvcError(late) && late.kind, 'unavailable');
});

test.run();
