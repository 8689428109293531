/**
 * Conversations whose thinking is signed over everything before it, with a provider that verifies
 * the signatures: whatever setting changes midway, no request is refused and no thinking is
 * dropped.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { COMPRESS_ALWAYS, converse } from '../../../fixtures/server/bound-bench.ts';
import type { BoundBench } from '../../../fixtures/server/bound-bench.ts';
import { createBoundClient } from '../../../fixtures/server/bound-client.ts';
import type { BoundTurn } from '../../../fixtures/server/bound-client.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { createBindingProvider } from '../../../fixtures/upstream/binding.ts';

type Json = Readonly<Record<string, unknown>>;

const countMarkers = (body: string): number => body.split('[svc ').length - 1;

async function reload({ running }: BoundBench, yaml: string): Promise<void> {
  running().configure(yaml);
  await exchange(running().proxy.port, { path: '/config/reload', body: '' });
}

const strictHeader = { headers: { 'x-svc-mode': 'strict' } };
const bypassHeader = { headers: { 'x-svc-bypass': '1' } };

/** Changes made in the middle of a conversation; ordinary turns follow each. */
const SWITCHES: Readonly<Record<string, (bench: BoundBench) => Promise<void>>> = {
  'the header x-svc-bypass': async ({ turn }) => {
    await turn(bypassHeader);
    await turn(bypassHeader);
  },
  'svc pause': async ({ turn, running }) => {
    running().proxy.app.paused = true;
    await turn();
    await turn();
    running().proxy.app.paused = false;
  },
  'the header x-svc-mode: strict': async ({ turn }) => {
    await turn(strictHeader);
    await turn({ headers: { 'x-svc-mode': 'aggressive' } });
  },
  'compression.mode: strict by reload': async (bench) => {
    await reload(bench, 'compression: { threshold_tokens: 0, mode: strict }\n');
    await bench.turn();
    await bench.turn();
    await reload(bench, COMPRESS_ALWAYS);
  },
  'compression.enabled: false by reload': async (bench) => {
    await reload(bench, 'compression: { threshold_tokens: 0, enabled: false }\n');
    await bench.turn();
    await bench.turn();
    await reload(bench, COMPRESS_ALWAYS);
  },
  'a new version whose algorithms differ': ({ restart }) =>
    restart(undefined, (lines) =>
      lines
        .replaceAll(/"version":\d+/g, '"version":1')
        .replaceAll(/"thresholdTokens":\d+/g, '"thresholdTokens":900000'),
    ),
  'recipes off, and on again': async (bench) => {
    await reload(bench, 'compression: { threshold_tokens: 0, recipes: off }\n');
    await bench.turn();
    await reload(bench, COMPRESS_ALWAYS);
  },
  'a restart': ({ restart }) => restart(),
  'compression.remember: false, and on again': async (bench) => {
    await reload(bench, 'compression: { threshold_tokens: 0, remember: false }\n');
    await bench.turn();
    await bench.turn();
    await reload(bench, COMPRESS_ALWAYS);
  },
};

/** Changes that restart the proxy, and so need one of their own. */
const RESTARTS: ReadonlySet<string> = new Set([
  'a new version whose algorithms differ',
  'a restart',
]);

/** For conversations that change nothing for good. */
let shared: TestProxy;
test.before(async () => {
  shared = await startTestProxy({ yaml: COMPRESS_ALWAYS });
});
test.after(() => shared.close());

/** After these changes the conversation is pinned to send everything unchanged. */
const ENDS_SAVING: ReadonlySet<string> = new Set([
  'compression.mode: strict by reload',
  'compression.enabled: false by reload',
  'a new version whose algorithms differ',
]);

