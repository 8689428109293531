/** Usage that no list has a price for: its row is unpriced, never too cheap. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  RESPONSES,
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
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const PLAIN = { input_tokens: 1000, output_tokens: 200 };
const OPUS = 'claude-opus-5-5';

test('usage without a price makes the row unpriced and names what is missing', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const missing = async (): Promise<unknown> => {
      const { text } = await exchange(t.proxy.port, { method: 'GET', path: '/trace/last' });
      return (JSON.parse(text) as { unpriced?: unknown }).unpriced;
    };
    const figures = { prompt_tokens: 10, completion_tokens: 2 };
    const cases = [
      [message(OPUS, { ...PLAIN, service_tier: 'priority' }), `tier priority of ${OPUS}`],
      [message(OPUS, { ...PLAIN, inference_geo: 'eu' }), `region eu of ${OPUS}`],
      [
        message('claude-sonnet-5-5', { ...PLAIN, speed: 'fast' }),
        'speed fast of claude-sonnet-5-5',
      ],
      [chat('gpt-5', figures, { service_tier: 'scale' }), 'tier scale of gpt-5'],
      [chat('nobody-knows', figures), 'model nobody-knows'],
    ] as const;
    for (const [[sent, answer], what] of cases) {
      assert.is(await cost(t, upstream, sent, answer), null, what);
      assert.equal(await missing(), [what]);
    }
    const advisor = { type: 'advisor_message', model: 'nobody', input_tokens: 5, output_tokens: 5 };
    const advised = message(OPUS, { ...PLAIN, iterations: [advisor] });
    assert.is(await cost(t, upstream, ...advised), null);
    assert.equal(await missing(), ['model nobody']);
  }));

test('extra work of the provider without a known price is never counted as free', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const missing = async (): Promise<unknown> => {
      const { text } = await exchange(t.proxy.port, { method: 'GET', path: '/trace/last' });
      return (JSON.parse(text) as { unpriced?: unknown }).unpriced;
    };
    const own = { input_tokens: 1000, output_tokens: 200, total_tokens: 1200 };
    const item = (type: string, more: Json = {}) => ({
      type,
      id: type,
      status: 'completed',
      ...more,
    });
    const charged = [
      [item('image_generation_call'), 'image_generation_call of gpt-5'],
      [item('code_interpreter_call'), 'code_interpreter_call of gpt-5'],
      [item('shell_call', { environment: { type: 'container_reference' } }), 'shell_call of gpt-5'],
    ] as const;
    const streams = async (output: readonly Json[], isWhole: boolean) => {
      const before = (await t.rows(0)).length;
      const start = { model: 'gpt-5', status: 'in_progress', output: [], usage: null };
      const whole = { ...start, status: 'completed', output, usage: own };
      upstream.answer(
        streamOf(
          { type: 'response.created', response: start },
          ...output.map((one) => ({ type: 'response.output_item.done', item: one })),
          { type: 'response.output_text.delta', delta: 'some words of an answer' },
          ...(isWhole ? [{ type: 'response.completed', response: whole }] : []),
        ),
      );
      const body = { ...RESPONSES, model: 'gpt-5', stream: true };
      await exchange(t.proxy.port, { path: '/v1/responses', body: JSON.stringify(body) });
      return (await t.rows(before + 1)).at(-1)!.costNanoUsd;
    };
    for (const [one, what] of charged) {
      for (const long of ['', 'x'.repeat(40_000)]) {
        const output = [{ ...one, result: long }, item('message')];
        assert.is(await cost(t, upstream, ...response('gpt-5', own, { output })), null, what);
        assert.equal(await missing(), [what]);
        assert.is(await streams(output, true), null, what);
        assert.equal(await missing(), [what]);
        assert.is(await streams(output, false), null, what);
      }
    }
    const free = ['function_call', 'custom_tool_call', 'mcp_call', 'computer_call', 'reasoning'];
    const output = [...free, 'local_shell_call', 'apply_patch_call', 'tool_search_call'].map(
      (type) => item(type),
    );
    output.push(item('shell_call', { environment: { type: 'local' } }));
    const plain = dollarsFor({ model: 'gpt-5', input: 1000, output: 200 }, []);
    assertNear(await cost(t, upstream, ...response('gpt-5', own, { output })), plain, 'free');
    assert.ok((await streams(output, true))! > 0);

    const counted = (counters: Json) => message(OPUS, { ...PLAIN, server_tool_use: counters });
    assert.is(await cost(t, upstream, ...counted({ code_rendering_requests: 2 })), null);
    assert.equal(await missing(), [`code_rendering_requests of ${OPUS}`]);
    const opus = dollarsFor({ model: OPUS, input: 1000, output: 200 }, []);
    const nothing = { web_fetch_requests: 4, tool_search_requests: 2, code_rendering_requests: 0 };
    assertNear(await cost(t, upstream, ...counted(nothing)), opus, 'free counters');
    const figures = { prompt_tokens: 10, completion_tokens: 2 };
    for (const more of [
      { num_sources_used: 3 },
      { server_side_tool_usage_details: { x_search_calls: 2, mcp_calls: 0 } },
    ])
      assert.is(await cost(t, upstream, ...chat('gpt-5', { ...figures, ...more })), null);
    assert.is(await cost(t, upstream, ...chat('gpt-4o-search-preview', figures)), null);
    const google = { promptTokenCount: 1000, candidatesTokenCount: 200 };
    const chunks = [{ web: { uri: 'x' } }, { maps: { uri: 'y' } }];
    const mapped = { groundingMetadata: { groundingChunks: chunks } };
    assert.is(await cost(t, upstream, ...generate('gemini-2.5-flash', google, mapped)), null);
    assert.equal(await missing(), ['maps of gemini-2.5-flash']);
  }));

test('a budget counts the known part of a request without a price', () =>
  withPlainUpstream(
    { yaml: 'budget: { enabled: true, per_day_usd: 1000 }' },
    async (t, upstream) => {
      const spent = () => t.proxy.services.spending.view().spentTodayNanoUsd / 1e9;
      const usage = { input_tokens: 1000, output_tokens: 200, service_tier: 'priority' };
      assert.is(await cost(t, upstream, ...message(OPUS, usage)), null);
      assertNear(spent(), dollarsFor({ model: OPUS, input: 1000, output: 200 }, []), 'spent');
      const iterations = [{ type: 'compaction', input_tokens: 100_000, output_tokens: 10 }];
      const before = spent();
      const found = await cost(t, upstream, ...message(OPUS, { ...PLAIN, iterations }));
      assertNear(spent() - before, found ?? undefined, 'a compaction');
    },
  ));

test.after(closeClients);
test.run();
