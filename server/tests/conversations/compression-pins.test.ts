/** Which settings a running conversation keeps, and which override those it began with. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy, withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { logFile } from '../../log/open-log.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { forwardedBody } from '../../../fixtures/server/vault.ts';

const HITS = Array.from(
  { length: 60 },
  (_, n) => `src/components/navigation/SidebarItem.tsx:${n + 1}:  const item${n} = useItem(${n});`,
).join('\n');

/** Returns request `turn` of the conversation `name`; each turn has one more search result. */
function request(name: string, turn: number): object {
  const messages: object[] = [{ role: 'user', content: `Where are the items of ${name}?` }];
  for (let at = 0; at < turn; at++) {
    const id = `t${at}`;
    messages.push(
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Grep', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: id, content: HITS.replaceAll('item', `item${at}`) },
        ],
      },
    );
  }
  return { model: 'claude-fixture-1', max_tokens: 9, messages };
}

interface Health {
  readonly compilation_mode: string;
  readonly compilation_mode_applies_to: string;
}

const health = async ({ proxy }: TestProxy): Promise<Health> =>
  JSON.parse((await exchange(proxy.port, { path: '/health', method: 'GET' })).text) as Health;

async function traced({ proxy }: TestProxy): Promise<string> {
  const { text } = await exchange(proxy.port, { path: '/trace/last', method: 'GET' });
  return text;
}

const settings = (compression: string): string =>
  `compression: { threshold_tokens: 0, ${compression} }\n`;

async function inPlace(
  use: (start: (yaml: string) => Promise<TestProxy>, home: string) => Promise<void>,
) {
  const home = mkdtempSync(join(tmpdir(), 'svc-pins-'));
  try {
    await use((yaml) => startTestProxy({ yaml, env: { SVC_HOME: home } }), home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

for (const [what, off] of [
  ['strict', 'mode: strict'],
  ['enabled: false', 'enabled: false'],
] as const) {
  test(`${what} overrides the pinned settings of conversations, after a restart and a reload`, () =>
    inPlace(async (start, home) => {
      const first = await start(settings('mode: hybrid'));
      for (const name of ['one', 'two', 'three'])
        assert.ok(
          (await forwardedBody(first, '/v1/messages', request(name, 1))).includes('[svc '),
          name,
        );
      first.configure(settings(off));
      await exchange(first.proxy.port, { path: '/config/reload', body: '' });
      const reloaded = request('one', 2);
      assert.is(await forwardedBody(first, '/v1/messages', reloaded), JSON.stringify(reloaded));
      await first.rows(4);
      assert.match(await traced(first), 'strict');
      await first.close();
      const again = await start(settings(off));
      for (const name of ['one', 'two', 'three']) {
        const body = request(name, 3);
        assert.is(await forwardedBody(again, '/v1/messages', body), JSON.stringify(body), name);
      }
      const { compilation_mode: mode, compilation_mode_applies_to: to } = await health(again);
      assert.equal([mode, to], ['strict', 'all conversations']);
      await again.close();
      const lines = readFileSync(logFile(home), 'utf8').trim().split('\n');
      const logged = lines.filter((line) =>
        line.includes('running conversations are sent unchanged'),
      );
      // Logged once by each of the two proxies, however many conversations there are.
      assert.is(logged.length, 2, logged.join('\n'));
    }));
}

test('any other change applies to new conversations, as /health says', () =>
  inPlace(async (start) => {
    const first = await start(settings('mode: hybrid'));
    const before = await forwardedBody(first, '/v1/messages', request('one', 1));
    await first.close();
    const again = await start(settings('mode: aggressive'));
    const after = await forwardedBody(again, '/v1/messages', request('one', 2));
    assert.ok(after.startsWith(before.slice(0, -2)));
    assert.is((await health(again)).compilation_mode_applies_to, 'new conversations');
    await again.rows(1);
    assert.match(await traced(again), '"mode":"hybrid"');
    await again.close();
  }));

test('options of one caller do not affect another caller who sends the same text', () =>
  withProxy({ yaml: settings('mode: hybrid') }, async (running) => {
    const ask = async (turn: number, headers: Record<string, string>): Promise<string> => {
      const body = JSON.stringify(request('both', turn));
      const arrived = running.upstream.nextRequest();
      await exchange(running.proxy.port, { headers, body });
      return (await arrived).body.toString();
    };
    const callers: readonly Record<string, string>[] = [
      { 'x-api-key': 'a' },
      { 'x-api-key': 'b' },
      { authorization: 'Bearer c' },
    ];
    for (const caller of callers)
      assert.ok((await ask(1, caller)).includes('[svc '), JSON.stringify(caller));
    const unchanged = await ask(2, { ...callers[1]!, 'x-svc-mode': 'strict' });
    assert.not.ok(unchanged.includes('[svc '));
    for (const caller of [callers[0]!, callers[2]!]) {
      const sentTwice = await ask(2, caller);
      assert.ok(sentTwice.includes('[svc '), JSON.stringify(caller));
      assert.ok(!unchanged.startsWith(sentTwice));
    }
    assert.not.ok((await ask(2, callers[1]!)).includes('[svc '), 'the mode is kept for its caller');
  }));

test.after(closeClients);
test.run();