let names = 0;
for (const dialect of ['messages', 'responses'] as const) {
  for (const [what, change] of Object.entries(SWITCHES)) {
    test(`${dialect}: ${what} in mid-conversation loses no thought`, async () => {
      const { refused, dropped, thoughts, matched } = await converse(
        dialect,
        async (all) => {
          for (let n = 0; n < 3; n += 1) await all.turn();
          assert.ok(countMarkers(await all.turn()) > 0, 'nothing was compressed');
          await change(all);
          for (let n = 0; n < 2; n += 1) await all.turn();
          if (ENDS_SAVING.has(what)) return;
          // Saving continues: new results are compressed again.
          const before = countMarkers(await all.turn());
          assert.ok(countMarkers(await all.turn()) > before, 'nothing new is compressed');
        },
        RESTARTS.has(what) ? {} : { shared, name: `items${(names += 1)}` },
      );
      assert.equal(refused, []);
      assert.equal(dropped, []);
      assert.ok(matched > thoughts, `${matched} of ${thoughts}`);
    });
  }

  test(`${dialect}: a conversation begun without svc is compressed only after its last thought`, async () => {
    const { refused, dropped } = await converse(dialect, async ({ directly, turn, restart }) => {
      for (let n = 0; n < 4; n += 1) await directly();
      const first = await turn();
      assert.is(countMarkers(first), 1, 'the marker is after the last thought');
      assert.is(countMarkers(await turn()), 2);
      await restart();
      assert.is(countMarkers(await turn()), 3);
    });
    assert.equal([refused, dropped], [[], []]);
  });
}

test('messages: the trace says for each block in which form it is sent, and why', async () => {
  await converse('messages', async (all) => {
    for (let n = 0; n < 3; n += 1) await all.directly();
    for (let n = 0; n < 2; n += 1) await all.turn();
    const { headers } = await all.send(bypassHeader);
    const id = String(headers['x-request-id']);
    await all.running().rows(3);
    const { port } = all.running().proxy;
    const { text } = await exchange(port, { method: 'GET', path: `/trace/${id}` });
    const { stages } = JSON.parse(text) as { readonly stages: readonly Json[] };
    const groups = stages.flatMap((stage) => (stage['block_groups'] ?? []) as readonly Json[]);
    assert.equal(
      groups.map(({ blocks, sent, because }) => [blocks, sent, because]),
      [
        ['1–9', 'as it came', 'a signed thought depends on its unchanged text'],
        ['13–17', 'as before', 'a signed thought depends on what was sent'],
        ['21', 'may be changed', 'no signed thought depends on it yet'],
      ],
    );
  });
});

test('messages: cold_trim does not change a conversation with thinking blocks after a pause', async () => {
  let atMs = Date.now();
  const { systemClock } = await import('../../../engine/index.ts');
  const clock = { ...systemClock, wallMs: () => atMs };
  const yaml = 'compression: { threshold_tokens: 0, cold_trim: on }\n';
  const { refused, dropped } = await converse(
    'messages',
    async ({ turn }) => {
      for (let n = 0; n < 16; n += 1) await turn();
      atMs += 3_600_000;
      for (let n = 0; n < 2; n += 1) assert.not.match(await turn(), 'left out an old result');
    },
    { yaml, clock },
  );
  assert.equal([refused, dropped], [[], []]);
});

test('messages: turning `tools: trim` on in mid-conversation leaves its tools unchanged', async () => {
  const { refused, dropped } = await converse('messages', async (all) => {
    const more = {
      tools: [
        {
          name: 'Grep',
          description: 'Searches   the files.\n\n\n\nAll of them.   ',
          input_schema: {
            type: 'object',
            title: 'Grep',
            properties: {},
            additionalProperties: true,
          },
        },
      ],
    };
    for (let n = 0; n < 2; n += 1) await all.turn({ more });
    await reload(all, 'compression: { threshold_tokens: 0, tools: trim }\n');
    for (let n = 0; n < 2; n += 1) await all.turn({ more });
  });
  assert.equal([refused, dropped], [[], []]);
});

test('messages: trimmed tools stay trimmed under bypass, strict and off', async () => {
  const trim = 'compression: { threshold_tokens: 0, tools: trim }\n';
  const { refused, dropped } = await converse(
    'messages',
    async (all) => {
      const tools = [
        {
          name: 'Grep',
          description: `Searches   the files.${'\n'.repeat(9)}All of them.${' '.repeat(90)}`,
          input_schema: { type: 'object', title: 'Grep', properties: {} },
        },
      ];
      const more = { tools };
      const [first] = [await all.turn({ more }), await all.turn({ more })];
      assert.not.match(first, JSON.stringify(tools[0]!.description));
      await all.turn({ more, ...bypassHeader });
      await all.turn({ more, ...strictHeader });
      await reload(all, 'compression: { enabled: false }\n');
      await all.turn({ more });
      await all.restart(COMPRESS_ALWAYS);
      await all.turn({ more });
    },
    { yaml: trim },
  );
  assert.equal([refused, dropped], [[], []]);
});

