/**
 * Accounts without credit, keys without permission, and subscriptions at their limit: the next key
 * is used, then the next provider; and what the client gets if there is neither.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { gzipSync } from 'node:zlib';
import { answer as answering } from '../../fixtures/upstream.ts';
import type { Scenario } from '../../fixtures/upstream.ts';
import { jsonAnswer, toAnswer } from '../../fixtures/upstream/answer.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import {
  PATHS,
  bodyOf,
  direct,
  clientKey,
  textBy,
  traceOf,
  withPair,
  withSpare,
} from '../../fixtures/forward/pair.ts';
import type { Pair } from '../../fixtures/forward/pair.ts';

interface Refusal {
  readonly name: string;
  readonly status: number;
  readonly error: object;
  /** True if it applies to every request with the key, which is then not used for a while. */
  readonly causesCooldown: boolean;
  /** True if a client with a key of its own goes to the next provider, too. */
  readonly forOwnKey: boolean;
}

const noCredit = (name: string, status: number, error: object): Refusal => ({
  name,
  status,
  error,
  causesCooldown: true,
  forOwnKey: true,
});

const GOOGLE_INVALID_KEY = 'Google, key not valid';

const REFUSALS: readonly Refusal[] = [
  noCredit('Anthropic, no credit', 400, {
    type: 'invalid_request_error',
    message: 'Your credit balance is too low to access this API. Please buy credits.',
  }),
  noCredit('Anthropic, own limit', 400, {
    type: 'invalid_request_error',
    message: 'You have reached your specified API usage limits. You regain access on 2026-12-01.',
  }),
  noCredit('billing error', 402, {
    type: 'billing_error',
    message: 'There is a problem with billing.',
  }),
  noCredit('DeepSeek', 402, { message: 'Insufficient Balance', code: 'invalid_request_error' }),
  noCredit('OpenAI, quota', 429, {
    code: 'insufficient_quota',
    type: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan.',
  }),
  noCredit('OpenAI, hard limit', 400, {
    code: 'billing_hard_limit_reached',
    message: 'Billing hard limit has been reached',
  }),
  noCredit('xAI', 403, { message: 'Your team has used all available credits for this month.' }),
  noCredit('DashScope', 400, { code: 'Arrearage', message: 'Access denied.' }),
  {
    name: GOOGLE_INVALID_KEY,
    status: 400,
    error: {
      code: 400,
      message: 'API key not valid. Please pass a valid API key.',
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
    },
    causesCooldown: true,
    forOwnKey: false,
  },
  {
    name: 'forbidden',
    status: 403,
    error: { type: 'permission_error', message: 'Your key may not use this resource.' },
    causesCooldown: true,
    forOwnKey: false,
  },
  {
    name: 'no access to the model',
    status: 403,
    error: { code: 'model_not_found', message: 'This project may not use the model o9.' },
    causesCooldown: false,
    forOwnKey: false,
  },
];

const KEYS = `
providers:
  messages: { oauth_token: key-two }`;
const FIRST = { MSGPROV_API_KEY: 'key-one' };
const REQUEST = { path: PATHS.messages, body: bodyOf('messages', false) };

function refusing(
  { status, error }: Omit<Refusal, 'causesCooldown' | 'forOwnKey'>,
  packed = false,
): Scenario {
  const document = { type: 'error', error };
  if (!packed) return answering(() => jsonAnswer(status, document));
  const bytes = gzipSync(JSON.stringify(document));
  const fields = [
    ['Content-Type', 'application/json'],
    ['Content-Encoding', 'gzip'],
  ] as const;
  return answering(() => toAnswer(status, fields, [bytes]));
}

const keyState = (t: Pair, index: number) =>
  t.proxy.services.states.get('messages')!.keys.view()[index]!;

