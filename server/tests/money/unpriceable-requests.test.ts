/**
 * Dollar limits and requests whose price is unknown in advance: refused, or reserved by an estimate
 * of their parts.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/clock.ts';
import { dollarsFor } from '../../../fixtures/money/tables.ts';
import { streamOf, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import type { PlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { openKeyStore } from '../../auth/auth.ts';
import type { KeyLimits } from '../../auth/auth.ts';
import { askLedger } from '../../control/ledger-questions.ts';
import { spentBefore } from '../../facts/spending.ts';

function keyWith(t: TestProxy, limits: KeyLimits): string {
  const file = join(dirname(t.db), 'keys.json');
  const store = openKeyStore({ file, clock: systemClock, random: randomBytes });
  return store.create({ label: 'anna', ...limits }).key;
}

const OPUS = 'claude-opus-5-5';
const UNFORESEEN: readonly (readonly [path: string, body: object])[] = [
  ['/v1/images/generations', { model: 'gpt-image-1', prompt: 'a cat', n: 10 }],
  ['/v1/audio/speech', { model: 'tts-1', input: 'hello', voice: 'alloy' }],
  ['/v1/videos', { model: 'sora-2', prompt: 'a cat' }],
  ['/v1/batches', { input_file_id: 'file-1', endpoint: '/v1/chat/completions' }],
  ['/v1/fine_tuning/jobs', { model: 'gpt-4o-mini', training_file: 'file-1' }],
  [
    '/v1/messages/batches',
    { requests: [{ custom_id: '1', params: { model: 'claude-unheard-of' } }] },
  ],
  ['/v1/messages/batches', { requests: 'none' }],
  ['/v1beta/models/veo-3.1:predictLongRunning', { instances: [{ prompt: 'a cat' }] }],
  ['/v1beta/models/gemini-2.5-flash:batchGenerateContent', { batch: {} }],
];

const post = (t: TestProxy, path: string, body: object, headers: Record<string, string> = {}) =>
  exchange(t.proxy.port, { path, headers, body: JSON.stringify(body) });

test('a request without an estimate does not pass a dollar limit of a key, a project or the proxy', async () => {
  const yaml = 'budget: { enabled: true, projects: { shop: { per_month_usd: 5 } } }\n';
  await withProxy({ yaml }, async (t) => {
    const key = keyWith(t, { perDayUsd: 5 });
    for (const [path, body] of UNFORESEEN) {
      for (const headers of [{ 'x-svc-key': key }, { 'x-svc-project': 'shop' }]) {
        const refused = await post(t, path, body, headers);
        assert.is(refused.status, 402, path);
        assert.match(
          refused.text,
          /Spending limit of \$5.00 per (?:day|month) of the (?:key 'anna'|project 'shop')/,
        );
        assert.match(refused.text, 'cannot be predicted');
      }
    }
    assert.is(t.upstream.requests.length, 0);
    // The request goes through without a limit, or if it is allowed once.
    assert.is((await post(t, '/v1/images/generations', {})).status !== 402, true);
    const allowed = { 'x-svc-key': key, 'x-svc-allow-spend': 'once' };
    assert.is((await post(t, '/v1/images/generations', {}, allowed)).status !== 402, true);
    // Requests that are free, or whose price can be estimated, are not affected.
    for (const [path, body] of [
      ['/v1/moderations', { input: 'hello' }],
      ['/v1/files', {}],
      ['/v1/chat/completions', CHAT],
      ['/v1/messages', MESSAGE],
    ] as const)
      assert.is.not((await post(t, path, body, { 'x-svc-key': key })).status, 402, path);
  });
  await withProxy({ yaml: 'budget: { enabled: true, per_day_usd: 5 }\n' }, async (t) => {
    assert.is((await post(t, '/v1/batches', {})).status, 402);
    await exchange(t.proxy.port, { path: '/v1/batches', method: 'GET' });
    assert.is(t.upstream.requests.length, 1);
  });
});

test('an interaction is estimated by its model and its input', () =>
  withProxy({ yaml: 'budget: { enabled: true, per_request_usd: 0.1 }\n' }, async (t) => {
    const path = '/v1beta/interactions';
    const body = { model: 'gemini-2.5-flash', input: 'x'.repeat(4_000_000) };
    const refused = await post(t, path, body);
    assert.is(refused.status, 402);
    assert.match(refused.text, /estimated at \$0\.[3-9]/);
    const small = { ...body, input: 'hello', max_output_tokens: 100 };
    assert.is.not((await post(t, path, small)).status, 402);
  }));

function answerWith(upstream: PlainUpstream, answer: object): void {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
}

test('a batch whose requests can be read holds their estimate until its results are priced', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const spent = () => t.proxy.services.spending.accountOf('key', 'anna', 'day').spent / 1e9;
    const key = keyWith(t, { perDayUsd: 5 });
    const params = { model: OPUS, max_tokens: 10_000, messages: [{ role: 'user', content: 'hi' }] };
    const batch = (count: number) => ({
      requests: Array.from({ length: count }, (_, at) => ({ custom_id: `${at}`, params })),
    });
    answerWith(upstream, {
      id: 'msgbatch_1',
      type: 'message_batch',
      processing_status: 'in_progress',
    });
    const headers = { 'x-svc-key': key };
    assert.is((await post(t, '/v1/messages/batches', batch(10), headers)).status, 200);
    const usdPerRequest = dollarsFor({ model: OPUS, input: 0, output: 10_000 }, ['batch'])!;
    await t.rows(1);
    assert.ok(
      spent() >= 10 * usdPerRequest && spent() < 10.1 * usdPerRequest,
      `${spent()} for ${10 * usdPerRequest}`,
    );
    const refused = await post(t, '/v1/messages/batches', batch(100), headers);
    assert.is(refused.status, 402);
    assert.match(refused.text, /estimated at \$10\./);

    // The reservation is replaced by the actual cost.
    const usage = { input_tokens: 1000, output_tokens: 200 };
    const message = { type: 'message', model: OPUS, content: [], usage };
    answerWith(upstream, { custom_id: '0', result: { type: 'succeeded', message } });
    const path = '/v1/messages/batches/msgbatch_1/results';
    await exchange(t.proxy.port, { method: 'GET', path, headers });
    await t.rows(3);
    const real = dollarsFor({ model: OPUS, input: 1000, output: 200 }, ['batch'])!;
    assert.ok(Math.abs(spent() - real) < 1e-9, `${spent()} for ${real}`);
  }));

test('the amount that limits count for a request without a price is stored in the ledger', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const key = keyWith(t, { perDayUsd: 500 });
    const headers = { 'x-svc-key': key };
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
    const answer = { object: 'chat.completion', model: 'gpt-5', choices: [], usage };
    // A tier priced only by contract, and a response that reports no usage at all.
    answerWith(upstream, { ...answer, service_tier: 'scale' });
    const body = { ...CHAT, model: 'gpt-5', max_completion_tokens: 100_000 };
    await post(t, '/v1/chat/completions', body, headers);
    await t.rows(1);
    answerWith(upstream, { object: 'chat.completion', model: 'gpt-5', choices: [] });
    await post(t, '/v1/chat/completions', body, headers);
    const queued = { id: 'resp_1', object: 'response', status: 'queued', background: true };
    answerWith(upstream, { ...queued, model: 'gpt-5' });
    const response = { model: 'gpt-5', input: 'hi', background: true, max_output_tokens: 50_000 };
    await post(t, '/v1/responses', response, headers);
    await t.rows(3);
    const { services } = t.proxy;
    const live = services.spending.accountOf('key', 'anna', 'day').spent;
    const [known, foreseen, later] = [1.25e9, 1e9, 0.5e9];
    assert.ok(Math.abs(live - known - foreseen - later) < 1e6, `${live}`);

    const done = { ...queued, status: 'completed', model: 'gpt-5' };
    const used = { input_tokens: 100_000, output_tokens: 0, total_tokens: 100_000 };
    answerWith(upstream, { ...done, usage: used });
    await exchange(t.proxy.port, { method: 'GET', path: '/v1/responses/resp_1', headers });
    await t.rows(4);
    const after = services.spending.accountOf('key', 'anna', 'day').spent;
    assert.ok(Math.abs(after - known - foreseen - 0.125e9) < 1e6, `${after}`);

    const questions = askLedger(t.db);
    const clock = { ...systemClock, wallMs: () => Date.now() };
    const before = await spentBefore(questions, clock, Date.now() + 1000);
    await questions.close();
    const of = (owner: string, name: string) =>
      before.owners.find((one) => one.owner === owner && one.name === name)?.costNanoUsd;
    assert.is(of('key', 'anna'), after);
    assert.is(of('proxy', ''), after);
    assert.is(before.costNanoUsd, services.spending.view().spentTodayNanoUsd);
    assert.is(services.window.totals().unpriced, services.spending.view().unpriced);
  }));

test('a response without usage is unpriced if whole, and estimated if streamed', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const words = 'a few words of an answer, '.repeat(20);
    const choices = [{ index: 0, message: { role: 'assistant', content: words } }];
    const whole: readonly (readonly [path: string, body: object, answer: object])[] = [
      ['/v1/chat/completions', { ...CHAT, model: 'gpt-5' }, { choices }],
      ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'hello' }, { data: [] }],
      [
        '/v1beta/models/gemini-embedding-001:embedContent',
        { content: { parts: [{ text: 'hello' }] } },
        { embedding: { values: [1, 2] } },
      ],
    ];
    for (const [path, body, answer] of whole) {
      answerWith(upstream, answer);
      assert.is((await post(t, path, body)).status, 200, path);
    }
    let rows = await t.rows(whole.length);
    for (const { costNanoUsd, usageEstimated, endpoint } of rows)
      assert.equal([costNanoUsd, usageEstimated], [null, true], endpoint);
    assert.is(t.proxy.services.window.totals().unpriced, whole.length);

    const delta = (content: string, finish_reason: string | null = null) => ({
      model: 'gpt-5',
      choices: [{ index: 0, delta: { content }, finish_reason }],
    });
    upstream.answer(streamOf(delta(words), delta('', 'stop'), 'data: [DONE]\n\n'));
    await post(t, '/v1/chat/completions', { ...CHAT, model: 'gpt-5', stream: true });
    rows = await t.rows(whole.length + 1);
    const { costNanoUsd, outputTokens, usageEstimated } = rows.at(-1)!;
    assert.ok(outputTokens! > 50 && outputTokens! < 500, `${outputTokens}`);
    assert.equal([costNanoUsd! > 0, usageEstimated], [true, true]);
  }));

test('images, audio and video without reported usage are unpriced, not free', () =>
  withPlainUpstream({}, async (t, upstream) => {
    answerWith(upstream, { created: 1, data: [{ url: 'https://pictures.example/1' }] });
    const calls = ['/v1/images/generations', '/v1/audio/speech', '/v1/images/edits'];
    for (const path of calls) await post(t, path, { model: 'dall-e-3', prompt: 'a cat' });
    const rows = await t.rows(calls.length);
    assert.equal(
      rows.map(({ costNanoUsd, usageEstimated }) => [costNanoUsd, usageEstimated]),
      calls.map(() => [null, true]),
    );
    assert.is(t.proxy.services.window.totals().unpriced, calls.length);
    const trace = await exchange(t.proxy.port, { method: 'GET', path: `/trace/${rows[0]!.id}` });
    assert.match(trace.text, 'unreported usage');
    // An error costs nothing, and background work is billed when it has ended.
    upstream.answer((response) => response.writeHead(400).end('{}'));
    await post(t, '/v1/images/generations', {});
    answerWith(upstream, { id: 'batch_1', object: 'batch', status: 'validating' });
    await post(t, '/v1/batches', {});
    await t.rows(calls.length + 2);
    assert.is(t.proxy.services.window.totals().unpriced, calls.length);
  }));

test.after(closeClients);
test.run();