test('messages: losing the memory costs one more request, not the conversation', async () => {
  const { refused } = await converse('messages', async ({ turn, restart, running }) => {
    for (let n = 0; n < 4; n += 1) await turn();
    await restart(undefined, () => '');
    await turn();
    const { requests } = running().upstream;
    assert.is(requests.length, 2, 'the request was sent a second time');
    const [first, again] = requests.map(({ body }) => JSON.parse(body.toString()) as object);
    const binding = { prefix_mismatch_behavior: 'drop_block' };
    assert.equal(again, { ...first, thinking: { type: 'adaptive', block_binding: binding } });
    assert.match(
      requests[1]!.header('anthropic-beta') ?? '',
      'thinking-binding-controls-2026-08-01',
    );
    // From then on the proxy sends the option with the first attempt.
    await turn();
    assert.is(running().upstream.requests.length, 3);
    const rows = await running().rows(2);
    const sentAgain = rows.filter(({ thoughtsRefused }) => thoughtsRefused === 1);
    assert.is(sentAgain.length, 1, 'the row records the second attempt');
    assert.ok(sentAgain[0]!.thoughtsDropped! > 0);
    const { port } = running().proxy;
    const recent = await exchange(port, { path: '/recent', method: 'GET' });
    assert.match(recent.text, '"thoughts_refused":true');
    const trace = await exchange(port, { path: '/trace/last', method: 'GET' });
    assert.match(trace.text, /"dropped_thoughts":"\d thoughts? dropped: prefix"/);
    const metrics = await exchange(port, { path: '/metrics', method: 'GET' });
    assert.match(metrics.text, 'svc_thoughts_refused_total 1');
    assert.match(metrics.text, /svc_thoughts_dropped_total [1-9]/);
  });
  assert.is(refused.length, 1);
});

test('messages: any other refusal, and one that the client requested, is passed on', async () => {
  await converse('messages', async ({ turn, restart, running, send }) => {
    for (let n = 0; n < 3; n += 1) await turn();
    await restart(undefined, () => '');
    const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'error' } };
    const beta = { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' };
    const response = await send({ more: { thinking }, headers: beta });
    assert.equal([response.status, running().upstream.requests.length], [400, 1]);
    const other = await send({ more: { thinking } });
    assert.match(other.text, 'Extra inputs');
    assert.equal([other.status, running().upstream.requests.length], [400, 2]);
  });
});

for (const dialect of ['messages', 'responses'] as const) {
  test(`${dialect}: counts the tokens of the request as it would be sent`, async () => {
    const { refused, dropped } = await converse(dialect, async ({ turn, count, restart }) => {
      for (let n = 0; n < 3; n += 1) await turn();
      const sent = await turn();
      assert.ok(countMarkers(sent) > 0);
      const counted = await count();
      assert.is(countMarkers(counted), countMarkers(sent));
      await restart();
      assert.is(await count(), counted);
      assert.is(
        countMarkers(await count(bypassHeader)),
        countMarkers(sent),
        'what was sent before',
      );
      await turn();
    });
    assert.equal([refused, dropped], [[], []]);
  });
}

test('responses: a conversation is compacted in the form in which its turns were sent', async () => {
  const { refused, dropped, differences } = await converse(
    'responses',
    async ({ turn, compact, running, restart }) => {
      for (let n = 0; n < 3; n += 1) await turn();
      const sent = countMarkers(await turn());
      assert.ok(sent > 0);
      assert.is(countMarkers(await compact()), sent);
      const row = (await running().rows(5)).at(-1)!;
      assert.is(row.endpoint, '/v1/responses/compact');
      assert.ok((row.inputTokensSent ?? 0) > 0, 'its usage is read');
      await restart('compression: { enabled: false }\n');
      assert.is(countMarkers(await compact()), sent);
      assert.is(countMarkers(await compact(bypassHeader)), sent);
      await turn();
    },
  );
  assert.equal([refused, dropped, differences], [[], [], []]);
});

