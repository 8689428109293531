/** Ledger rows when the provider reports no usage or only some of it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { request as scenario } from '../../fixtures/upstream.ts';
import { closeClients, exchange, openResponse } from '../../fixtures/server/exchange.ts';
import { bodyOf, clientKey, withPair } from '../../fixtures/forward/pair.ts';
import type { PairOptions, Pair, PairDialect } from '../../fixtures/forward/pair.ts';
import type { LedgerRow } from '../ledger/row.ts';

const DOLLAR = '{ input_cost_per_1m_tokens: 1000000, output_cost_per_1m_tokens: 1000000 }';

/** A local chat server that serves everything, at one dollar per token. */
const local: PairOptions['yaml'] = (url) => `provider: local
providers:
  local: { kind: chat, base_url: "${url}", auth: none, pricing: ${DOLLAR} }
  messages: { pricing: ${DOLLAR} }
budget: { enabled: true, per_day_usd: 1000000 }
`;
/** The built-in providers, at one dollar per token. */
const priced: PairOptions['yaml'] = () => `providers:
  messages: { pricing: ${DOLLAR} }
budget: { enabled: true, per_day_usd: 1000000 }
`;

const event = (payload: object): string => `data: ${JSON.stringify(payload)}\n\n`;
const choice = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const COMPLETION = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  model: 'qwen3',
  choices: [
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello there.' } },
  ],
});
const CHUNKS = [
  event(choice({ role: 'assistant', content: 'Hello ' })),
  event(choice({ content: 'there.' })),
  event(choice({}, 'stop')),
  'data: [DONE]\n\n',
].join('');

/** A response with exactly these bytes. */
const answers = (type: string, body: string) =>
  scenario((connection) =>
    connection.write(
      `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  );

/** A stream that sends these bytes and then stalls. */
const stalls = (body: string) =>
  scenario(async (connection) => {
    await connection.write(
      `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99999999\r\n\r\n${body}`,
    );
    await connection.forever();
  });

const NOTHING = [null, null, null];

test('usage that a translated provider does not report is unmeasured or estimated, and budgeted as such', async () => {
  const before = { held: 0 };
  for (const stream of [false, true]) {
    await withPair({ yaml: local }, async (t) => {
      const answer = stream
        ? answers('text/event-stream', CHUNKS)
        : answers('application/json', COMPLETION);
      t.spare.script(() => {
        before.held = t.proxy.services.spending.view().heldNanoUsd;
        return true;
      }, answer);
      const response = await exchange(t.proxy.port, {
        path: '/v1/messages',
        body: bodyOf('messages', stream),
      });
      assert.is(response.status, 200, response.text);
      assert.match(response.text, stream ? '"output_tokens":0' : '"input_tokens":0');
      const [row] = await t.rows(1);
      assert.equal([row?.outcome, row?.usageEstimated], ['ok', true], `stream ${stream}`);
      const { spentTodayNanoUsd, heldNanoUsd, tokensToday } = t.proxy.services.spending.view();
      assert.ok(before.held > 0);
      assert.is(heldNanoUsd, 0);
      // Streamed output was seen; for a non-streamed response the limits keep the estimate.
      if (stream) {
        assert.ok(row!.outputTokens! > 0 && row!.inputTokensSent! > 0);
        assert.is(spentTodayNanoUsd, row!.costNanoUsd);
      } else {
        assert.equal([row?.inputTokensSent, row?.outputTokens, row?.costNanoUsd], NOTHING);
        assert.is(spentTodayNanoUsd, before.held);
        assert.is(tokensToday, before.held / 1e9);
      }
      assert.is(t.proxy.services.learned.tokenRatio('qwen3'), 1);
    });
  }
});

test('usage that a translated provider reports is metered', () =>
  withPair({ yaml: local }, async (t) => {
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    const reported = JSON.stringify({ ...(JSON.parse(COMPLETION) as object), usage });
    t.spare.script(undefined, answers('application/json', reported));
    await exchange(t.proxy.port, { path: '/v1/messages', body: bodyOf('messages', false) });
    const [row] = await t.rows(1);
    assert.equal([row?.inputTokensSent, row?.outputTokens, row?.costNanoUsd], [7, 3, 10e9]);
  }));

/** Reads until `marker` has arrived, then disconnects. */
async function leaveAfter(t: Pair, dialect: PairDialect, path: string, marker: string) {
  const leave = new AbortController();
  const body = bodyOf(dialect, true);
  const sent = { path, body, headers: clientKey(dialect), signal: leave.signal };
  const response = await openResponse(t.proxy.port, sent);
  let text = '';
  for await (const piece of response) {
    text += String(piece);
    if (text.includes(marker)) break;
  }
  leave.abort();
  return text;
}

const WORDS = 'A cut stream has said these words. ';

function messagesStream(deltas: number): string {
  const usage = { input_tokens: 25, output_tokens: 1 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  const block = { type: 'text', text: '' };
  const named = (payload: { type: string }): string => `event: ${payload.type}\n${event(payload)}`;
  const textDelta = {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: WORDS },
  };
  return [
    named({ type: 'message_start', message } as { type: string }),
    named({ type: 'content_block_start', index: 0, content_block: block } as { type: string }),
    ...Array.from({ length: deltas }, () => named(textDelta)),
    named({ type: 'ping' }),
  ].join('');
}

function expectAbout(row: LedgerRow | undefined, deltas: number, label: string): void {
  assert.equal([row?.outcome, row?.usageEstimated], ['cancelled', true], label);
  // Eight words and a full stop: nine tokens, within the error of an estimate.
  const tokens = (row?.outputTokens ?? 0) / deltas;
  assert.ok(tokens > 6 && tokens < 12, `${label}: ${tokens} tokens for each of ${deltas}`);
}

test('the output of an abandoned stream is estimated from the part that was sent', async () => {
  for (const deltas of [20, 400]) {
    await withPair({ yaml: priced }, async (t) => {
      t.upstream.script(undefined, stalls(messagesStream(deltas)));
      await leaveAfter(t, 'messages', '/v1/messages', '"ping"');
      const [row] = await t.rows(1);
      expectAbout(row, deltas, `messages, ${deltas}`);
      assert.is(row?.inputTokensSent, 25, 'what the provider reported is kept');
      const { spentTodayNanoUsd, heldNanoUsd } = t.proxy.services.spending.view();
      assert.equal([spentTodayNanoUsd, heldNanoUsd], [row?.costNanoUsd, 0]);
    });
  }
});

test('abandoned chat streams and translated streams are estimated, including their input', async () => {
  const texts = [
    ...Array.from({ length: 20 }, () => event(choice({ content: WORDS }))),
    event(choice({ content: 'END' })),
  ].join('');
  for (const [dialect, path] of [
    ['chat', '/v1/chat/completions'],
    ['messages', '/v1/messages'],
  ] as const) {
    await withPair({ yaml: local }, async (t) => {
      t.spare.script(undefined, stalls(texts));
      await leaveAfter(t, dialect, path, 'END');
      const [row] = await t.rows(1);
      expectAbout(row, 20, dialect);
      assert.ok((row?.inputTokensSent ?? 0) > 0, `${dialect}: the input is estimated`);
    });
  }
});

test.after(closeClients);
test.run();