test('after a refused key the next key is used, then the next provider', () =>
  withPair({ yaml: withSpare('chat', KEYS), env: FIRST }, async (t) => {
    let sent = 0;
    for (const [at, refusal] of [REFUSALS[0]!, ...REFUSALS].entries()) {
      const name = `${refusal.name}${at === 0 ? ', encoded' : ''}`;
      const scenario = refusing(refusal, at === 0);
      t.upstream.reset();
      t.recover();
      t.upstream.script((received) => received.headerBytes.includes('key-one'), scenario);
      const response = await exchange(t.proxy.port, REQUEST);
      assert.is(response.status, 200, name);
      const { attempts } = await traceOf(t, response);
      assert.equal(
        attempts.map((each) => [each.provider, each.status]),
        [
          ['messages', refusal.status],
          ['messages', 200],
        ],
        name,
      );
      const { state, waitMs } = keyState(t, 0);
      assert.is(state, refusal.causesCooldown ? 'refused' : 'usable', name);
      if (refusal.causesCooldown) assert.ok(waitMs > 200_000, `${name}: cooldown of ${waitMs} ms`);
      await exchange(t.proxy.port, REQUEST);
      const usedFirstKey = t.upstream.requests.map((received) =>
        received.headerBytes.includes('key-one'),
      );
      const expected = refusal.causesCooldown ? [true, false, false] : [true, false, true, false];
      assert.equal(usedFirstKey, expected, name);

      t.upstream.script(undefined, scenario);
      t.recover();
      const other = await exchange(t.proxy.port, REQUEST);
      assert.is(other.status, 200, name);
      const spare = await direct(t.spare, { path: PATHS.chat, body: bodyOf('chat', false) });
      assert.is(textBy('messages', false, other.text), textBy('chat', false, spare.text));
      assert.is((await traceOf(t, other)).attempts.at(-1)?.provider, 'spare', name);
      sent += 3;
    }
    const rows = await t.rows(sent);
    assert.ok(rows.every((row) => row.outcome === 'ok'));
  }));

test('without another key or provider the client gets the error unchanged', () =>
  withPair({ yaml: withSpare(undefined, KEYS), env: FIRST }, async (t) => {
    let sent = 0;
    for (const refusal of REFUSALS) {
      const { name, status, causesCooldown, forOwnKey } = refusal;
      t.recover();
      const stop = t.upstream.script(undefined, refusing(refusal));
      const response = await exchange(t.proxy.port, REQUEST);
      assert.is(response.status, status, name);
      assert.ok(response.body.equals((await direct(t.upstream, REQUEST)).body), name);
      const row = (await t.rows((sent += 1))).at(-1);
      assert.equal([row?.outcome, row?.status, row?.provider], ['error', status, 'messages'], name);
      if (causesCooldown) {
        // No request is sent while both keys are cooling down.
        const again = await exchange(t.proxy.port, REQUEST);
        const { error } = JSON.parse(again.text) as { error: { code: string; message: string } };
        assert.equal([again.status, error.code], [502, 'PROVIDER_001'], name);
        const why = forOwnKey ? 'No credit left' : 'Permission denied';
        const reason = name === GOOGLE_INVALID_KEY ? 'Invalid API key' : `${why} (${status})`;
        assert.is(error.message, `Provider rejected request: ${reason}`);
        sent += 1;
      }
      stop();
    }
  }));

test('a client with its own key is served by the next provider if its account has no credit', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    for (const refusal of REFUSALS) {
      t.upstream.reset();
      t.spare.reset();
      t.upstream.script(undefined, refusing(refusal));
      const response = await exchange(t.proxy.port, { ...REQUEST, headers: clientKey('messages') });
      const original = await direct(refusal.forOwnKey ? t.spare : t.upstream, REQUEST);
      assert.is(response.status, original.status, refusal.name);
      assert.ok(response.body.equals(original.body), refusal.name);
      assert.is(t.spare.requests.length, refusal.forOwnKey ? 2 : 0, refusal.name);
    }
  }));

test('a refusal of the request does not count against the key', () =>
  withPair({ yaml: withSpare('messages', KEYS), env: FIRST }, async (t) => {
    for (const [status, message] of [
      [403, 'The input was flagged by moderation: violence.'],
      [400, 'messages.0: the text "credit card" is not allowed here'],
    ] as const) {
      const before = t.upstream.requests.length;
      const stop = t.upstream.script(undefined, refusing({ name: '', status, error: { message } }));
      const response = await exchange(t.proxy.port, REQUEST);
      assert.is(response.status, status);
      assert.ok(response.body.equals((await direct(t.upstream, REQUEST)).body));
      stop();
      assert.is(t.upstream.requests.length - before, 2);
      assert.is(keyState(t, 0).state, 'usable');
    }
    assert.is(t.spare.requests.length, 0);
  }));

