/** The limits that providers state with their answers, from the wire to `/limits`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { moreFields } from '../../fixtures/upstream/more-fields.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import type { LimitJson } from '../facts/limits.ts';

/** Answers state these fields from now on. */
const state = (t: TestProxy, fields: Readonly<Record<string, string>>) =>
  t.upstream.script(undefined, moreFields(fields));

async function limits(t: TestProxy): Promise<readonly LimitJson[]> {
  const got = await exchange(t.proxy.port, { method: 'GET', path: '/limits' });
  assert.is(got.status, 200);
  return (JSON.parse(got.text) as { readonly limits: readonly LimitJson[] }).limits;
}

const inSeconds = (seconds: number): string => String(Math.floor(Date.now() / 1000) + seconds);

test('each credential has limits of its own, by label or hash, and answers pass unchanged', () =>
  withProxy({}, async (t) => {
    assert.equal(await limits(t), []);
    const five = 'anthropic-ratelimit-unified-5h-utilization';
    state(t, { [five]: '0.4', 'anthropic-ratelimit-unified-5h-reset': inSeconds(9000) });
    const own = { authorization: 'Bearer sk-ant-oat01-of-anna' };
    const got = await exchange(t.proxy.port, { body: json(MESSAGE), headers: own });
    assert.is(got.headers[five], '0.4');
    state(t, { [five]: '0.9', 'anthropic-ratelimit-unified-5h-reset': inSeconds(9000) });
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    const [mine, annas, ...others] = await limits(t);
    assert.equal(others, []);
    assert.equal([mine!.used, annas!.used], [0.9, 0.4]);
    assert.match(annas!.key, /^client [0-9a-f]{8}$/);
    assert.not.match(mine!.key, 'client');
    assert.not.match(JSON.stringify([mine, annas]), /of-anna|messages-key/);
    const metrics = await exchange(t.proxy.port, { method: 'GET', path: '/metrics' });
    assert.match(
      metrics.text,
      `svc_plan_used_ratio{provider="messages",key="${annas!.key}",window="5h"} 0.4`,
    );
    // 90 % after two and a half of five hours: the rest does not last as long.
    assert.ok(Date.parse(mine!.used_up_at!) < Date.parse(mine!.resets_at!));
  }));

test('streams, refusals and other kinds of providers state them too', () =>
  withProxy({}, async (t) => {
    state(t, { 'x-codex-primary-used-percent': '30', 'x-codex-primary-window-minutes': '300' });
    const got = await exchange(t.proxy.port, {
      path: '/v1/chat/completions',
      body: json(CHAT, { stream: true }),
    });
    assert.is(got.status, 200);
    assert.equal(
      (await limits(t)).map(({ provider, window, used }) => [provider, window, used]),
      [['chat', '5h', 0.3]],
    );
  }));

test('a window that has started again since is not shown', () =>
  withProxy({}, async (t) => {
    state(t, {
      'anthropic-ratelimit-unified-5h-utilization': '0.4',
      'anthropic-ratelimit-unified-5h-reset': inSeconds(-5),
    });
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.equal(await limits(t), []);
  }));

test.after(closeClients);
test.run();
