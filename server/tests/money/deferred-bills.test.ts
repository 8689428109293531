/**
 * Work that is billed once although it can be fetched repeatedly: background responses and batch
 * results.
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../../engine/clock.ts';
import { dollarsFor } from '../../../fixtures/money/tables.ts';
import { streamOf, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import type { PlainUpstream } from '../../../fixtures/plain-upstream.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { createDeferredBills } from '../../../stages/budget/deferred-bills.ts';
import { openDeferredBills } from '../../../stages/budget/deferred-bills-file.ts';

type Json = Readonly<Record<string, unknown>>;

const MODEL = 'gpt-5';
const USAGE = { input_tokens: 100_000, output_tokens: 2000, total_tokens: 102_000 };
const ONCE = dollarsFor({ model: MODEL, input: 100_000, output: 2000 }, [])!;
const OPUS = 'claude-opus-5-5';

const response = (id: string, more: Json = {}) => ({
  id,
  object: 'response',
  status: 'completed',
  background: false,
  model: MODEL,
  output: [],
  usage: USAGE,
  ...more,
});

/** Sends one request; returns its row's tokens and dollars. */
async function billedRow(
  t: TestProxy,
  upstream: PlainUpstream,
  [method, path]: readonly [string, string],
  answer: Json | string | readonly object[],
  body: Json = {},
) {
  const before = (await t.rows(0)).length;
  if (Array.isArray(answer)) upstream.answer(streamOf(...(answer as readonly object[])));
  else
    upstream.answer((answered) => {
      const isText = typeof answer === 'string';
      answered.writeHead(200, {
        'content-type': isText ? 'application/x-jsonl' : 'application/json',
      });
      answered.end(isText ? answer : JSON.stringify(answer));
    });
  const isPost = method === 'POST';
  const headers = path.startsWith('/v1/messages') ? { 'anthropic-version': '2023-06-01' } : {};
  const { status } = await exchange(t.proxy.port, {
    method,
    path,
    headers,
    ...(isPost && { body: JSON.stringify(body) }),
  });
  assert.is(status, 200, path);
  const { costNanoUsd, inputTokensSent, model } = (await t.rows(before + 1)).at(-1)!;
  return {
    usd: costNanoUsd === null ? null : costNanoUsd / 1e9,
    input: inputTokensSent,
    model,
    unpriced: t.proxy.services.window.totals().unpriced,
  };
}

const assertNear = (found: number | null, expected: number, what: string): void =>
  assert.ok(
    found !== null && Math.abs(found - expected) <= expected * 1e-6,
    `${what}: ${found} for ${expected}`,
  );

test('a response that was billed when created costs nothing when it is fetched again', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const made = await billedRow(t, upstream, ['POST', '/v1/responses'], response('resp_1'), {
      model: MODEL,
      input: 'hello',
    });
    assertNear(made.usd, ONCE, 'made');
    const completion = { id: 'c1', object: 'chat.completion', model: MODEL, choices: [] };
    const usage = { prompt_tokens: 100_000, completion_tokens: 2000, total_tokens: 102_000 };
    const fetches: readonly (readonly [readonly [string, string], Json | readonly object[]])[] = [
      [['GET', '/v1/responses/resp_1'], response('resp_1')],
      [['GET', '/v1/responses/resp_1'], response('resp_1')],
      [
        ['GET', '/v1/responses/resp_1?stream=true'],
        [{ type: 'response.completed', response: response('resp_1') }],
      ],
      [['GET', '/v1/responses/resp_1/input_items'], { object: 'list', data: [] }],
      [['POST', '/v1/responses/resp_1/cancel'], response('resp_1')],
      [['GET', '/v1/chat/completions/c1'], { ...completion, usage }],
      [['POST', '/v1/chat/completions/c1'], { ...completion, usage, metadata: {} }],
      [['GET', '/v1/messages/batches/msgbatch_1'], { id: 'msgbatch_1', type: 'message_batch' }],
      [
        ['GET', '/v1/threads/t/runs/r/steps/s'],
        { id: 's', object: 'thread.run.step', status: 'completed', usage },
      ],
    ];
    for (const [call, answer] of fetches)
      assert.equal((await billedRow(t, upstream, call, answer)).usd, null, call.join(' '));
    const { spentTodayNanoUsd } = t.proxy.services.spending.view();
    assertNear(spentTodayNanoUsd / 1e9, ONCE, 'what the guard counts');
    assert.is(t.proxy.services.window.totals().unpriced, 0);
  }));

