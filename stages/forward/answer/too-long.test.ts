/**
 * "Too long" errors are worded so that each client compacts, for every kind of provider, in
 * documents and streams.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer } from '../../../fixtures/upstream.ts';
import { jsonAnswer, streamAnswer, toEvent } from '../../../fixtures/upstream/answer.ts';
import type { Answer } from '../../../fixtures/upstream/answer.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { payloads, withPair } from '../../../fixtures/forward/pair.ts';

const KINDS = ['messages', 'chat', 'generative'] as const;
type Kind = (typeof KINDS)[number];

/** The providers' messages, most of them with both figures. */
const ERRORS_BY_KIND: Record<Kind, readonly object[]> = {
  messages: [
    invalid('prompt is too long: 213462 tokens > 200000 maximum'),
    invalid(
      'input length and `max_tokens` exceed context limit: 192129 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    ),
  ],
  chat: [
    coded(
      "This model's maximum context length is 200000 tokens. However, your messages resulted in 213462 tokens. Please reduce the length of the messages.",
      'context_length_exceeded',
    ),
    coded(
      "The input (213462 tokens) is longer than the model's context length (200000 tokens).",
      null,
    ),
    coded('Something went wrong', 'context_length_exceeded'),
    coded('Invalid request: Your request exceeded model token limit: 262144', null),
    {
      object: 'error',
      message: 'the request exceeds the available context size, try to increase it',
      code: 400,
    },
  ],
  generative: [
    {
      error: {
        code: 400,
        message:
          'The input token count (213462) exceeds the maximum number of tokens allowed (200000).',
        status: 'INVALID_ARGUMENT',
      },
    },
  ],
};

function invalid(message: string): object {
  return { type: 'error', error: { type: 'invalid_request_error', message } };
}

function coded(message: string, code: string | null): object {
  return { error: { message, type: 'invalid_request_error', param: null, code } };
}

/** Returns a stream of `kind` that starts and then fails with this error. */
function failing(kind: Kind, error: object): Answer {
  if (kind === 'generative') return streamAnswer([toEvent(error)]);
  return streamAnswer([toEvent(error, kind === 'messages' ? 'error' : undefined)]);
}

const CLIENTS = {
  messages: {
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
  },
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  },
  responses: { path: '/v1/responses', body: { model: 'm', input: 'hi' } },
  generative: {
    path: '/v1beta/models/m:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  },
} as const;
type Client = keyof typeof CLIENTS;

/** Checks the text that each client looks for, and the fields around it. */
function expectTooLong(client: Client, value: Record<string, unknown>, name: string): void {
  const error = value['error'] as Record<string, unknown>;
  const message = String(error['message']);
  switch (client) {
    case 'messages':
      assert.is(error['type'], 'invalid_request_error', name);
      assert.match(message, /^prompt is too long/, name);
      break;
    case 'generative':
      assert.equal([error['code'], error['status']], [400, 'INVALID_ARGUMENT'], name);
      assert.match(message, /^The input token count.* exceeds the maximum number of tokens/, name);
      break;
    default:
      assert.is(error['code'], 'context_length_exceeded', name);
      assert.match(message, /maximum context length|exceeds the context window/, name);
  }
  // If both figures are known the client gets them, so that it can leave out as much as needed.
  if (client !== 'responses' && name.endsWith(' 0'))
    assert.ok(message.includes('213462') && message.includes('200000'), `${name}: ${message}`);
}

for (const client of Object.keys(CLIENTS) as Client[]) {
  for (const kind of KINDS.filter((each) => each !== client)) {
    test(`a ${client} client recognises a too-long error of a ${kind} provider`, () => {
      const yaml = (url: string): string =>
        `providers: { other: { kind: ${kind}, base_url: "${url}", api_key: k } }\nrouting: { primary: other }\n`;
      return withPair({ yaml }, async (t) => {
        for (const [at, error] of ERRORS_BY_KIND[kind].entries()) {
          const ask = async (stream: boolean) => {
            const { path, body } = CLIENTS[client];
            const target =
              stream && client === 'generative'
                ? path.replace('generateContent', 'streamGenerateContent?alt=sse')
                : path;
            const more = stream && client !== 'generative' ? { stream: true } : {};
            return exchange(t.proxy.port, {
              path: target,
              body: JSON.stringify({ ...body, ...more }),
            });
          };
          t.spare.reset();
          t.spare.script(
            undefined,
            answer(() => jsonAnswer(400, error)),
          );
          t.spare.script('/v1/responses', '404');
          const whole = await ask(false);
          const name = `${client} by ${kind} ${at}`;
          assert.is(whole.status, 400, `${name}: ${whole.text}`);
          expectTooLong(client, JSON.parse(whole.text) as Record<string, unknown>, name);
          const refused = await ask(true);
          if (client === 'responses') {
            // Codex compacts only if the error is in the stream.
            assert.is(refused.status, 200, `${name}: ${refused.text}`);
            const last = payloads(refused.text).at(-1)!;
            assert.is(last['type'], 'response.failed', name);
            expectTooLong(client, last['response'] as Record<string, unknown>, name);
          } else assert.equal([refused.status, refused.text], [400, whole.text], name);
          // No provider sends an unnamed error inside a stream.
          if (!('error' in error)) continue;
          t.spare.reset();
          t.spare.script(
            undefined,
            answer(() => failing(kind, error)),
          );
          t.spare.script('/v1/responses', '404');
          const streamed = await ask(true);
          assert.is(streamed.status, 200, `${name}, streamed: ${streamed.text}`);
          const last = payloads(streamed.text).at(-1)!;
          const payload = (last['response'] ?? last) as Record<string, unknown>;
          const failure = payload['error'] === undefined ? { error: payload } : payload;
          expectTooLong(client, failure, `${name}, streamed ${at}`);
        }
        const rows = await t.rows(ERRORS_BY_KIND[kind].length * 2);
        const outcomes = rows.map(({ outcome }) => outcome);
        assert.not.ok(outcomes.includes('ok'), outcomes.join());
      });
    });
  }
}

test('an error that only mentions tokens is not taken for a too-long error', () => {
  const yaml = (url: string): string =>
    `providers: { other: { kind: chat, base_url: "${url}", api_key: k } }\nrouting: { primary: other }\n`;
  return withPair({ yaml }, async (t) => {
    for (const [status, message] of [
      [
        429,
        'Rate limit reached: Limit 30000 tokens per min, please reduce the length of your messages',
      ],
      [400, 'max_tokens is too large: 9000. This model supports at most 4096 completion tokens'],
    ] as const) {
      t.spare.script(
        undefined,
        answer(() => jsonAnswer(status, coded(message, null))),
      );
      const { path, body } = CLIENTS.messages;
      const response = await exchange(t.proxy.port, { path, body: JSON.stringify(body) });
      assert.not.match(response.text, 'prompt is too long');
    }
  });
});

test.after(closeClients);
test.run();
