/**
 * Costs from the usage a provider bills: each row of the published price tables, by name, from
 * outside.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  chat,
  cost,
  generate,
  message,
  assertNear,
  response,
} from '../../../fixtures/money/billed-calls.ts';
import type { Json } from '../../../fixtures/money/billed-calls.ts';
import { dollarsFor } from '../../../fixtures/money/tables.ts';
import { streamOf, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

const PLAIN = { input_tokens: 1000, output_tokens: 200 };
const FABLE = 'claude-fable-5-1';
const OPUS = 'claude-opus-5-5';

test('a compaction by the provider is billed beside the response', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const compaction = { type: 'compaction', input_tokens: 180_000, output_tokens: 3500 };
    const usage = { input_tokens: 23_000, output_tokens: 1000 };
    const iterations = [compaction, { type: 'message', ...usage }];
    const found = await cost(t, upstream, ...message(OPUS, { ...usage, iterations }));
    const own = dollarsFor({ model: OPUS, input: 23_000, output: 1000 }, [])!;
    const other = dollarsFor({ model: OPUS, input: 180_000, output: 3500 }, [])!;
    assertNear(found, own + other, 'cost');
    assert.ok(other > 5 * own, 'the larger part of the bill');
    const row = (await t.rows(1)).at(-1)!;
    assert.equal([row.inputTokensSent, row.outputTokens], [23_000, 1000], 'figures stay');
  }));

test('an advisor, and a model that was substituted, are billed at their own rates', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const advised = {
      input_tokens: 2414,
      output_tokens: 3200,
      iterations: [
        { type: 'message', input_tokens: 1051, output_tokens: 35 },
        { type: 'advisor_message', model: FABLE, input_tokens: 2728, output_tokens: 874 },
        { type: 'message', input_tokens: 1363, output_tokens: 3165 },
      ],
    };
    assertNear(
      await cost(t, upstream, ...message(OPUS, advised)),
      dollarsFor({ model: OPUS, input: 2414, output: 3200 }, [])! +
        dollarsFor({ model: FABLE, input: 2728, output: 874 }, [])!,
      'advisor',
    );
    // The top-level figures are those of the model that served the response.
    const withFallback = (declined: Json) => ({
      input_tokens: 412,
      output_tokens: 264,
      iterations: [
        { type: 'message', model: FABLE, ...declined },
        { type: 'fallback_message', model: OPUS, input_tokens: 412, output_tokens: 264 },
      ],
    });
    const served = dollarsFor({ model: OPUS, input: 412, output: 264 }, [])!;
    assertNear(
      await cost(
        t,
        upstream,
        ...message(OPUS, withFallback({ input_tokens: 408, output_tokens: 0 })),
      ),
      served,
      'refused before any output',
    );
    assertNear(
      await cost(
        t,
        upstream,
        ...message(
          OPUS,
          withFallback({ input_tokens: 2, output_tokens: 578, cache_read_input_tokens: 72_769 }),
        ),
      ),
      served + dollarsFor({ model: FABLE, input: 2, read: 72_769, output: 578 }, [])!,
      'refused in the middle of it',
    );
  }));

test('fast mode is billed as served, not as requested', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const more = { speed: 'fast' };
    const used = { model: OPUS, input: 1000, output: 200 };
    const served = await cost(t, upstream, ...message(OPUS, { ...PLAIN, speed: 'fast' }, more));
    assertNear(served, dollarsFor(used, ['fast']), 'served');
    const refused = { ...PLAIN, speed: 'standard' };
    assertNear(
      await cost(t, upstream, ...message(OPUS, refused, more)),
      dollarsFor(used, []),
      'asked',
    );
    assertNear(
      await cost(t, upstream, ...message(OPUS, PLAIN, more)),
      dollarsFor(used, []),
      'not said',
    );
  }));

test('prices inference in the US, batches, and both with fast mode', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const used = { model: OPUS, input: 1000, output: 200 };
    const us = { ...PLAIN, inference_geo: 'us' };
    assertNear(await cost(t, upstream, ...message(OPUS, us)), dollarsFor(used, ['us']), 'US');
    const batch = { ...PLAIN, service_tier: 'batch' };
    assertNear(
      await cost(t, upstream, ...message(OPUS, batch)),
      dollarsFor(used, ['batch']),
      'batch',
    );
    const both = { ...us, speed: 'fast', service_tier: 'standard' };
    assertNear(
      await cost(t, upstream, ...message(OPUS, both)),
      dollarsFor(used, ['us', 'fast']),
      'both',
    );
    const global = { ...PLAIN, inference_geo: 'global', service_tier: 'standard' };
    assertNear(await cost(t, upstream, ...message(OPUS, global)), dollarsFor(used, []), 'global');
    const [sent, answer] = message(OPUS, PLAIN);
    const batched = { ...sent, path: '/v1/messages/batches' };
    assertNear(await cost(t, upstream, batched, answer), dollarsFor(used, ['batch']), 'path');
  }));

test('flex and priority are billed as the response says, in every dialect that has them', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const figures = { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 };
    const used = { model: 'gpt-5', input: 1000, output: 200 };
    for (const tier of ['flex', 'priority', 'default', 'auto'] as const) {
      const terms = tier === 'flex' || tier === 'priority' ? [tier] : [];
      const expected = dollarsFor(used, terms);
      const more = { service_tier: 'priority' };
      const answered = chat('gpt-5', figures, { service_tier: tier }, more);
      assertNear(await cost(t, upstream, ...answered), expected, `chat ${tier}`);
      const own = { input_tokens: 1000, output_tokens: 200, total_tokens: 1200 };
      const other = response('gpt-5', own, { service_tier: tier });
      assertNear(await cost(t, upstream, ...other), expected, `responses ${tier}`);
    }
    const google = { promptTokenCount: 1000, candidatesTokenCount: 200 };
    const flash = { model: 'gemini-2.5-flash', input: 1000, output: 200 };
    for (const [tier, trafficType] of [
      ['flex', 'ON_DEMAND_FLEX'],
      ['priority', 'ON_DEMAND_PRIORITY'],
    ] as const) {
      const expected = dollarsFor(flash, [tier]);
      const body = generate('gemini-2.5-flash', { ...google, trafficType });
      assertNear(await cost(t, upstream, ...body), expected, `generative ${tier}`);
      const plain = generate('gemini-2.5-flash', google);
      const header = { 'x-gemini-service-tier': tier };
      assertNear(await cost(t, upstream, ...plain, header), expected, `header ${tier}`);
    }
  }));

test('searches are billed one by one, in every dialect', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const searched = { ...PLAIN, server_tool_use: { web_search_requests: 3 } };
    const opus = dollarsFor({ model: OPUS, input: 1000, output: 200 }, [])!;
    assertNear(await cost(t, upstream, ...message(OPUS, searched)), opus + 0.03, 'messages');
    const own = { input_tokens: 1000, output_tokens: 200, total_tokens: 1200 };
    const call = (id: string, type = 'search') => ({
      type: 'web_search_call',
      id,
      action: { type },
    });
    const output = [call('a'), call('b'), call('c', 'open_page'), { type: 'message', content: [] }];
    const gpt = dollarsFor({ model: 'gpt-5', input: 1000, output: 200 }, [])!;
    const answered = response('gpt-5', own, { output });
    assertNear(await cost(t, upstream, ...answered), gpt + 0.02, 'responses');
    const google = { promptTokenCount: 1000, candidatesTokenCount: 200 };
    const grounded = { groundingMetadata: { webSearchQueries: ['a', 'b'] } };
    const flash = dollarsFor({ model: 'gemini-2.5-flash', input: 1000, output: 200 }, [])!;
    const once = generate('gemini-2.5-flash', google, grounded);
    assertNear(await cost(t, upstream, ...once), flash + 0.035, 'once for a prompt');
    const pro = dollarsFor({ model: 'gemini-3-pro-preview', input: 1000, output: 200 }, [])!;
    const each = generate('gemini-3-pro-preview', google, grounded);
    assertNear(await cost(t, upstream, ...each), pro + 0.028, 'each query');
  }));

test('images and audio have rates of their own', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const picture = {
      promptTokenCount: 300,
      candidatesTokenCount: 1320,
      candidatesTokensDetails: [
        { modality: 'IMAGE', tokenCount: 1290 },
        { modality: 'TEXT', tokenCount: 30 },
      ],
    };
    const model = 'gemini-2.5-flash-image';
    const expected = dollarsFor({ model, input: 300, output: 30, outputImage: 1290 }, []);
    assertNear(await cost(t, upstream, ...generate(model, picture)), expected, 'picture');
    const streamUsage = {
      promptTokenCount: 1000,
      cachedContentTokenCount: 400,
      candidatesTokenCount: 50,
      promptTokensDetails: [
        { modality: 'AUDIO', tokenCount: 700 },
        { modality: 'TEXT', tokenCount: 300 },
      ],
      cacheTokensDetails: [
        { modality: 'AUDIO', tokenCount: 300 },
        { modality: 'TEXT', tokenCount: 100 },
      ],
    };
    const parts = { input: 200, inputAudio: 400, read: 100, readAudio: 300, output: 50 };
    assertNear(
      await cost(t, upstream, ...generate('gemini-2.5-flash', streamUsage)),
      dollarsFor({ model: 'gemini-2.5-flash', ...parts }, []),
      'sound',
    );
    const spoken = {
      prompt_tokens: 500,
      completion_tokens: 300,
      prompt_tokens_details: { audio_tokens: 450, cached_tokens: 0 },
      completion_tokens_details: { audio_tokens: 280, reasoning_tokens: 0 },
    };
    const usage = { input: 50, inputAudio: 450, output: 20, outputAudio: 280 };
    assertNear(
      await cost(t, upstream, ...chat('gpt-audio', spoken)),
      dollarsFor({ model: 'gpt-audio', ...usage }, []),
      'speech',
    );
    const transcribed = {
      type: 'tokens',
      input_tokens: 1000,
      input_token_details: { text_tokens: 100, audio_tokens: 900 },
      output_tokens: 45,
      total_tokens: 1045,
    };
    const more = { model: 'gpt-4o-transcribe' };
    const sent = { path: '/v1/audio/transcriptions', body: JSON.stringify(more) };
    // $2.50 for text input, $6 for audio input, $10 for output.
    const whole = (100 * 2.5 + 900 * 6 + 45 * 10) / 1e6;
    const answered = { text: 'hello', ...more, usage: transcribed };
    assertNear(await cost(t, upstream, sent, answered), whole, 'transcription');
    // This model's text output costs $10 a million; the price of audio is unknown.
    assert.is(await cost(t, upstream, ...chat('gpt-5', spoken)), null);
  }));

test('prices cache writes for five minutes, one hour and twelve hours, and cache reads', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const usage = {
      input_tokens: 10,
      output_tokens: 20,
      cache_read_input_tokens: 50_000,
      cache_creation_input_tokens: 3000,
      cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 },
    };
    for (const model of ['claude-opus-4-8', 'claude-sonnet-5-5', 'claude-fable-5-2']) {
      const used = { model, input: 10, output: 20, read: 50_000, write: 1000, write1h: 2000 };
      assertNear(await cost(t, upstream, ...message(model, usage)), dollarsFor(used, []), model);
    }
    const model = 'gpt-6.2-sol';
    const details = { cached_tokens: 1000, cache_write_tokens: 3000, cache_write_tokens_12h: 2000 };
    const own = { input_tokens: 5000, output_tokens: 20, input_tokens_details: details };
    const used = { model, input: 1000, output: 20, read: 1000, write: 1000, write12h: 2000 };
    assertNear(await cost(t, upstream, ...response(model, own)), dollarsFor(used, []), model);
  }));

test('a long context has its own rates for the whole request', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const usage = (input: number) => ({ input_tokens: input, output_tokens: 100 });
    const model = 'claude-haiku-5-5';
    for (const input of [100_000, 100_001]) {
      const expected = dollarsFor({ model, input, output: 100 }, []);
      assertNear(await cost(t, upstream, ...message(model, usage(input))), expected, `${input}`);
    }
  }));

test('a refusal before any output costs nothing, and one after it costs what was used', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const refused = (output: number, reason = 'refusal') => {
      const [sent, answer] = message(OPUS, { input_tokens: 1000, output_tokens: output });
      return [sent, { ...answer, stop_reason: reason }] as const;
    };
    assert.is(await cost(t, upstream, ...refused(0)), 0);
    assertNear(
      await cost(t, upstream, ...refused(200)),
      dollarsFor({ model: OPUS, input: 1000, output: 200 }, []),
      'after some output',
    );
    assertNear(
      await cost(t, upstream, ...refused(0, 'end_turn')),
      dollarsFor({ model: OPUS, input: 1000, output: 0 }, []),
      'no refusal',
    );
    const before = (await t.rows(0)).length;
    const usage = { input_tokens: 1000, output_tokens: 0 };
    upstream.answer(
      streamOf(
        {
          type: 'message_start',
          message: { type: 'message', role: 'assistant', model: OPUS, content: [], usage },
        },
        { type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: { output_tokens: 0 } },
        { type: 'message_stop' },
      ),
    );
    await exchange(t.proxy.port, { body: json(MESSAGE, { model: OPUS, stream: true }) });
    const row = (await t.rows(before + 1)).at(-1)!;
    assert.equal([row.costNanoUsd, row.inputTokensSent, row.outcome], [0, 1000, 'ok']);
  }));

test('a stream corrects its terms as it proceeds, and one that breaks off keeps the requested ones', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const started = (usage: Json) => ({
      type: 'message_start',
      message: { type: 'message', role: 'assistant', model: OPUS, content: [], usage },
    });
    const text = {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'hi' },
    };
    const body = json(MESSAGE, { model: OPUS, stream: true, speed: 'fast' });
    const sums: (number | null)[] = [];
    for (const [start, end] of [
      [{ speed: 'fast' }, { speed: 'standard' }],
      [{}, undefined],
    ] as const) {
      const delta = { type: 'message_delta', delta: {}, usage: { output_tokens: 200, ...end } };
      const done = end === undefined ? [] : [delta, { type: 'message_stop' }];
      upstream.answer(
        streamOf(started({ input_tokens: 1000, output_tokens: 1, ...start }), text, ...done),
      );
      await exchange(t.proxy.port, { body });
      const row = (await t.rows(sums.length + 1)).at(-1)!;
      sums.push(row.costNanoUsd);
      const terms = end === undefined ? ['fast'] : [];
      const expected = dollarsFor(
        { model: OPUS, input: 1000, output: row.outputTokens ?? 0 },
        terms,
      );
      assertNear((row.costNanoUsd ?? 0) / 1e9, expected, JSON.stringify(start));
    }
  }));

/** Returns the amounts in the message of a refusal by a limit. */
async function refusal(t: TestProxy, body: string): Promise<number[]> {
  const refused = await exchange(t.proxy.port, { body });
  assert.is(refused.status, 402, refused.text);
  const text = /estimated at (.*?)\. Send/.exec(refused.text)?.[1] ?? '';
  return [...text.matchAll(/\$(\d+\.\d+)/g)].map(([, amount]) => Number(amount));
}

test('limits estimate a request at the same prices, and report the range', () =>
  withPlainUpstream({ yaml: 'budget: { enabled: true, per_request_usd: 0.000001 }' }, async (t) => {
    const more = { model: OPUS, max_tokens: 100_000 };
    const [plain, least, most] = await refusal(t, json(MESSAGE, more));
    assert.equal([plain, most], [2, 2], 'a long answer to a short question');
    assert.ok(least! < 0.001, `${least}`);
    assert.is((await refusal(t, json(MESSAGE, { ...more, speed: 'fast' })))[0], 4);
    assert.is((await refusal(t, json(MESSAGE, { ...more, inference_geo: 'us' })))[0], 2.2);
    // An unknown tier has no price: the standard price is reserved.
    assert.is((await refusal(t, json(MESSAGE, { ...more, service_tier: 'unheard' })))[0], 2);
  }));

test.after(closeClients);
test.run();