test('a background response is billed at the first fetch that finds it final', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const background = { background: true };
    const queued = response('resp_2', { ...background, status: 'queued', usage: null });
    const body = { model: MODEL, input: 'hello', ...background };
    const made = await billedRow(t, upstream, ['POST', '/v1/responses'], queued, body);
    assert.is(made.usd, null);
    const fetchResponse = (answer: Json, id = 'resp_2') =>
      billedRow(t, upstream, ['GET', `/v1/responses/${id}`], answer);
    const running = response('resp_2', { ...background, status: 'in_progress', usage: null });
    for (let polls = 0; polls < 20; polls++) assert.is((await fetchResponse(running)).usd, null);
    const done = response('resp_2', background);
    assertNear((await fetchResponse(done)).usd, ONCE, 'first');
    for (let polls = 0; polls < 5; polls++)
      assert.is((await fetchResponse(done)).usd, null, 'again');
    assert.is(
      (await billedRow(t, upstream, ['POST', '/v1/responses/resp_2/cancel'], done)).usd,
      null,
    );
    // A background response created elsewhere: it is marked as one, and is fetched as a stream.
    const other = response('resp_3', background);
    const events = [{ type: 'response.completed', response: other }];
    const stream = ['GET', '/v1/responses/resp_3?stream=true&starting_after=4'] as const;
    assertNear((await billedRow(t, upstream, stream, events)).usd, ONCE, 'streamed');
    assert.is((await fetchResponse(other, 'resp_3')).usd, null);
    // A cancelled response is billed for its usage so far.
    const cancelled = response('resp_4', { ...background, status: 'cancelled' });
    assertNear(
      (await billedRow(t, upstream, ['POST', '/v1/responses/resp_4/cancel'], cancelled)).usd,
      ONCE,
      'cancelled',
    );
    assert.is((await fetchResponse(cancelled, 'resp_4')).usd, null);
    // A stream that was read to its end is billed from it, large or small.
    for (const text of ['', 'x'.repeat(40_000)]) {
      const id = `resp_5${text.length}`;
      const streamed = response(id, { ...background, instructions: text });
      const done5 = [{ type: 'response.completed', response: streamed }];
      const post = await billedRow(t, upstream, ['POST', '/v1/responses'], done5, {
        ...body,
        stream: true,
      });
      assertNear(post.usd, ONCE, 'streamed at once');
      assert.is((await fetchResponse(streamed, id)).usd, null);
    }
  }));

test('the limits hold an estimate of a background response until it is billed', () =>
  withPlainUpstream(
    { yaml: 'budget: { enabled: true, per_day_usd: 1000 }\n' },
    async (t, upstream) => {
      const spent = () => t.proxy.services.spending.view().spentTodayNanoUsd / 1e9;
      const body = { model: MODEL, input: 'hello', background: true, max_output_tokens: 50_000 };
      const queued = response('resp_6', { background: true, status: 'queued', usage: null });
      await billedRow(t, upstream, ['POST', '/v1/responses'], queued, body);
      assert.ok(spent() > 0.4, `${spent()}`);
      const done = response('resp_6', { background: true });
      for (let polls = 0; polls < 3; polls++)
        await billedRow(t, upstream, ['GET', '/v1/responses/resp_6'], done);
      assertNear(spent(), ONCE, 'spent');
    },
  ));

