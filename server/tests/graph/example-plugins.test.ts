/**
 * The plugins in `fixtures/plugins` and `examples/redaction`: what the provider receives with each,
 * and what the client gets.
 */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixturePath, projectRoot } from '../../../fixtures/paths.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { answer } from '../../../fixtures/upstream.ts';
import { toAnswer } from '../../../fixtures/upstream/answer.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

test.after(closeClients);

const ADDRESS = 'ada.lovelace@example.org';
const SALT = 'a salt of this test';

const REDACT = join(projectRoot, 'examples/redaction/redact.mjs');

const yamlOf = (module: string, config: object) =>
  `plugins:\n  - module: ${JSON.stringify(module)}\n    config: ${JSON.stringify(config)}\n`;

const ask = (t: TestProxy, body: string, headers = {}, path = '/v1/messages') =>
  exchange(t.proxy.port, { path, body, headers });

const messageWith = (text: string) => ({ ...MESSAGE, messages: [{ role: 'user', content: text }] });

/** Returns the mark in the last request that the provider got. */
function markIn(t: TestProxy): string {
  const sent = t.upstream.requests.at(-1)?.body.toString() ?? '';
  assert.not.match(sent, /lovelace/);
  const mark = /<email-[0-9a-f]{8}>/.exec(sent)?.[0];
  assert.ok(mark, sent);
  return mark;
}

/** Returns the bytes of a messages stream with these deltas. */
function streamOf(deltas: readonly object[]): Buffer {
  const events = [
    { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: {} } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ];
  const lines = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return Buffer.from(lines.join(''));
}

const respondWith = (type: string, body: Buffer) =>
  answer(() => toAnswer(200, [['content-type', type]], [body]));

test('personal data does not reach the provider and is restored in the response', () =>
  withProxy({ yaml: yamlOf(REDACT, { salt: SALT, words: ['Ada'] }) }, async (t) => {
    await ask(t, JSON.stringify(messageWith(`I am Ada. Write to ${ADDRESS} or +44 20 7946 0958.`)));
    const sent = t.upstream.requests[0]!.body.toString();
    const mark = markIn(t);
    assert.not.match(sent, /\bAda\b|7946/);
    const text = `Written to ${mark}.`;
    const body = { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text }] };
    t.upstream.script(
      undefined,
      respondWith('application/json', Buffer.from(JSON.stringify({ ...body, usage: {} }))),
    );
    const response = await ask(t, JSON.stringify(messageWith(`Write to ${ADDRESS}, Ada.`)));
    assert.is(markIn(t), mark, 'the same mark in every request');
    assert.match(
      response.text,
      new RegExp(`Written to ${ADDRESS.replaceAll('.', String.raw`\.`)}\\.`),
    );
    assert.is(
      response.headers['content-length'] ?? `${response.body.length}`,
      `${response.body.length}`,
    );
    assert.ok(response.whole);
  }));

test('a placeholder split between events, or escaped in arguments, is replaced in streams', () =>
  withProxy({ yaml: yamlOf(REDACT, { salt: SALT, words: ['say "hi"'] }) }, async (t) => {
    const body = JSON.stringify({ ...messageWith(`say "hi" to ${ADDRESS}`), stream: true });
    await ask(t, body);
    const mark = markIn(t);
    const word = /<word-[0-9a-f]{8}>/.exec(t.upstream.requests[0]!.body.toString())![0];
    for (let cut = 1; cut < mark.length; cut += 1) {
      const deltas = [`a < b, to ${mark.slice(0, cut)}`, `${mark.slice(cut)} now <em`].map(
        (text) => ({ type: 'text_delta', text }),
      );
      t.upstream.script(undefined, respondWith('text/event-stream', streamOf(deltas)));
      const { text, whole } = await ask(t, body);
      assert.ok(whole);
      const texts = [...text.matchAll(/"text":"((?:[^"\\]|\\.)+)"/g)].map((match) => match[1]);
      assert.is(texts.join(''), `a < b, to ${ADDRESS} now <em`, `cut at ${cut}`);
    }
    const pieces = [`{"text":"${word.slice(0, 4)}`, `${word.slice(4)}"}`];
    const deltas = pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
    t.upstream.script(undefined, respondWith('text/event-stream', streamOf(deltas)));
    const { text, whole } = await ask(t, body);
    assert.ok(whole, 'the restored text is shorter than its placeholder');
    const written = [...text.matchAll(/"partial_json":("(?:[^"\\]|\\.)*")/g)]
      .map((match) => JSON.parse(match[1]!) as string)
      .join('');
    assert.equal(JSON.parse(written), { text: 'say "hi"' });
  }));

