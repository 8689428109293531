/** `stream_options` of a chat stream: added if the client sets none, otherwise left as sent. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { CHAT, closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const path = '/v1/chat/completions';

test('stream options of the client are sent unchanged', () =>
  withProxy({}, async (t) => {
    const texts = [
      '{"include_usage":false}',
      '{"include_usage":true}',
      '{"include_usage":null}',
      '{"include_usage":"no","other":1}',
      'null',
      '"x"',
      'true',
      '0',
      '[]',
      '[{"include_usage":true}]',
    ];
    for (const [index, options] of texts.entries()) {
      const body = `${JSON.stringify({ ...CHAT, stream: true }).slice(0, -1)},"stream_options":${options}}`;
      await exchange(t.proxy.port, { path, body });
      assert.is(t.upstream.requests.at(-1)?.body.toString(), body);
      await t.rows(index + 1);
    }
    const [row] = await t.rows(texts.length);
    assert.ok(row?.outputTokens !== null, 'without the usage chunk it is estimated');
    assert.is(row?.usageEstimated, true);
  }));

test('a missing usage option is added, and all other options stay', () =>
  withProxy({}, async (t) => {
    for (const [options, sent] of [
      [undefined, { include_usage: true }],
      [{}, { include_usage: true }],
      [{ other: 1 }, { other: 1, include_usage: true }],
    ] as const) {
      const body = JSON.stringify({ ...CHAT, stream: true, stream_options: options });
      const response = await exchange(t.proxy.port, { path, body });
      const forwarded = JSON.parse(t.upstream.requests.at(-1)!.body.toString()) as object;
      assert.equal((forwarded as { stream_options: unknown }).stream_options, sent);
      assert.not.match(response.text, '"choices":[]');
    }
  }));

test('a burst arrives as it was sent, without the usage that we requested, which has its row', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'burst', { count: 300 });
    const stream = { ...CHAT, stream: true };
    const response = await exchange(t.proxy.port, {
      path,
      body: JSON.stringify({ ...stream, stream_options: { include_usage: true } }),
    });
    const unasked = await exchange(t.proxy.port, { path, body: JSON.stringify(stream) });
    const events = response.text.split('\n\n').filter((event) => !event.includes('"choices":[]'));
    assert.ok(response.body.length > 64 * 1024, 'the body arrives in several reads');
    assert.is(unasked.text, events.join('\n\n'));
    const [first, second] = await t.rows(2);
    assert.ok((first?.outputTokens ?? 0) > 0);
    assert.is(second?.outputTokens, first?.outputTokens);
    assert.is(second?.usageEstimated, false);
  }));

test('options added by the configuration take precedence', () => {
  const yaml = 'providers: {chat: {extra_body: {stream_options: {include_usage: false}}}}';
  return withProxy({ yaml }, async (t) => {
    await exchange(t.proxy.port, { path, body: JSON.stringify({ ...CHAT, stream: true }) });
    const forwarded = JSON.parse(t.upstream.requests.at(-1)!.body.toString()) as object;
    assert.equal((forwarded as { stream_options: unknown }).stream_options, {
      include_usage: false,
    });
  });
});

test.after(closeClients);
test.run();