test('results of a batch are priced once, at batch rates and per model', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const usage = { input_tokens: 1000, output_tokens: 200, service_tier: 'batch' };
    const line = (model: string, of: Json = usage) =>
      JSON.stringify({
        custom_id: 'a',
        result: { type: 'succeeded', message: { type: 'message', model, content: [], usage: of } },
      });
    const failed = JSON.stringify({ custom_id: 'b', result: { type: 'errored', error: {} } });
    const path = '/v1/messages/batches/msgbatch_1/results';
    const haiku = 'claude-haiku-5-5';
    const long = { ...usage, input_tokens: 110_000 };
    const lines = [line(OPUS), failed, line(haiku), line(haiku, long), line(OPUS)];
    const found = await billedRow(t, upstream, ['GET', path], `${lines.join('\n')}\n`);
    const of = (model: string, input: number) =>
      dollarsFor({ model, input, output: 200 }, ['batch'])!;
    const expected = 2 * of(OPUS, 1000) + of(haiku, 1000) + of(haiku, 110_000);
    assertNear(found.usd, expected, 'results');
    assert.equal([found.input, found.model], [113_000, OPUS]);
    assert.is((await billedRow(t, upstream, ['GET', path], lines.join('\n'))).usd, null, 'again');

    // Far more tokens than one request can have, for a model without a price.
    const unknown = Array.from({ length: 5000 }, () => line('claude-unheard-of-9', long));
    const second = '/v1/messages/batches/msgbatch_2/results';
    const unpriced = await billedRow(t, upstream, ['GET', second], unknown.join('\n'));
    assert.equal([unpriced.usd, unpriced.input, unpriced.unpriced], [null, 5000 * 110_000, 1]);
    // Results that report no usage.
    const silent = JSON.stringify({
      custom_id: 'c',
      result: { type: 'succeeded', message: { model: OPUS } },
    });
    const third = '/v1/messages/batches/msgbatch_3/results';
    const bare = await billedRow(t, upstream, ['GET', third], silent);
    assert.equal([bare.usd, bare.unpriced], [null, 2]);
  }));

test('a batch that reports its usage is billed by that, and its output file costs no more', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const half = dollarsFor({ model: MODEL, input: 100_000, output: 2000 }, ['batch'])!;
    const batch = (more: Json) => ({ id: 'batch_1', object: 'batch', model: MODEL, ...more });
    const path = '/v1/batches/batch_1';
    const running = batch({ status: 'in_progress', usage: { ...USAGE, input_tokens: 10 } });
    assert.is((await billedRow(t, upstream, ['GET', path], running)).usd, null);
    const done = batch({ status: 'completed', output_file_id: 'file-1', usage: USAGE });
    assertNear((await billedRow(t, upstream, ['GET', path], done)).usd, half, 'batch');
    assert.is((await billedRow(t, upstream, ['GET', path], done)).usd, null);

    const body = { id: 'c', object: 'chat.completion', model: MODEL, choices: [] };
    const used = { prompt_tokens: 100_000, completion_tokens: 2000, total_tokens: 102_000 };
    const line = JSON.stringify({
      id: 'batch_req_1',
      custom_id: 'a',
      response: { status_code: 200, body: { ...body, usage: used } },
      error: null,
    });
    const file = (id: string) => ['GET', `/v1/files/${id}/content`] as const;
    assert.is((await billedRow(t, upstream, file('file-1'), line)).usd, null);
    // If the batch has no figures, its output file has them.
    const silent = batch({ id: 'batch_2', status: 'completed', output_file_id: 'file-2' });
    assert.is((await billedRow(t, upstream, ['GET', '/v1/batches/batch_2'], silent)).usd, null);
    assertNear((await billedRow(t, upstream, file('file-2'), line)).usd, half, 'file');
    assert.is((await billedRow(t, upstream, file('file-2'), line)).usd, null);
    const input = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/x', body });
    const own = await billedRow(t, upstream, file('file-3'), `${input}\n${input}`);
    assert.equal([own.usd, own.unpriced], [null, 0]);
  }));