test('personal data of chat clients is restored too', () =>
  withProxy({ yaml: yamlOf(REDACT, { salt: SALT }) }, async (t) => {
    const messages = [{ role: 'user', content: `Write to ${ADDRESS}` }];
    const body = JSON.stringify({ ...CHAT, messages, stream: true });
    await ask(t, body, {}, '/v1/chat/completions');
    const mark = markIn(t);
    const events = [mark.slice(0, 9), mark.slice(9)]
      .map((content) => ({
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { content } }],
      }))
      .map((event) => `data: ${JSON.stringify(event)}\n\n`);
    const bytes = Buffer.from(`${events.join('')}data: [DONE]\n\n`);
    t.upstream.script(undefined, respondWith('text/event-stream', bytes));
    const { text } = await ask(t, body, {}, '/v1/chat/completions');
    const texts = [...text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]);
    assert.is(texts.join(''), ADDRESS);
    assert.match(text, /\[DONE\]/);
  }));

test('a salt that is easy to guess stops the start', async () => {
  const start = withProxy({ yaml: yamlOf(REDACT, { salt: 'x' }) }, async () => undefined);
  await start.then(
    () => assert.unreachable(),
    (thrown: Error) => assert.match(thrown.message, /salt: a text of 8 characters or more/),
  );
});

const PRICED =
  'providers: { messages: { pricing: { input_cost_per_1m_tokens: 3, output_cost_per_1m_tokens: 15 } } }\n';

test('a cap above the estimate lets a request pass, and one below it refuses', () =>
  withProxy(
    { yaml: `${yamlOf(fixturePath('plugins', 'cost-cap.mjs'), {})}${PRICED}` },
    async (t) => {
      const body = json({ ...MESSAGE, max_tokens: 1000 });
      // 1,000 output tokens at $15 a million, and a little input.
      const passed = await ask(t, body, { 'x-cost-cap-usd': '0.02' });
      assert.is(passed.status, 200, passed.text);
      const refused = await ask(t, body, { 'x-cost-cap-usd': '0.01' });
      assert.is(refused.status, 402);
      assert.match(refused.text, /Estimated at \$0\.015\d, above the cap of \$0\.01/);
      const unreadable = await ask(t, body, { 'x-cost-cap-usd': 'much' });
      assert.is(unreadable.status, 400);
      assert.is((await ask(t, body)).status, 200, 'no cap');
      assert.is(t.upstream.requests.length, 2);
    },
  ));

test('a request without a price passes, unless the configuration says otherwise', async () => {
  for (const [unknown, status] of [
    ['pass', 200],
    ['refuse', 402],
  ] as const)
    await withProxy(
      { yaml: yamlOf(fixturePath('plugins', 'cost-cap.mjs'), { default_usd: 1, unknown }) },
      async (t) => {
        const body = json({ ...MESSAGE, model: 'a-model-without-a-price' });
        assert.is((await ask(t, body)).status, status);
      },
    );
});

test('a signed request carries the signature of what was sent', async () => {
  const module = fixturePath('plugins', 'aws-signed.mjs');
  const { signatureOf } = (await import(module)) as {
    readonly signatureOf: (of: object) => Record<string, string>;
  };
  // The credentials in AWS's published signing example.
  const credentials = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
  const known = signatureOf({
    path: '/',
    headers: { host: 'example.amazonaws.com' },
    body: '',
    timestamp: '20150830T123600Z',
    region: 'us-east-1',
    service: 'service',
    credentials,
  });
  assert.match(
    known['authorization']!,
    /Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b$/,
  );
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: credentials.id,
    AWS_SECRET_ACCESS_KEY: credentials.secret,
  });
  try {
    await withProxy({}, async (t) => {
      const host = new URL(t.upstream.url).host;
      process.env['SIGNED_GATEWAY_URL'] = t.upstream.url;
      t.configure(
        `custom_providers:\n  - { module: ${module}, name: aws-signed }\nrouting: { primary: aws-signed }\n`,
      );
      await t.proxy.reload();
      assert.is((await ask(t, json(MESSAGE))).status, 200);
      const sent = t.upstream.requests[0]!;
      const again = signatureOf({
        path: sent.path,
        headers: { host, 'content-type': 'application/json' },
        body: sent.body,
        timestamp: sent.header('x-amz-date'),
        region: 'us-east-1',
        credentials,
      });
      assert.is(sent.header('authorization'), again['authorization']);
    });
  } finally {
    delete process.env['AWS_ACCESS_KEY_ID'];
    delete process.env['AWS_SECRET_ACCESS_KEY'];
    delete process.env['SIGNED_GATEWAY_URL'];
  }
});

test.run();
