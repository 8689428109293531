/**
 * Clients that disconnect before the first byte of their response: this is not a failure of the provider.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPair, withSpare } from '../../../fixtures/forward/pair.ts';
import type { Pair } from '../../../fixtures/forward/pair.ts';
import {
  MESSAGE,
  closeClients,
  exchange,
  json,
  openResponse,
} from '../../../fixtures/server/exchange.ts';

const BODY = json(MESSAGE, { stream: true });
const GONE = 6;

type Json = Readonly<Record<string, unknown>>;

async function read(t: Pair, path: string): Promise<string> {
  return (await exchange(t.proxy.port, { path, method: 'GET' })).text;
}

/**
 * Sends a request and disconnects once the provider has it; resolves when both sides have noticed.
 */
async function leave(t: Pair): Promise<void> {
  const client = new AbortController();
  const arrived = t.upstream.nextRequest();
  const response = openResponse(t.proxy.port, { body: BODY, signal: client.signal });
  await arrived;
  client.abort();
  await response.then(
    () => assert.unreachable('it was answered'),
    () => undefined,
  );
}

test('requests abandoned by clients count as cancelled, and nowhere as failures', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    t.upstream.script(undefined, 'stall-before-head');
    for (let n = 1; n <= GONE; n += 1) {
      await leave(t);
      await t.rows(n);
    }
    for (const row of await t.rows(GONE))
      assert.equal([row.outcome, row.status, row.provider], ['cancelled', null, 'messages']);
    assert.is(t.spare.requests.length, 0);

    const { today } = JSON.parse(await read(t, '/stats')) as { today: Json };
    assert.equal([today['requests'], today['errors']], [GONE, 0]);
    const report = JSON.parse(await read(t, '/metrics/dashboard')) as { errors?: Json };
    assert.equal([report.errors?.['error_count'], report.errors?.['error_rate']], [0, 0]);
    const metrics = await read(t, '/metrics');
    assert.match(metrics, new RegExp(`^svc_cancelled_total ${GONE}$`, 'm'));
    assert.match(metrics, /^svc_errors_total(?:\{[^}]*\})? 0$/m);
    assert.not.match(metrics, /^svc_errors_total(?:\{[^}]*\})? [1-9]/m);
    const trace = JSON.parse(await read(t, '/trace/last')) as Json;
    assert.equal([trace['outcome'], trace['status']], ['cancelled', null]);
    assert.is(t.proxy.services.states.breakers().providers['messages']?.failures, 0);
  }));

test.after(closeClients);
test.run();