test('results of a generative batch are priced, both inline and in a file', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const model = 'gemini-2.5-flash';
    const usageMetadata = {
      promptTokenCount: 1000,
      candidatesTokenCount: 200,
      totalTokenCount: 1200,
    };
    const result = { response: { candidates: [], usageMetadata, modelVersion: model } };
    const usdPerRequest = dollarsFor({ model, input: 1000, output: 200 }, ['batch'])!;
    const inlinedResponses = { inlinedResponses: [result, result, { error: { code: 13 } }] };
    const done = {
      name: 'batches/1',
      metadata: { state: 'BATCH_STATE_SUCCEEDED', output: { inlinedResponses } },
      done: true,
      response: { inlinedResponses },
    };
    const path = '/v1beta/batches/1';
    assertNear(
      (await billedRow(t, upstream, ['GET', path], done)).usd,
      2 * usdPerRequest,
      'inline',
    );
    assert.is((await billedRow(t, upstream, ['GET', path], done)).usd, null);
    const lines = [result, result].map((one) => JSON.stringify({ key: 'k', ...one })).join('\n');
    const file = '/download/v1beta/files/f1:download?alt=media';
    assertNear((await billedRow(t, upstream, ['GET', file], lines)).usd, 2 * usdPerRequest, 'file');
    assert.is((await billedRow(t, upstream, ['GET', file], lines)).usd, null);
  }));

test('interactions are read in their own format, and billed once', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const model = 'gemini-2.5-flash';
    const usage = {
      total_input_tokens: 1000,
      total_cached_tokens: 0,
      total_output_tokens: 150,
      total_thought_tokens: 50,
      total_tool_use_tokens: 0,
      total_tokens: 1200,
      input_tokens_by_modality: [{ modality: 'text', tokens: 1000 }],
    };
    const once = dollarsFor({ model, input: 1000, output: 200 }, [])!;
    const interaction = (id: string, more: Json = {}) => ({
      id,
      object: 'interaction',
      status: 'completed',
      model,
      usage,
      ...more,
    });
    const post = ['POST', '/v1beta/interactions'] as const;
    const get = (id: string) => ['GET', `/v1beta/interactions/${id}`] as const;
    const body = { model, input: 'hello' };
    assertNear((await billedRow(t, upstream, post, interaction('i1'), body)).usd, once, 'whole');
    assert.is((await billedRow(t, upstream, get('i1'), interaction('i1'))).usd, null);
    const ends = { event_type: 'interaction.complete', interaction: interaction('i2') };
    assertNear(
      (await billedRow(t, upstream, post, [ends], { ...body, stream: true })).usd,
      once,
      'stream',
    );
    const running = interaction('i3', { status: 'in_progress', usage: undefined });
    assert.is(
      (await billedRow(t, upstream, post, running, { ...body, background: true })).usd,
      null,
    );
    assert.is((await billedRow(t, upstream, get('i3'), running)).usd, null);
    assertNear((await billedRow(t, upstream, get('i3'), interaction('i3'))).usd, once, 'later');
    assert.is((await billedRow(t, upstream, get('i3'), interaction('i3'))).usd, null);
    const grounded = { ...usage, grounding_tool_count: [{ type: 'google_maps', count: 2 }] };
    const mapped = await billedRow(t, upstream, post, interaction('i4', { usage: grounded }), body);
    assert.equal([mapped.usd, mapped.unpriced], [null, 1]);
  }));

test('a file without batch results costs nothing, however large', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const file = ['GET', '/v1/files/file-9/content'] as const;
    for (const text of ['%PDF-1.7 x', `{"data":"${'x'.repeat(34 * 1024 * 1024)}"}`]) {
      const found = await billedRow(t, upstream, file, text);
      assert.equal([found.usd, found.input, found.unpriced], [null, null, 0]);
    }
  }));

