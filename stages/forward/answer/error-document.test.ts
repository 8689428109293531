/** Errors with a success status, and what a trace says about which provider answered and how. */
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer } from '../../../fixtures/upstream.ts';
import { jsonAnswer, streamAnswer, toAnswer, toEvent } from '../../../fixtures/upstream/answer.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { isErrorDocument } from '../../dialect/error-document.ts';
import { bodyOf, clientKey, traceOf, withPair, withSpare } from '../../../fixtures/forward/pair.ts';
import type { Pair } from '../../../fixtures/forward/pair.ts';

/** Errors as gateways and local servers send them. */
const ERRORS: Readonly<Record<string, unknown>> = {
  'an object with a code': {
    error: { message: 'Provider returned error', code: 502 },
    user_id: 'x',
  },
  'a text': { error: 'model is loading' },
  'one beside an empty answer': { id: 'x', choices: [], error: { message: 'boom' } },
  'one with its type': { type: 'error', error: { type: 'overloaded_error', message: 'x' } },
  'one in a list': [{ error: { code: 503, message: 'x', status: 'UNAVAILABLE' } }],
};

const ANSWERS: readonly unknown[] = [
  { choices: [{ message: { content: 'say {"error": {}}' } }], error: null },
  { choices: [{ message: { content: 'x' } }], error: { message: 'late' } },
  { object: 'response', output: [{ type: 'message' }], error: null },
  { content: [{ type: 'text', text: '"error": {' }] },
  { error: null },
  { error: '' },
  'error',
  [],
];

const CHAT_PATH = '/v1/chat/completions';

function send(t: Pair, stream = false, more: object = {}) {
  const body = bodyOf('chat', stream, more);
  return exchange(t.proxy.port, { path: CHAT_PATH, body, headers: clientKey('chat') });
}

const answering = (value: unknown) => answer(() => jsonAnswer(200, value));
const zipped = (value: unknown) =>
  answer(() => {
    const fields = [
      ['Content-Type', 'application/json'],
      ['Content-Encoding', 'gzip'],
    ] as const;
    return toAnswer(200, fields, [gzipSync(JSON.stringify(value))]);
  });

test('an error document is recognised by the lack of answer fields', () => {
  for (const [name, value] of Object.entries(ERRORS)) {
    assert.ok(isErrorDocument(Buffer.from(JSON.stringify(value, undefined, 1))), name);
  }
  for (const value of ANSWERS) {
    assert.not.ok(isErrorDocument(Buffer.from(JSON.stringify(value))), JSON.stringify(value));
  }
});

for (const [name, value] of Object.entries(ERRORS)) {
  test(`${name}, answered with 200, is a failure: the fallback takes over`, () =>
    withPair({ yaml: withSpare('chat', 'providers:') }, async (t) => {
      for (const [stream, scenario] of [
        [false, answering(value)],
        [true, answering(value)],
        [false, zipped(value)],
      ] as const) {
        t.upstream.script(undefined, scenario);
        const response = await send(t, stream);
        assert.is(response.status, 200);
        const { attempts } = await traceOf(t, response);
        assert.equal(
          attempts.map((each) => each.provider),
          ['chat', 'spare'],
        );
        assert.match(attempts[0]!.failure ?? '', 'answered 200 with an error');
      }
      const { breaker, health } = t.proxy.services.states.view().get('chat')!;
      assert.is(breaker.failures, 3);
      assert.is(health.state, 'unhealthy');
    }));
}

test('without a fallback the client gets the error bytes, the row says error, and nothing is cached', () =>
  withPair({ yaml: () => 'cache: { enabled: true }\n' }, async (t) => {
    const value = ERRORS['an object with a code'];
    for (const scenario of [answering(value), zipped(value)]) {
      t.upstream.script(undefined, scenario);
      const response = await send(t, false, { temperature: 0 });
      assert.is(response.status, 200);
      const bytes =
        response.headers['content-encoding'] === undefined
          ? Buffer.from(JSON.stringify(value))
          : gzipSync(JSON.stringify(value));
      assert.ok(response.body.equals(bytes));
      assert.is((await traceOf(t, response)).outcome, 'error');
    }
    t.upstream.script(undefined, 'sized');
    const after = await send(t, false, { temperature: 0 });
    assert.is(after.headers['x-svc-cache'], undefined);
    assert.match(after.text, '"choices"');
    const rows = await t.rows(3);
    assert.equal(
      rows.map((row) => row.outcome),
      ['error', 'error', 'ok'],
    );
    assert.is(t.proxy.services.states.view().get('chat')!.breaker.failures, 2);
  }));

test('the trace names the provider whose answer was shown, not the one that was tried last', () =>
  withPair({ yaml: withSpare('generative', 'providers:') }, async (t) => {
    t.upstream.script(undefined, '500');
    const response = await send(t, false, { n: 2 });
    assert.is(response.status, 500);
    const trace = await traceOf(t, response);
    assert.match(trace.attempts[1]!.failure ?? '', 'skipped');
    const forward = trace.stages.find((stage) => stage.name === 'upstream_forward');
    assert.is(forward?.['provider'], 'chat');
    assert.is(trace.outcome, 'error');
  }));

test('trace and row agree on the outcome, also for a stream that was cut off', () =>
  withPair({ yaml: () => '' }, async (t) => {
    const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'Hal' } }] };
    t.upstream.script(
      undefined,
      answer(() => streamAnswer([toEvent(chunk)])),
    );
    const response = await send(t, true);
    const [row] = await t.rows(1);
    assert.is(row!.outcome, 'partial');
    assert.is((await traceOf(t, response)).outcome, 'partial');
  }));

test('an HTML page or an empty body instead of an answer is a failure, and another provider is tried', () =>
  withPair({ yaml: withSpare('chat', 'providers:') }, async (t) => {
    const html = [['Content-Type', 'text/html; charset=utf-8']] as const;
    const json = [['Content-Type', 'application/json']] as const;
    const page = Buffer.from('<!doctype html><title>Sign in</title>');
    const notAnswers = { page: toAnswer(200, html, [page]), nothing: toAnswer(200, json, []) };
    for (const [name, sent] of Object.entries(notAnswers)) {
      for (const stream of [false, true]) {
        t.recover();
        t.upstream.reset();
        t.upstream.script(
          undefined,
          answer(() => sent),
        );
        const response = await send(t, stream);
        assert.is(response.status, 200, name);
        assert.match(response.text, 'Noted', `${name}, stream ${stream}`);
      }
    }
    t.spare.script(undefined, '503');
    const response = await send(t);
    assert.ok(response.status >= 500, response.text);
    assert.not.match(response.text, '<title>');
  }));

test.after(closeClients);
test.run();
