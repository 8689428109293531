/** Invalid token counts: the request still has its row, and the correction is reported. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { streamOf, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

const GENERATE = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
const RESPONSES = { model: 'gpt-fixture-1', input: 'hello' };
const GENERATE_PATH = '/v1beta/models/gemini-fixture-1:generateContent';

/** The JSON sent as input and output count, and the count in the row. */
const COUNTS: readonly (readonly [string, number | null | 'estimated'])[] = [
  ['11.5', 12],
  ['11', 11],
  ['1e15', 'estimated'],
  ['1e308', 'estimated'],
  ['1e999', 'estimated'],
  ['-5', null],
  ['"7"', null],
  ['{"a":1}', null],
  ['true', null],
];
const NOT_NOTED = new Set(['11', '"7"', '{"a":1}', 'true']);

interface Case {
  readonly path: string;
  readonly body: string;
  readonly answer: object;
}

const CASES: Readonly<Record<string, Case>> = {
  messages: {
    path: '/v1/messages',
    body: json(MESSAGE),
    answer: {
      type: 'message',
      role: 'assistant',
      content: [],
      usage: { input_tokens: '#', output_tokens: '#' },
    },
  },
  chat: {
    path: '/v1/chat/completions',
    body: json(CHAT),
    answer: { choices: [], usage: { prompt_tokens: '#', completion_tokens: '#' } },
  },
  responses: {
    path: '/v1/responses',
    body: JSON.stringify(RESPONSES),
    answer: {
      object: 'response',
      status: 'completed',
      output: [],
      usage: { input_tokens: '#', output_tokens: '#' },
    },
  },
  generative: {
    path: GENERATE_PATH,
    body: JSON.stringify(GENERATE),
    answer: {
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: '#', candidatesTokenCount: '#' },
    },
  },
};

for (const [name, { path, body, answer }] of Object.entries(CASES)) {
  test(`${name}: an unusual token count loses no row and leaves /health ok`, () =>
    withPlainUpstream({}, async (t, upstream) => {
      for (const [index, [sent, kept]] of COUNTS.entries()) {
        const text = JSON.stringify(answer).replaceAll('"#"', sent);
        upstream.answer((response) => {
          response.setHeader('content-type', 'application/json');
          response.end(text);
        });
        const received = await exchange(t.proxy.port, { path, body });
        assert.equal([received.status, received.text], [200, text], 'it is forwarded unchanged');
        const row = (await t.rows(index + 1)).at(-1)!;
        const counted = [row.inputTokensSent, row.outputTokens];
        if (kept !== 'estimated') assert.equal(counted, [kept, kept], sent);
        else {
          // So many tokens are impossible for a request of a few words.
          assert.is(row.usageEstimated, true, sent);
          assert.ok((counted[0] ?? -1) >= 0 && counted[0]! < 100, `${sent}: ${counted[0]}`);
          assert.ok((counted[1] ?? -1) >= 0 && counted[1]! <= 4096, `${sent}: ${counted[1]}`);
        }
        const last = await exchange(t.proxy.port, { method: 'GET', path: '/trace/last' });
        const noted = (JSON.parse(last.text) as { usage_corrected?: true }).usage_corrected;
        assert.is(noted, NOT_NOTED.has(sent) ? undefined : true, sent);
      }
      const health = await exchange(t.proxy.port, { method: 'GET', path: '/health' });
      assert.is((JSON.parse(health.text) as { status: string }).status, 'ok');
      const stats = await exchange(t.proxy.port, { method: 'GET', path: '/stats' });
      assert.is(stats.status, 200);
    }));
}

test('a stream and a translated response with odd counts have their row, too', () =>
  withPlainUpstream({ yaml: 'routing: { primary: chat }' }, async (t, upstream) => {
    const usage = { prompt_tokens: 11.5, completion_tokens: -3, total_tokens: 1e300 };
    const delta = { role: 'assistant', content: 'x' };
    upstream.answer(
      streamOf(
        { id: 'c', choices: [{ index: 0, delta, finish_reason: 'stop' }], usage },
        'data: [DONE]\n\n',
      ),
    );
    for (const [path, base] of [
      ['/v1/chat/completions', CHAT],
      ['/v1/messages', MESSAGE],
    ] as const) {
      const { status } = await exchange(t.proxy.port, { path, body: json(base, { stream: true }) });
      assert.is(status, 200);
    }
    const rows = await t.rows(2);
    assert.equal(
      rows.map((row) => row.inputTokensSent),
      [12, 12],
    );
  }));

test.after(closeClients);
test.run();