test('after a restart the proxy knows what is billed, and the limits hold what is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-deferred-'));
  const file = join(folder, 'deferred-bills.json');
  const clock = createManualClock();
  const failures: unknown[] = [];
  const open = () =>
    openDeferredBills({ file, clock, onProblem: (thrown) => failures.push(thrown) });
  const work = (id: string) => ({ ids: [id], isFinal: true, isDeferred: true as const });
  const held = { nanoUsd: 5, tokens: 6, key: 'anna', project: 'shop', atMs: 7 };
  const before = await open();
  before.deferredBills.begin(work('a'), held);
  before.deferredBills.bill(work('b'));
  await before.flush();
  assert.is(statSync(file).mode & 0o777, 0o600);
  const after = await open();
  const { deferredBills } = after;
  assert.equal(
    ['a', 'b', 'c'].map((id) => deferredBills.isDue(work(id))),
    [true, false, true],
  );
  assert.equal(deferredBills.bill(work('a')), held);
  assert.is(deferredBills.bill(work('a')), undefined);
  for (const text of ['', '[]', '{"format":1,"works":[1,["x"],["y",{"nanoUsd":"z"}]]}']) {
    writeFileSync(file, text);
    assert.equal((await open()).deferredBills.remembered(), [], text);
  }
  assert.is(failures.splice(0).length, 2, 'two cannot be read, and are moved aside');
  // The memory of billed work is bounded.
  for (let n = 0; n < 50_000; n++) deferredBills.bill(work(`${n}`));
  assert.is(deferredBills.remembered().length, 20_000);
  rmSync(folder, { recursive: true });
  await after.flush();
  assert.is(failures.length, 1);
});

test('the reservation of work with two ids that another proxy has billed is released once', async () => {
  const deferredBills = createDeferredBills();
  const requests: (readonly string[])[] = [];
  const returned: number[] = [];
  const billedOf = async (ids: readonly string[]) => {
    requests.push(ids);
    return ids.filter((id) => id === 'batch_1' || id === 'file-1');
  };
  deferredBills.share({ billed: () => undefined, billedOf }, ({ nanoUsd }) =>
    returned.push(nanoUsd),
  );
  await deferredBills.lookUpHeld();
  assert.equal(requests, [], 'nothing is reserved, so nothing is queried');
  const held = { nanoUsd: 5, tokens: 6, atMs: 7 };
  deferredBills.begin({ ids: ['batch_1', 'file-1'], isFinal: false }, held);
  assert.is(deferredBills.heldTokens(0), 6, 'one reservation under all of its ids');
  deferredBills.begin({ ids: ['batch_2'], isFinal: false }, { ...held });
  await deferredBills.lookUpHeld();
  assert.equal(returned, [5]);
  assert.is(deferredBills.isDue({ ids: ['file-1'], isFinal: true, isDeferred: true }), false);
  for (const [target, names] of [
    ['/v1/models', undefined],
    ['/v1/files/file-1/content', ['file-1/content', 'content', 'files/file-1']],
    ['/v1beta/batches/2?alt=json', ['2', 'batches/2']],
  ] as const) {
    requests.length = 0;
    await deferredBills.lookUp(target);
    assert.equal(new Set(requests.flat()), new Set(names ?? []), target);
  }
});

test('after a restart the proxy holds the tokens of unfinished work', async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-deferred-'));
  const options = {
    env: { SVC_HOME: home },
    yaml: 'budget: { enabled: true, total_tokens: 1000000 }\n',
  };
  const started = (use: (t: TestProxy, upstream: PlainUpstream) => Promise<void>) =>
    withPlainUpstream(options, use);
  const tokens = (t: TestProxy): number => t.proxy.services.spending.view().tokensToday;
  let held = 0;
  await started(async (t, upstream) => {
    const body = { model: MODEL, input: 'hello', background: true, max_output_tokens: 50_000 };
    const queued = response('resp_7', { background: true, status: 'queued', usage: null });
    await billedRow(t, upstream, ['POST', '/v1/responses'], queued, body);
    held = tokens(t);
    assert.ok(held >= 50_000, `${held}`);
  });
  await started(async (t, upstream) => {
    await t.proxy.services.spending.recall();
    assert.is(tokens(t), held);
    const done = JSON.stringify(response('resp_7', { background: true }));
    upstream.answer((answered) => answered.setHeader('content-type', 'application/json').end(done));
    await exchange(t.proxy.port, { method: 'GET', path: '/v1/responses/resp_7' });
    await t.rows(1);
    assert.is(tokens(t), USAGE.total_tokens);
  });
  await started(async (t) => {
    await t.proxy.services.spending.recall();
    assert.is(tokens(t), USAGE.total_tokens);
  });
  rmSync(home, { recursive: true });
});

test.after(closeClients);
test.run();
