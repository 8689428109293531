/**
 * Cache markers added for clients that set none, checked in the bytes that the provider receives.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/index.ts';
import { startTestProxy, withProxy } from '../../../fixtures/proxy.ts';
import type { ProxyOptions } from '../../../fixtures/proxy.ts';
import { closeClients } from '../../../fixtures/server/exchange.ts';
import {
  MODEL,
  MINUTE_MS,
  words,
  SYSTEM,
  TOOLS,
  ask,
  turns,
  send,
  markersIn,
  unmarked,
} from '../../../fixtures/server/cache-markers.ts';
import type { Body, MarkedExchange } from '../../../fixtures/server/cache-markers.ts';

/** Returns a clock that can be moved forward. */
function movedClock() {
  let aheadMs = 0;
  return {
    clock: { ...systemClock, wallMs: () => systemClock.wallMs() + aheadMs },
    wait: (ms: number) => void (aheadMs += ms),
  };
}

test('from the second request on, an agent gets four markers that move from turn to turn', () =>
  withProxy({}, async (t) => {
    const exchanges: MarkedExchange[] = [];
    for (const body of turns(5)) exchanges.push(await send(t, body));
    assert.is(exchanges[0]!.text, exchanges[0]!.sent, 'the first request is sent byte for byte');
    assert.equal(
      exchanges.map(({ body }) => markersIn(body)),
      [
        [],
        ['system.0', 'tools.1', 'messages.0.content.0', 'messages.2.content.0'],
        ['system.0', 'tools.1', 'messages.2.content.0', 'messages.4.content.0'],
        ['system.0', 'tools.1', 'messages.4.content.0', 'messages.6.content.0'],
        ['system.0', 'tools.1', 'messages.6.content.0', 'messages.8.content.0'],
      ],
    );
    // Apart from markers, the prefix that the provider has read is unchanged.
    for (const [index, { body, sent }] of exchanges.entries()) {
      assert.equal(unmarked(body), unmarked(JSON.parse(sent)), `turn ${index}`);
      if (index === 0) continue;
      const { messages } = unmarked(body) as Body;
      const { messages: before } = unmarked(exchanges[index - 1]!.body) as Body;
      assert.equal(messages.slice(0, before.length), before, `turn ${index}`);
    }
    assert.match(
      JSON.stringify(exchanges[0]!.trace),
      'it is the first request of its conversation',
    );
    assert.match(JSON.stringify(exchanges[1]!.trace), '"tools.1","system","messages.0.content"');
  }));

test('a marker that the client wrote as null is replaced by ours', () =>
  withProxy({}, async (t) => {
    const none = { cache_control: null };
    const more = {
      system: [{ type: 'text', text: SYSTEM, ...none }],
      tools: TOOLS.map((tool) => ({ ...none, ...tool })),
    };
    const [first, second] = turns(2, more);
    await send(t, first!);
    const { body, text } = await send(t, second!);
    assert.equal(markersIn(body).slice(0, 1), ['system.0']);
    assert.is(text.split('"cache_control"').length - 1, 5, 'no field occurs twice');
    assert.equal((body['tools'] as object[])[1], {
      ...TOOLS[1],
      cache_control: { type: 'ephemeral' },
    });
    assert.equal((body['tools'] as object[])[0], { ...TOOLS[0], ...none });
  }));

test('no markers for clients that set their own, or for models without prompt caching', () =>
  withProxy({}, async (t) => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const [, , last] = turns(3);
    const own: Record<string, object> = {
      'at the top': mark,
      'at a tool': { tools: [{ ...TOOLS[0], ...mark }] },
      'at the system prompt': { system: [{ type: 'text', text: SYSTEM, ...mark }] },
      'at a block': {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Hi.', ...mark }] },
          ...last!.messages.slice(1),
        ],
      },
      'within a result': {
        messages: [
          ...last!.messages.slice(0, -1),
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 't1',
                content: [{ type: 'text', text: 'x', ...mark }],
              },
            ],
          },
        ],
      },
      'another vendor': { model: 'glm-4.6' },
      'an old model': { model: 'claude-2.1' },
      strict: {},
    };
    for (const [name, more] of Object.entries(own)) {
      const headers: Record<string, string> = name === 'strict' ? { 'x-svc-mode': 'strict' } : {};
      for (const body of turns(3, { metadata: { user_id: name } })) {
        const { sent, text } = await send(t, { ...body, ...more }, undefined, headers);
        assert.is(text, sent, name);
      }
    }
  }));

