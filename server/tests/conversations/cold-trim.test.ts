/**
 * What is left out once the provider's cache of a conversation has expired, checked in the bytes it
 * receives.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/index.ts';
import { startTestProxy, withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const MINUTE_MS = 60_000;
const ON = 'compression: { threshold_tokens: 0, cold_trim: on }';

interface Part {
  readonly type: string;
  readonly content?: string;
  readonly is_error?: true;
}
interface Message {
  readonly role: string;
  readonly content: string | readonly Part[];
}

/** Returns a text without repetition that no rule compresses. */
const prose = (n: number): string =>
  Array.from({ length: 60 }, (_, at) => `alpha${n}x${at * 7919} went to beta${at * 31 + n}.`).join(
    '\n',
  );

interface Step {
  readonly name?: string;
  readonly input?: object;
  readonly text?: string;
  readonly error?: true;
}

/** Returns a conversation with a call and a result for each of `steps`. */
function body(steps: readonly Step[], more: object = {}, first = 'Mend the parser.'): object {
  const messages: Message[] = [{ role: 'user', content: first }];
  steps.forEach(({ name = 'Read', input, text = prose(0), error }, index) => {
    const id = `t${index}`;
    const call = { type: 'tool_use', id, name, input: input ?? { file_path: `/w/f${index}.txt` } };
    const result = { type: 'tool_result', tool_use_id: id, content: text };
    messages.push(
      { role: 'assistant', content: [call] },
      {
        role: 'user',
        content: [{ ...result, ...(error === true && { is_error: true as const }) }],
      },
    );
  });
  return { model: 'claude-sonnet-4-5', max_tokens: 9, messages, ...more };
}

const reads = (count: number): readonly Step[] =>
  Array.from({ length: count }, (_, n) => ({ text: prose(n) }));

/**
 * Sends the request; returns the messages that the provider received as JSON text, without cache
 * markers.
 */
async function send(t: TestProxy, request: object): Promise<readonly string[]> {
  const before = t.upstream.requests.length;
  const response = await exchange(t.proxy.port, {
    path: '/v1/messages',
    body: JSON.stringify(request),
  });
  assert.is(response.status, 200, response.text);
  const text = t.upstream.requests[before]!.bodyBytes.toString();
  const { messages } = JSON.parse(text.replaceAll(/,?"cache_control":\{[^}]*\}/g, '')) as {
    messages: readonly Message[];
  };
  return messages.map(({ content }) =>
    typeof content === 'string'
      ? content
      : JSON.stringify(content.map((part) => part.content ?? part)),
  );
}

const isLeftOut = (message: string): boolean => message.includes('[svc left out an old result');

/** Returns the indexes of the results that were left out. */
const leftOut = (messages: readonly string[]): readonly number[] =>
  messages.flatMap((message, index) => (isLeftOut(message) ? [index / 2 - 1] : []));

/** Returns a clock that can be moved forward. */
function movedClock() {
  let aheadMs = 0;
  return {
    clock: { ...systemClock, wallMs: () => systemClock.wallMs() + aheadMs },
    wait: (ms: number) => void (aheadMs += ms),
  };
}

const moved = movedClock();
/** For conversations with the settings `ON`, each with a first message of its own. */
let shared: TestProxy;
let conversations = 0;
test.before(async () => {
  shared = await startTestProxy({ yaml: ON, clock: moved.clock });
});
test.after(() => shared.close());

/** Sends the conversation without its last call, waits, and sends all of it. */
async function afterPause(
  steps: readonly Step[],
  more: object,
  { yaml }: { readonly yaml: string },
  pauseMs: number,
): Promise<readonly string[]> {
  const first = `Mend parser ${(conversations += 1)}.`;
  const play = async (t: TestProxy, { wait }: ReturnType<typeof movedClock>) => {
    await send(t, body(steps.slice(0, -1), more, first));
    wait(pauseMs);
    return send(t, body(steps, more, first));
  };
  if (yaml === ON) return play(shared, moved);
  const own = movedClock();
  let actual: readonly string[] = [];
  await withProxy({ yaml, clock: own.clock }, async (t) => {
    actual = await play(t, own);
  });
  return actual;
}