test('a lack of credit at a chat provider is reported in the form of the messages dialect', () =>
  withPair(
    {
      yaml: (url) =>
        `provider: local\nproviders:\n  local: { kind: chat, base_url: "${url}", api_key: k }`,
    },
    async (t) => {
      t.spare.script(undefined, refusing({ name: '', status: 402, error: { message: 'Pay.' } }));
      const response = await exchange(t.proxy.port, REQUEST);
      assert.is(response.status, 402);
      assert.match(
        response.text,
        /^\{"type":"error","error":\{"type":"\w+_error","message":"Pay\./,
      );
    },
  ));

const SUBSCRIPTION = {
  authorization: 'Bearer sk-ant-oat01-abc',
  'anthropic-beta': 'oauth-2025-04-20',
};
const CODING = json(MESSAGE, {
  model: 'claude-opus-4-8',
  metadata: { user_id: 'u' },
  odd: [1e21, 1.5],
});
const LIMIT = refusing({
  name: '',
  status: 429,
  error: { type: 'rate_limit_error', message: "This would exceed your account's rate limit." },
});
const subscribed = (t: Pair) =>
  exchange(t.proxy.port, { path: PATHS.messages, body: CODING, headers: SUBSCRIPTION });

test('a subscription at its limit falls back to another kind, and its own provider gets unchanged bytes', () =>
  withPair(
    {
      yaml: (url) => `
providers:
  spare: { kind: chat, base_url: "${url}", api_key: spare-key }
fallback: [spare/local-model]
`,
    },
    async (t) => {
      t.upstream.script(undefined, LIMIT);
      for (let turn = 1; turn <= 3; turn += 1) {
        const response = await subscribed(t);
        assert.is(response.status, 200, response.text);
        assert.match(response.text, '"type":"message"');
        const own = t.upstream.requests.at(-1)!;
        assert.equal([t.upstream.requests.length, own.body.toString()], [turn, CODING]);
        assert.is(own.header('authorization'), SUBSCRIPTION.authorization);
        const other = t.spare.requests.at(-1)!;
        assert.is(other.path, '/v1/chat/completions');
        assert.match(other.body.toString(), '"model":"local-model"');
        assert.not.match(other.headerBytes.toString(), 'sk-ant-oat');
      }
    },
  ));

const ROUTES: readonly (readonly [name: string, yaml: string])[] = [
  ['routing.primary', 'routing: { primary: spare }\n'],
  ['models', 'models:\n  claude-opus-4-8: { provider: spare }\n'],
];

for (const [name, more] of ROUTES) {
  test(`a subscription's request goes to a local model by ${name}`, () =>
    withPair(
      {
        yaml: (url) =>
          `providers:\n  spare: { kind: chat, base_url: "${url}", auth: none, model_aliases: { claude-opus-4-8: local-model } }\n${more}`,
      },
      async (t) => {
        const response = await subscribed(t);
        assert.is(response.status, 200, response.text);
        assert.is(t.upstream.requests.length, 0);
        const other = t.spare.requests.at(-1)!;
        assert.match(other.body.toString(), '"model":"local-model"');
        assert.not.match(other.headerBytes.toString(), 'sk-ant-oat');
      },
    ));
}

test('a rule may send a subscription to a local model but not to another model of its own provider', () =>
  withPair(
    {
      yaml: (url) => `providers:\n  spare: { kind: chat, base_url: "${url}", auth: none }\n`,
      env: { SVC_ROUTER_ENABLED: '1' },
    },
    async (t) => {
      const { router } = t.proxy.services;
      const rule = (target: string) => router.use([{ id: 'r1', target, priority: 0 }]);
      rule('spare/local-model');
      assert.is((await subscribed(t)).status, 200);
      assert.match(t.spare.requests.at(-1)!.body.toString(), '"model":"local-model"');
      rule('messages/claude-haiku-4-5');
      assert.is((await subscribed(t)).status, 200);
      assert.is(t.upstream.requests.at(-1)!.body.toString(), CODING);
    },
  ));

test.after(closeClients);
test.run();