test('text that mentions markers does not count as a marker', () =>
  withProxy({}, async (t) => {
    const call = { name: 'Write', input: { cache_control: { type: 'ephemeral' } } };
    const more = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'w', ...call }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'w', content: '"cache_control"' }],
      },
    ];
    const [first, second] = turns(2);
    await send(t, first!);
    const { body } = await send(t, { ...second!, messages: [...second!.messages, ...more] });
    assert.is(markersIn(body).length, 5, 'four markers and the one that the client set');
  }));

test("a prompt below the model's own minimum for caching gets no marker", () =>
  withProxy({}, async (t) => {
    const cases: readonly (readonly [string, number, number])[] = [
      ['claude-sonnet-4-5', 100, 0],
      ['claude-sonnet-4-5', 700, 1],
      ['claude-haiku-4-5', 700, 0],
      ['claude-3-5-haiku-latest', 700, 0],
      ['claude-3-5-haiku-latest', 1400, 1],
      ['anthropic/claude-opus-4.5', 1400, 0],
      ['anthropic/claude-opus-4.1', 1400, 1],
    ];
    for (const [model, count, marked] of cases) {
      const body = turns(2, { model, tools: [], system: words(count, 'rule') });
      await send(t, body[0]!);
      const { body: got } = await send(t, body[1]!);
      assert.is(markersIn(got).length > 0 ? 1 : 0, marked, `${model} ${count}`);
    }
  }));

test('single requests, few-shot prompts and retries are sent byte for byte', () =>
  withProxy({}, async (t) => {
    const [first] = turns(1);
    for (let n = 0; n < 3; n += 1) {
      const { sent, text } = await send(t, first!);
      assert.is(text, sent, `retry ${n}`);
    }
    for (let n = 0; n < 4; n += 1) {
      const shots = [ask('2+2?'), { role: 'assistant', content: '4' }, ask(`${n}+${n}?`)];
      const { sent, text } = await send(t, { ...first!, messages: shots });
      assert.is(text, sent, `few-shot ${n}`);
    }
    // A history whose beginning changes cannot be cached.
    for (const [n, body] of turns(4).entries()) {
      const messages = body.messages.slice(Math.max(0, 2 * n - 2));
      const { sent, text } = await send(t, { ...body, system: `Now ${n}`, messages });
      assert.is(text, sent, `moving window ${n}`);
    }
  }));

test('a retry in the middle of a conversation sends the same bytes', () =>
  withProxy({}, async (t) => {
    const [first, second] = turns(2);
    await send(t, first!);
    const { text } = await send(t, second!);
    assert.is((await send(t, second!)).text, text);
    assert.is(markersIn(JSON.parse(text)).length, 4);
  }));

test('two concurrent runs of one task are two conversations', () =>
  withProxy({}, async (t) => {
    const run = (name: string) =>
      turns(4).map((body) => ({
        ...body,
        messages: body.messages.map((message, index) =>
          index === 1
            ? {
                role: 'assistant',
                content: [{ type: 'text', text: name }, ...(message.content as object[])],
              }
            : message,
        ),
      }));
    const [a, b] = [run('a'), run('b')];
    const counts: number[] = [];
    for (const at of [0, 1, 2, 3])
      for (const body of [a[at]!, b[at]!])
        counts.push(markersIn((await send(t, body)).body).length);
    assert.equal(counts, [0, 0, 4, 4, 4, 4, 4, 4]);
  }));

test('a conversation with pauses beyond the cache lifetime gets no markers until it is fast again', async () => {
  const { clock, wait } = movedClock();
  await withProxy({ clock }, async (t) => {
    const all = turns(12);
    const pauses = [0, 6, 6, 1, 1, 1, 6, 6, 6, 6, 6, 1];
    const marked: boolean[] = [];
    for (const [index, body] of all.entries()) {
      wait(pauses[index]! * MINUTE_MS);
      marked.push(markersIn((await send(t, body)).body).length > 0);
    }
    const [x, o] = [true, false];
    assert.equal(marked, [o, o, o, o, x, x, x, x, x, o, o, o]);
  });
});