test('after a long pause old results are replaced by one line each, in every later turn', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-cold-'));
  const { clock, wait } = movedClock();
  const options = { yaml: ON, clock, env: { SVC_HOME: folder } };
  const all = reads(30);
  try {
    const first = await startTestProxy(options);
    const warm = await send(first, body(all.slice(0, 13)));
    assert.equal(leftOut(warm), []);
    wait(4 * MINUTE_MS);
    assert.equal(leftOut(await send(first, body(all.slice(0, 14)))), [], 'four minutes');
    wait(6 * MINUTE_MS);
    const cold = await send(first, body(all.slice(0, 15)));
    assert.equal(leftOut(cold), [0, 1, 2, 3, 4], 'after them the model has answered ten times');
    assert.is(
      cold[2],
      '["[svc left out an old result: Read {\\"file_path\\":\\"/w/f0.txt\\"}, 60 lines, ' +
        /(\d+) tokens/.exec(cold[2]!)![0] +
        '; call it again if you need it]"]',
    );
    let before = cold;
    for (const count of [16, 17, 18]) {
      const next = await send(first, body(all.slice(0, count)));
      assert.equal(next.slice(0, before.length), before, `turn ${count}`);
      before = next;
    }
    await first.close();
    // After a restart, with the setting on or off, the prefix that the provider has cached is
    // unchanged.
    for (const yaml of [ON, 'compression: { threshold_tokens: 0 }']) {
      const again = await startTestProxy({ ...options, yaml });
      const next = await send(again, body(all.slice(0, 19)));
      assert.equal(next.slice(0, before.length), before, yaml);
      await again.close();
    }
    // At the next cold moment more results are left out, and the earlier messages are unchanged.
    const later = await startTestProxy(options);
    wait(6 * MINUTE_MS);
    const more = await send(later, body(all.slice(0, 20)));
    assert.equal(leftOut(more), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(more.slice(0, 12), cold.slice(0, 12));
    await later.close();
    // An unreadable entry loses only itself; an unreadable line loses all its entries.
    const file = join(folder, 'decisions.jsonl');
    const text = readFileSync(file, 'utf8');
    assert.ok(text.includes('"leftOut":[['));
    for (const [damage, kept] of [
      ['"leftOut":[[1,2],[', leftOut(more)],
      ['"leftOut":[', []],
    ] as const) {
      writeFileSync(file, text.replaceAll('"leftOut":[[', damage));
      const broken = await startTestProxy(options);
      assert.equal(leftOut(await send(broken, body(all.slice(0, 21)))), kept, damage);
      await broken.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Claude Code's result for a second read of an unchanged file. */
const UNCHANGED = [
  'File unchanged since last read. The content from the earlier Read tool_result in this conversation is still current — refer to that instead of re-reading.',
  'Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.',
];
const again = (n: number, text: string): Step => ({ input: { file_path: `/w/f${n}.txt` }, text });

test('keeps a result that the client refers back to', async () => {
  for (const text of UNCHANGED) {
    const steps = reads(15).with(12, again(1, text));
    const sent = await afterPause(steps, {}, { yaml: ON }, 6 * MINUTE_MS);
    assert.equal(leftOut(sent), [0, 2, 3, 4], text);
    assert.is(sent[26], JSON.stringify([text]));
  }
});

test('if the client refers back to an omitted result, the result is sent there in full', async () => {
  const { clock, wait } = movedClock();
  await withProxy({ yaml: ON, clock }, async (t) => {
    for (const [n, text] of UNCHANGED.entries()) {
      const first = `Task ${n}.`;
      const steps = [...reads(15), again(1, text), again(9, text), ...reads(18).slice(17)];
      await send(t, body(steps.slice(0, 14), {}, first));
      wait(6 * MINUTE_MS);
      const cold = await send(t, body(steps.slice(0, 15), {}, first));
      assert.equal(leftOut(cold), [0, 1, 2, 3, 4]);
      const response = await send(t, body(steps.slice(0, 17), {}, first));
      assert.equal(response.slice(0, cold.length), cold);
      assert.is(response[32], JSON.stringify([prose(1)]), 'the text that was left out');
      assert.is(response[34], JSON.stringify([text]), 'the file that it names exists');
      wait(6 * MINUTE_MS);
      const later = await send(t, body(steps, {}, first));
      assert.equal(later.slice(28, response.length), response.slice(28), 'it stays');
    }
  });
});

test('is off by default, and omits nothing without a pause longer than every cache lifetime', async () => {
  const steps = reads(15);
  const plain = { yaml: 'compression: { threshold_tokens: 0 }' };
  assert.equal(leftOut(await afterPause(steps, {}, plain, 60 * MINUTE_MS)), []);
  const on = { yaml: ON };
  assert.equal(leftOut(await afterPause(steps, {}, on, 4 * MINUTE_MS)), []);
  assert.is(leftOut(await afterPause(steps, {}, on, 6 * MINUTE_MS)).length, 5);
  // A cache marker with a lifetime of one hour.
  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const system = [{ type: 'text', text: 'Be brief.', ...hour }];
  assert.equal(leftOut(await afterPause(steps, { system }, on, 50 * MINUTE_MS)), []);
  assert.is(leftOut(await afterPause(steps, { system }, on, 61 * MINUTE_MS)).length, 5);
  const longer = { yaml: 'compression: { threshold_tokens: 0, cold_trim: 20m }' };
  assert.equal(leftOut(await afterPause(steps, {}, longer, 19 * MINUTE_MS)), []);
  assert.is(leftOut(await afterPause(steps, {}, longer, 21 * MINUTE_MS)).length, 5);
});

test('omits nothing if the provider edits the context itself', async () => {
  const clears = { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } };
  assert.equal(leftOut(await afterPause(reads(15), clears, { yaml: ON }, 9 * MINUTE_MS)), []);
});

test('keeps results of calls with an effect, and files edited since by any tool', async () => {
  const editor = 'str_replace_based_edit_tool';
  const steps: readonly Step[] = [
    { text: prose(61), name: 'Bash', input: { command: 'git push origin main' } },
    { text: prose(62), name: 'mcp__shop__place_order', input: { item: 7 } },
    { text: prose(63), name: editor, input: { command: 'view', path: '/w/mine.py' } },
    { text: prose(64), name: editor, input: { command: 'view', path: '/w/other.py' } },
    { text: prose(65), input: { file_path: '/w/Makefile' } },
    { name: editor, input: { command: 'insert', path: '/w/mine.py', new_str: 'x' }, text: 'ok' },
    { name: 'Bash', input: { command: 'printf x >> Makefile' }, text: 'ok' },
    ...reads(11),
  ];
  const actual = leftOut(await afterPause(steps, {}, { yaml: ON }, 9 * MINUTE_MS));
  assert.equal(actual, [3, 7], 'only the file not mentioned since then');
});

test('keeps errors, short results, and results that were edited or cannot be repeated', async () => {
  const steps: readonly Step[] = [
    { text: prose(51), error: true },
    { text: 'short' },
    { text: prose(52), input: { file_path: '/w/edited.ts' } },
    { text: prose(53), name: 'Bash', input: { command: 'cat src/moved.py | head -50' } },
    { text: prose(54), name: 'Task', input: { prompt: 'Look for the cause.' } },
    { text: prose(55), name: 'Bash', input: { command: 'ls -R && cat notes.txt 2>/dev/null' } },
    { name: 'Edit', input: { file_path: '/w/edited.ts', new_string: 'x' }, text: 'ok' },
    { name: 'Bash', input: { command: "sed -i 's/a/b/' src/moved.py" }, text: 'ok' },
    { name: 'Bash', input: { command: 'grep -n foo notes.txt' }, text: 'notes.txt:1:foo' },
    ...reads(9),
  ];
  const actual = await afterPause(steps, {}, { yaml: ON }, 9 * MINUTE_MS);
  assert.equal(leftOut(actual), [5]);
  assert.is(actual[2], JSON.stringify([prose(51)]));
});

test('a repetition of an omitted result is sent in full', async () => {
  const text = prose(57);
  const steps: readonly Step[] = [
    { text, input: { file_path: '/w/a.txt' } },
    ...reads(12),
    { text, input: { file_path: '/w/a.txt' } },
    { text: 'done' },
  ];
  const { clock, wait } = movedClock();
  await withProxy({ yaml: ON, clock }, async (t) => {
    const warm = await send(t, body(steps.slice(0, -1)));
    assert.match(warm.at(-1)!, 'of result 1 (a.txt) again');
    wait(6 * MINUTE_MS);
    const cold = await send(t, body(steps));
    assert.ok(isLeftOut(cold[2]!));
    assert.is(cold.at(-3), JSON.stringify([text]));
  });
});

test('one of two runs with a common beginning keeps the cache of the other warm', async () => {
  const { clock, wait } = movedClock();
  await withProxy({ yaml: ON, clock }, async (t) => {
    const one = reads(15);
    const other = Array.from({ length: 15 }, (_, n) => ({ text: prose(n + 100) }));
    await send(t, body(one.slice(0, 13)));
    wait(4 * MINUTE_MS);
    await send(t, body(other.slice(0, 13)));
    wait(4 * MINUTE_MS);
    assert.equal(leftOut(await send(t, body(one.slice(0, 14)))), []);
  });
});

test('the receipt shows the saving under its own source only', async () => {
  const { clock, wait } = movedClock();
  const usage = { input: 8000, output: 7, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  await withProxy({ yaml: ON, clock, upstream: { replies: () => ({ usage }) } }, async (t) => {
    const all = reads(16);
    await send(t, body(all.slice(0, 14)));
    wait(6 * MINUTE_MS);
    await send(t, body(all.slice(0, 15)));
    const [before, row] = await t.rows(2);
    assert.equal([before?.forgottenTokens, before?.costSavedByForgettingNanoUsd], [null, null]);
    assert.ok(row!.forgottenTokens! > 1000);
    assert.is(row!.forgottenTokens, row!.savedTokens, 'nothing else was shortened');
    assert.is(row!.costSavedByForgettingNanoUsd, row!.forgottenTokens! * 3000);
    const response = await exchange(t.proxy.port, { method: 'GET', path: '/savings' });
    const { lanes } = JSON.parse(response.text) as {
      lanes: Record<string, Record<string, unknown>>;
    };
    assert.equal(lanes['forgetting'], {
      requests: 1,
      tokens_saved: row!.forgottenTokens,
      cost_saved_usd: (row!.forgottenTokens! * 3000) / 1e9,
    });
    assert.equal(lanes['compression'], { tokens_saved: 0, cost_saved_usd: 0 });
  });
});

test.after(closeClients);
test.run();