test('messages: a conversation keeps the key that it began with', async () => {
  const provider = createBindingProvider();
  const yaml = `${COMPRESS_ALWAYS}keys: { rotation: roundrobin }\n`;
  const running = await startTestProxy({
    yaml,
    env: { MSGPROV_API_KEY: 'one', MSGPROV_OAUTH_TOKEN: 'two' },
  });
  try {
    running.upstream.script(undefined, provider.scenario);
    const used = new Set<string>();
    for (const name of ['first', 'second']) {
      const client = createBoundClient(name, 'messages', 'claude-sonnet-5-5');
      const before = running.upstream.requests.length;
      for (let n = 0; n < 4; n += 1) assert.is((await client.turn(running.proxy.port)).status, 200);
      const keys = running.upstream.requests
        .slice(before)
        .map((request) => request.header('x-api-key') ?? request.header('authorization') ?? '');
      assert.is(new Set(keys).size, 1, keys.join(' '));
      used.add(keys[0]!);
    }
    assert.is(used.size, 2, 'conversations take the keys in turn');
    assert.equal(provider.dropped, []);
  } finally {
    await running.close();
  }
});

test('a refreshed token keeps the memory of its conversation', async () => {
  const { refused, dropped } = await converse('messages', async ({ turn }) => {
    const turnAs = (token: string): BoundTurn => ({ headers: { 'x-api-key': token } });
    for (let n = 0; n < 3; n += 1) await turn(turnAs('old'));
    for (let n = 0; n < 2; n += 1)
      await turn({ headers: { ...turnAs('new').headers, 'x-svc-mode': 'strict' } });
    for (let n = 0; n < 2; n += 1) assert.ok(countMarkers(await turn(turnAs('old'))) > 0);
    for (let n = 0; n < 2; n += 1) await turn(turnAs('new'));
  });
  assert.equal([refused, dropped], [[], []]);
});

for (const [how, headers, yaml] of [
  ['under x-svc-bypass', { 'x-svc-bypass': '1' }, COMPRESS_ALWAYS],
  ['under remember: off', {}, 'compression: { threshold_tokens: 0, remember: false }\n'],
] as const)
  test(`the form sent ${how} by another credential wins if a thought was signed over it`, async () => {
    const { refused, dropped, differences } = await converse(
      'messages',
      async (all) => {
        const { turn } = all;
        const turnAs = (token: string, more: BoundTurn = {}, added = {}): BoundTurn => ({
          ...more,
          headers: { 'x-api-key': token, ...added },
        });
        const short = { result: 'done' };
        await turn(turnAs('old', short));
        await turn(turnAs('old'));
        await turn(turnAs('new', short));
        // Compressed, and answered without thinking.
        assert.ok(countMarkers(await turn(turnAs('old'))) > 0);
        // Sent unchanged, and answered with thinking.
        await reload(all, yaml);
        await turn(turnAs('new', short, headers));
        for (let n = 0; n < 2; n += 1) await turn(turnAs('old', short));
        await turn(turnAs('new', short));
      },
      { says: (turn) => ({ thinks: turn !== 4 }) },
    );
    assert.equal([refused, dropped, differences], [[], [], []]);
  });

// The answer to `new` has no thinking; later answers to `old` do.
for (const [when, thinks] of [
  ['before and after', (turn: number) => turn !== 4],
  ['only after', (turn: number) => turn > 4],
] as const)
  test(`two credentials send a result in different forms, with a thought ${when} it`, async () => {
    const turnAs = (token: string, more: BoundTurn = {}, headers = {}): BoundTurn => ({
      ...more,
      headers: { 'x-api-key': token, ...headers },
    });
    const { refused, dropped, differences } = await converse(
      'messages',
      async ({ turn }) => {
        const short = { result: 'done' };
        for (let n = 0; n < 3; n += 1) await turn(turnAs('old', short));
        assert.ok(countMarkers(await turn(turnAs('new'))) > 0);
        await turn(turnAs('old', short, { 'x-svc-bypass': '1' }));
        for (let n = 0; n < 3; n += 1) await turn(turnAs('old', short));
      },
      { says: (turn) => ({ thinks: thinks(turn) }) },
    );
    assert.equal([refused, dropped, differences], [[], [], []]);
  });

test.after(closeClients);
test.run();