test('a restart changes no marker', async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-breakpoints-'));
  const options: ProxyOptions = { env: { SVC_HOME: home } };
  try {
    const markers: (readonly string[])[] = [];
    let t = await startTestProxy(options);
    for (const [index, body] of turns(5).entries()) {
      if (index >= 2) {
        await t.close();
        t = await startTestProxy(options);
      }
      markers.push(markersIn((await send(t, body)).body));
    }
    await t.close();
    assert.equal(
      markers.map((paths) => paths.length),
      [0, 4, 4, 4, 4],
    );
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test('with caching off everything is sent byte for byte', () =>
  withProxy({ yaml: 'inject: { cache_breakpoints: off }' }, async (t) => {
    for (const body of turns(3)) {
      const { sent, text } = await send(t, body);
      assert.is(text, sent);
    }
  }));

test('markers are set without compression, and together with other changes to a request', async () => {
  await withProxy({ yaml: 'compression: { enabled: false }' }, async (t) => {
    const [first, second] = turns(2);
    await send(t, first!);
    assert.is(markersIn((await send(t, second!)).body).length, 4);
  });
  await withProxy({ yaml: 'compression: { threshold_tokens: 0 }' }, async (t) => {
    const rows = JSON.stringify(
      Array.from({ length: 80 }, (_, n) => ({ name: `item ${n}`, size: n * 7, kind: 'file' })),
      null,
      2,
    );
    const long = (body: Body): Body => ({
      ...body,
      messages: body.messages.map((message) => ({
        ...message,
        content: Array.isArray(message.content)
          ? message.content.map((part: object) =>
              'content' in part ? { ...part, content: rows } : part,
            )
          : message.content,
      })),
    });
    const [first, second, third] = turns(3).map(long);
    await send(t, first!);
    await send(t, second!);
    const { body, text, sent } = await send(t, third!);
    assert.equal(markersIn(body).slice(2), ['messages.2.content.0', 'messages.4.content.0']);
    assert.ok(text.length < sent.length * 0.9, 'the results are smaller');
  });
});

test('no marker is set at an empty text, at thinking or at a tool that is loaded later', () =>
  withProxy({}, async (t) => {
    const later = { name: 'Later', input_schema: { type: 'object' }, defer_loading: true };
    const [first, second] = turns(2, { tools: [...TOOLS, later] });
    const end = second!.messages.at(-1)!;
    const content = [
      ...(end.content as object[]),
      { type: 'text', text: ' ' },
      { type: 'container_upload', file_id: 'f' },
    ];
    await send(t, first!);
    const messages = [...second!.messages.slice(0, -1), { role: 'user', content }];
    const { body } = await send(t, { ...second!, messages });
    assert.equal(markersIn(body), [
      'system.0',
      'tools.1',
      'messages.0.content.0',
      'messages.2.content.0',
    ]);
  }));

test('markers are also set in a request translated to the messages dialect', () =>
  withProxy(
    {
      yaml: `provider: messages\nproviders: { messages: { model_aliases: { gpt-fixture-1: ${MODEL} } } }`,
    },
    async (t) => {
      const chat = (n: number) => [
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: `c${n}`, type: 'function', function: { name: 'Bash', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: `c${n}`, content: `result ${n}` },
      ];
      const all = [
        { role: 'system', content: SYSTEM },
        ask('Mend it.'),
        ...[0, 1, 2].flatMap(chat),
      ];
      const counts: (readonly string[])[] = [];
      for (const length of [2, 4, 6]) {
        const { body } = await send(
          t,
          { model: 'gpt-fixture-1', messages: all.slice(0, length) },
          '/v1/chat/completions',
        );
        counts.push(markersIn(body));
      }
      assert.equal(counts, [
        [],
        ['system.0', 'messages.0.content.0', 'messages.2.content.0'],
        ['system.0', 'messages.2.content.0', 'messages.4.content.0'],
      ]);
      const items = (n: number) => [
        { type: 'function_call', call_id: `c${n}`, name: 'Bash', arguments: '{}' },
        { type: 'function_call_output', call_id: `c${n}`, output: `result ${n}` },
      ];
      const input = [{ role: 'user', content: 'Mend it.' }, ...[0, 1].flatMap(items)];
      const codex: number[] = [];
      for (const length of [1, 3, 5]) {
        const { body } = await send(
          t,
          { model: 'gpt-fixture-1', instructions: SYSTEM, input: input.slice(0, length) },
          '/v1/responses',
        );
        codex.push(markersIn(body).length);
      }
      assert.equal(codex, [0, 3, 3]);
    },
  ));

test('the configuration may say whether a messages provider accepts markers', async () => {
  const counts = async (promptCache: string, model: string) => {
    const found: number[] = [];
    await withProxy(
      { yaml: `providers: { messages: { prompt_cache: ${promptCache} } }` },
      async (t) => {
        for (const body of turns(2, { model, system: words(3000, 'rule') }))
          found.push(markersIn((await send(t, body)).body).length);
      },
    );
    return found;
  };
  assert.equal(await counts('on', 'house-model'), [0, 3]);
  assert.equal(await counts('off', MODEL), [0, 0]);
});

test.after(closeClients);
test.run();
