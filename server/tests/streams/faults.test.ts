/**
 * Every scenario of the fake upstream, through a real proxy: a response that can be passed through
 * equals what a client without the proxy would get; any other is an error with its code, never a
 * clean end. There is exactly one row for each request.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { ProxyOptions, TestProxy } from '../../../fixtures/proxy.ts';
import { scenarios } from '../../../fixtures/upstream.ts';
import { EXPECTED, unreachable, late } from './faults-testing.ts';
import type { Ending } from './faults-testing.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import type { FullResponse } from '../../../fixtures/server/exchange.ts';
import { pause, until } from '../../../fixtures/wait.ts';

const HOP = /^(?:connection|keep-alive|transfer-encoding|trailer)$/i;
const OURS = /^(?:x-request-id|x-svc-request-id|x-accel-buffering|date)$/i;

/**
 * Returns the header fields that a passed-through response must share with the original, in order.
 */
function endToEnd(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (!HOP.test(name) && !OURS.test(name) && !/^content-length$/i.test(name)) {
      kept.push(`${name}: ${rawHeaders[i + 1]}`);
    }
  }
  return kept;
}

function errorOf(response: FullResponse): { type?: string; code?: string } {
  const body = JSON.parse(response.text) as { error: { type?: string; code?: string } };
  assert.type(response.headers['x-request-id'], 'string');
  return body.error;
}

function expectEnding(
  name: string,
  ending: Ending,
  got: FullResponse,
  direct: FullResponse | undefined,
) {
  if (ending.as === 'passthrough') {
    assert.is(got.status, direct?.status, name);
    assert.ok(got.whole, `${name}: whole`);
    assert.ok(direct !== undefined && got.body.equals(direct.body), `${name}: bytes`);
    assert.equal(endToEnd(got.rawHeaders), endToEnd(direct.rawHeaders), name);
  } else if (ending.as === 'refused') {
    assert.is(got.status, ending.status, name);
    const { code, type } = errorOf(got);
    assert.is(code, ending.code, name);
    assert.is(type, ending.status === 502 ? 'bad_gateway' : 'gateway_timeout', name);
    assert.not.match(got.text, /undefined|127\.0\.0\.1/, name);
  } else if (ending.as === 'error event') {
    assert.is(got.status, 200, name);
    assert.ok(got.whole, `${name}: the stream ends after its error event`);
    const last = got.text.split('\n\n').at(-2) ?? '';
    assert.match(last, /^event: error\ndata: /, name);
    const data = JSON.parse(last.slice('event: error\ndata: '.length)) as {
      error: { type: string };
    };
    assert.is(data.error.type, ending.type, name);
    assert.not.match(got.text, 'event: message_stop', name);
    for (const event of got.text.split('\n\n').slice(0, -1)) {
      const payload = event.slice(event.indexOf('data: ') + 'data: '.length);
      assert.not.throws(() => JSON.parse(payload) as unknown, undefined, `${name}: ${event}`);
    }
  } else {
    assert.not.ok(got.whole, `${name}: the connection breaks off`);
  }
}

function rowOf(ending: Ending): string {
  if (ending.as === 'passthrough') return ending.row;
  return ending.as === 'refused' ? 'error' : 'partial';
}

const AT_ONCE = 6;

interface Round {
  readonly name: keyof typeof EXPECTED;
  readonly stream: boolean;
  readonly ending: Ending;
}

async function play(t: TestProxy, round: Round): Promise<void> {
  const options = EXPECTED[round.name].options ?? {};
  const body = json(MESSAGE, round.stream ? { stream: true } : {});
  const stop = t.upstream.script(undefined, round.name, options);
  // Content depends only on the seed, so it is the same for both.
  const isPassthrough = round.ending.as === 'passthrough';
  const direct = isPassthrough
    ? await exchange(t.upstream.port, { body, headers: { connection: 'close' } })
    : undefined;
  const response = await exchange(t.proxy.port, { body, headers: { 'x-api-key': 'mine' } });
  stop();
  expectEnding(`${round.name}${round.stream ? ', streaming' : ''}`, round.ending, response, direct);
}

function rounds(wants: (name: string) => boolean): Round[] {
  return Object.entries(EXPECTED).flatMap(([key, { whole, stream }]) => {
    const name = key as keyof typeof EXPECTED;
    if (!wants(name)) return [];
    const streaming: Round = { name, stream: true, ending: stream };
    return whole === undefined ? [streaming] : [{ name, stream: false, ending: whole }, streaming];
  });
}

const SHORT = `
providers:
  messages: { timeout_seconds: 1, idle_timeout_seconds: 0.4 }
`;

/**
 * Plays rounds side by side. Those after which no connection is left share a few proxies; any other
 * has one of its own, because the next round could get its connection.
 */
