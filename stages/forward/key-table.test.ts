/**
 * The use of configured keys, in both dialects, as a document and as a stream, with no other
 * provider, one of the same kind and one of another kind: a rate-limited or refused key cools down,
 * the next key is used, and another provider only if all keys are cooling down.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ScenarioName, ScenarioOptions } from '../../fixtures/upstream.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import type { FullResponse } from '../../fixtures/server/exchange.ts';
import {
  PATHS,
  bodyOf,
  direct,
  expectComplete,
  textBy,
  traceOf,
  withPair,
  withSpare,
} from '../../fixtures/forward/pair.ts';
import type { Pair, PairDialect } from '../../fixtures/forward/pair.ts';

interface KeyFault {
  readonly scenario: ScenarioName;
  readonly options?: ScenarioOptions;
  readonly status: 429 | 401;
  /** Length of the key's cooldown. */
  readonly cooldownS: number;
}

const FAULTS: readonly KeyFault[] = [
  { scenario: '429', status: 429, cooldownS: 60 },
  { scenario: '429-seconds', options: { retryAfter: '30' }, status: 429, cooldownS: 30 },
  {
    scenario: '429-date',
    options: { retryAfter: 'Wed, 21 Oct 2037 07:28:00 GMT' },
    status: 429,
    cooldownS: 600,
  },
  { scenario: '429-huge', status: 429, cooldownS: 600 },
  { scenario: '429-nonsense', status: 429, cooldownS: 60 },
  { scenario: '401', status: 401, cooldownS: 300 },
];
/** Time that a busy machine may take between the response and the check of the key. */
const SLACK_S = 28;

const KEYS = `
providers:
  messages: { oauth_token: key-two }
  chat: { oauth_token: key-two }`;
/** Keys in the environment, which take precedence. */
const FIRST = { MSGPROV_API_KEY: 'key-one', CHATPROV_API_KEY: 'key-one' };

interface Round {
  readonly t: Pair;
  readonly name: string;
  readonly fault: KeyFault;
  readonly dialect: PairDialect;
  readonly stream: boolean;
  readonly spare: PairDialect | undefined;
}

const usesKey = (request: { readonly headerBytes: Buffer }, key: string): boolean =>
  request.headerBytes.includes(key);

function send({ t, dialect, stream }: Round): Promise<FullResponse> {
  return exchange(t.proxy.port, { path: PATHS[dialect], body: bodyOf(dialect, stream) });
}

/** Checks for exactly the response of the provider, or of the spare. */
async function expectAnswer(
  round: Round,
  response: FullResponse,
  from: 'upstream' | 'spare',
): Promise<void> {
  const { t, name, dialect, stream, spare } = round;
  const original = await direct(t[from], { path: PATHS[dialect], body: bodyOf(dialect, stream) });
  assert.is(response.status, 200, name);
  assert.ok(response.whole, name);
  const isTranslated = from === 'spare' && spare !== dialect;
  if (!isTranslated) assert.ok(response.body.equals(original.body), `${name}: bytes`);
  assert.is(textBy(dialect, stream, response.text), textBy(dialect, stream, original.text), name);
  if (stream) expectComplete(dialect, response.text, name);
}

function expectCooldown({ t, dialect, fault, name }: Round, index: number): void {
  const key = t.proxy.services.states.get(dialect)!.keys.view()[index]!;
  assert.is(key.state, fault.status === 429 ? 'limited' : 'refused', name);
  const isInTime =
    key.waitMs <= fault.cooldownS * 1000 && key.waitMs > (fault.cooldownS - SLACK_S) * 1000;
  assert.ok(isInTime, `${name}: cooldown of ${key.waitMs} ms`);
}

/**
 * The first key is rejected: the second is used, and only the second while the first is cooling
 * down.
 */
async function checkOneRejectedKey(round: Round): Promise<void> {
  const { t, fault, dialect, name } = round;
  const stop = t.upstream.script((sent) => usesKey(sent, 'key-one'), fault.scenario, fault.options);
  const before = t.upstream.requests.length;
  const response = await send(round);
  const { attempts } = await traceOf(t, response);
  assert.equal(
    attempts.map((each) => [each.provider, each.failure]),
    [
      [dialect, `status ${fault.status}`],
      [dialect, null],
    ],
    name,
  );
  expectCooldown(round, 0);
  const again = await send(round);
  stop();
  const keys = t.upstream.requests.slice(before).map((sent) => usesKey(sent, 'key-one'));
  assert.equal(keys, [true, false, false], `${name}: the first key is cooling down`);
  await expectAnswer(round, response, 'upstream');
  await expectAnswer(round, again, 'upstream');
}

/** Every key is rejected: the spare answers, and without one the client gets the reason. */
async function checkAllKeysRejected(round: Round): Promise<void> {
  const { t, fault, dialect, spare, name } = round;
  const stop = t.upstream.script(undefined, fault.scenario, fault.options);
  const before = t.upstream.requests.length;
  for (const expectedRejections of [2, 0]) {
    const response = await send(round);
    const requestsSent = t.upstream.requests.length - before;
    assert.is(requestsSent, 2, `${name}: each key once`);
    if (spare === undefined) expectRefusal(round, response);
    else await expectAnswer(round, response, 'spare');
    const { attempts } = await traceOf(t, response);
    const rejected = attempts.filter((each) => each.failure === `status ${fault.status}`);
    assert.is(rejected.length, expectedRejections, name);
    assert.is(attempts.at(-1)?.provider, spare === undefined ? dialect : 'spare', name);
  }
  stop();
  expectCooldown(round, 0);
  expectCooldown(round, 1);
}

function expectRefusal({ fault, name }: Round, response: FullResponse): void {
  const { error } = JSON.parse(response.text) as { error: { code?: string } };
  if (fault.status === 401) {
    assert.equal([response.status, error.code], [502, 'PROVIDER_001'], name);
    return;
  }
  assert.equal([response.status, error.code], [429, 'RATELIMIT_002'], name);
  const waitS = Number(response.headers['retry-after']);
  assert.ok(waitS <= fault.cooldownS && waitS > fault.cooldownS - SLACK_S, `${name}: ${waitS} s`);
}

for (const dialect of ['messages', 'chat'] as const) {
  for (const spare of [undefined, 'messages', 'chat'] as const) {
    test(`keys of a ${dialect} provider with ${spare === undefined ? 'no spare' : `a spare of ${spare}`}`, () =>
      withPair({ yaml: withSpare(spare, KEYS), env: FIRST }, async (t) => {
        for (const fault of FAULTS) {
          for (const stream of [false, true]) {
            const name = `${fault.scenario}${stream ? ', stream' : ''}`;
            const round = { t, name, fault, dialect, stream, spare };
            t.recover();
            await checkOneRejectedKey(round);
            t.recover();
            await checkAllKeysRejected(round);
          }
        }
        const rows = await t.rows(FAULTS.length * 8);
        assert.is(rows.length, FAULTS.length * 8);
        assert.is(new Set(rows.map((row) => row.id)).size, rows.length);
        // Without a spare, the two of a round's four requests that find all keys cooling down fail.
        const failed = rows.filter((row) => row.outcome === 'error').length;
        assert.is(failed, spare === undefined ? FAULTS.length * 4 : 0);
      }));
  }
}

test.after(closeClients);
test.run();