async function playAll(list: readonly Round[], options: ProxyOptions): Promise<void> {
  const [alone, waiting] = [true, false].map((wanted) =>
    list.filter(({ ending }) => mayServeAgain(ending) === wanted),
  ) as [Round[], Round[]];
  const work = async (): Promise<void> => {
    for (let round = alone.shift(); round !== undefined; round = alone.shift()) {
      const one = round;
      await withProxy(options, (t) => playOne(t, one, 0));
    }
    await withProxy(options, async (t) => {
      let played = 0;
      for (let round = waiting.shift(); round !== undefined; round = waiting.shift()) {
        recover(t);
        await playOne(t, round, played);
        played += 1;
      }
    });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Plays a round with a proxy that has answered `before` requests. */
async function playOne(t: TestProxy, round: Round, before: number): Promise<void> {
  await play(t, round);
  const rows = await t.rows(before + 1);
  assert.is(rows.length, before + 1, round.name);
  assert.is(rows.at(-1)?.outcome, rowOf(round.ending), `${round.name}: outcome`);
  if (!mayServeAgain(round.ending)) await closedUpstream(t);
}

/** Makes the proxy ask its providers again at once, however often they have failed. */
function recover({ proxy: { services } }: TestProxy): void {
  for (const name of services.states.view().keys()) services.states.forceHealth(name, 'healthy');
}

/** True if the connection to the upstream may stay open. */
function mayServeAgain(ending: Ending): boolean {
  return (
    ending.as === 'passthrough' || (ending.as === 'error event' && ending.hasEndedCleanly === true)
  );
}

const isFine = ({ ending }: Round): boolean => ending.as === 'passthrough' && ending.row === 'ok';
const quick = rounds((name) => !name.startsWith('stall'));

test('every valid response of a provider is forwarded unchanged, with one row each', () =>
  withProxy({}, async (t) => {
    const list = quick.filter(isFine);
    for (const round of list) {
      await play(t, round);
      // The scenario's effect on an idle connection must be complete before the next request.
      if (/idle|extra|trailing/.test(round.name)) await closedOnBothSides(t);
    }
    const rows = await t.rows(list.length);
    assert.is(rows.length, list.length);
    for (const [i, { name }] of list.entries()) assert.is(rows[i]!.outcome, 'ok', name);
    assert.is(new Set(rows.map((row) => row.id)).size, list.length);
  }));

test('every fault of a provider has the expected result, with one row each', () =>
  playAll(
    quick.filter((round) => !isFine(round)),
    {},
  ));

test('no silence of the upstream outlasts its limit', async () => {
  const list = rounds((name) => name.startsWith('stall'));
  assert.is(list.length, 6);
  await playAll(list, { yaml: SHORT });
});

test('a connection that the upstream ends at once', async () => {
  await Promise.all(
    (['reset-at-accept', 'close-at-accept', 'stall-at-accept'] as const).map((name) =>
      withProxy({ yaml: SHORT }, async (t) => {
        t.upstream.script(undefined, name);
        const response = await exchange(t.proxy.port, { body: json(MESSAGE, { stream: true }) });
        expectEnding(name, name === 'stall-at-accept' ? late : unreachable, response, undefined);
        assert.is((await t.rows(1)).length, 1);
      }),
    ),
  );
});

test('an upstream that is unreachable', () =>
  withProxy({}, async (t) => {
    await t.upstream.stopListening();
    const response = await exchange(t.proxy.port, { body: json(MESSAGE) });
    expectEnding('refused', unreachable, response, undefined);
    assert.match(response.text, 'connection refused');
    await t.upstream.listenAgain();
    assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
    const rows = await t.rows(2);
    assert.equal(
      rows.map((row) => row.outcome),
      ['error', 'ok'],
    );
  }));

test('surplus bytes of one response do not become the next response', () =>
  withProxy({}, async (t) => {
    for (const name of ['extra-response', 'trailing-bytes'] as const) {
      const stop = t.upstream.script(undefined, name, { delayMs: 1 });
      assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
      stop();
      await closedOnBothSides(t);
      const next = await exchange(t.proxy.port, { body: json(MESSAGE) });
      assert.is(next.status, 200, name);
      assert.not.match(next.text, 'Nobody asked');
    }
    assert.is(t.upstream.connections.length, 3, 'the connections were not used again');
  }));

test('a request is never sent twice', () =>
  withProxy({}, async (t) => {
    for (let i = 0; i < 30; i += 1) {
      const stop = t.upstream.script(undefined, 'close-idle', { delayMs: 0, times: 1 });
      await exchange(t.proxy.port, { body: json(MESSAGE) });
      stop();
      const before = t.upstream.requests.length;
      const response = await exchange(t.proxy.port, { body: json(MESSAGE) });
      assert.ok(t.upstream.requests.length - before <= 1, 'at most once');
      if (response.status !== 200)
        expectEnding('keep-alive race', unreachable, response, undefined);
    }
    assert.is((await t.rows(60)).length, 60);
  }));

async function closedUpstream({ upstream }: TestProxy, from = 0): Promise<void> {
  await until('no connection to the upstream is left open', () =>
    upstream.connections.slice(from).every((connection) => connection.closedAtMs !== undefined),
  );
}

/**
 * Waits until the newest connection is closed on both sides: a reset reaches the other side with a
 * delay.
 */
async function closedOnBothSides(t: TestProxy): Promise<void> {
  await closedUpstream(t, -1);
  await pause(20);
}

test('the table has every scenario of the fake upstream', () => {
  const atAccept = Object.keys(scenarios).filter((name) => name.endsWith('-at-accept'));
  assert.is(Object.keys(EXPECTED).length + atAccept.length, Object.keys(scenarios).length);
});

test.after(closeClients);
test.run();
