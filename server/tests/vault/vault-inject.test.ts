import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/clock.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { ABSENT, DIALECTS, forwardedBody, withVault } from '../../../fixtures/server/vault.ts';
import type { VaultPlace } from '../../../fixtures/server/vault.ts';

const QUESTION = 'When does the flumbrick gate open?';
const [MESSAGES] = DIALECTS;

/** Returns the text at the end of the last user message in `body`, in any dialect. */
function lastUserText(body: string): string {
  const { messages, input } = JSON.parse(body) as Record<'messages' | 'input', unknown[]>;
  const user = (messages ?? input).findLast(
    (message) => (message as { role?: string }).role === 'user',
  ) as { content: string | { text: string }[] };
  return typeof user.content === 'string' ? user.content : (user.content.at(-1)?.text ?? '');
}

for (const dialect of DIALECTS) {
  const { name, path, body, user, assistant, call, result } = dialect;

  test(`${name}: adds found blocks at the end of the last user message, and nowhere else`, async () => {
    await withVault(async (proxy) => {
      const raw = body([user('hello there, friend'), assistant('Hi.'), user(QUESTION)]);
      const received = await forwardedBody(proxy, path, raw);
      const text = lastUserText(received);
      assert.ok(text.startsWith(`${QUESTION}\n\n[svc added from files`), text);
      assert.match(text, /--- gate\.md:1-3\n# The gate\n\nThe flumbrick gate opens when/);
      assert.ok(text.endsWith('\n[svc: end of what was added]'));
      // All other bytes are unchanged.
      const without = received.replace(JSON.stringify(text), () => JSON.stringify(QUESTION));
      assert.is(without, JSON.stringify(raw));
    });
  });

  test(`${name}: nothing is added to a tool result, and the question before it stays as it was sent`, async () => {
    await withVault(async (proxy) => {
      const first = await forwardedBody(proxy, path, body([user(QUESTION)]));
      const loop = [user(QUESTION), ...call('t1'), result('t1', 'flumbrick quorble output')];
      const second = await forwardedBody(proxy, path, body(loop));
      assert.ok(second.startsWith(first.slice(0, -2)));
      assert.is(second.split('[svc added').length, 2);
      const unasked = body([user(`${QUESTION} Now.`), ...call('t2'), result('t2', 'wibbledon')]);
      assert.is(await forwardedBody(proxy, path, unasked), JSON.stringify(unasked));
    });
  });

  test(`${name}: adds nothing if no block scores`, async () => {
    await withVault(async (proxy) => {
      for (const text of [ABSENT, 'continue', '<system-reminder>flumbrick</system-reminder>']) {
        const raw = body([user(text)]);
        assert.is(await forwardedBody(proxy, path, raw), JSON.stringify(raw));
      }
    });
  });
}

const raw = MESSAGES.body([MESSAGES.user(QUESTION)]);

test('text after a tool result in the same message is not added to', async () => {
  await withVault(async (proxy) => {
    const answered = {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: 'out' },
        { type: 'text', text: QUESTION },
      ],
    };
    const body = MESSAGES.body([MESSAGES.user(ABSENT), ...MESSAGES.call('t1'), answered]);
    assert.is(await forwardedBody(proxy, MESSAGES.path, body), JSON.stringify(body));
  });
});

test('with vault.enabled: false nothing is added, at the start and after a reload', async () => {
  const files = { 'gate.md': 'The flumbrick gate opens twice.\n' };
  const off = 'vault:\n  enabled: false\n';
  await withVault(
    async (proxy) => {
      assert.is(await forwardedBody(proxy, MESSAGES.path, raw), JSON.stringify(raw));
      proxy.configure('');
      await proxy.proxy.reload();
      assert.match(await forwardedBody(proxy, MESSAGES.path, raw), /svc added/);
      proxy.configure(off);
      await proxy.proxy.reload();
      assert.is(await forwardedBody(proxy, MESSAGES.path, raw), JSON.stringify(raw));
    },
    { files, yaml: off },
  );
});

test('requests that must be forwarded unchanged get nothing', async () => {
  await withVault(async (rig) => {
    const asIs = JSON.stringify(raw);
    assert.is(await forwardedBody(rig, MESSAGES.path, raw, { 'x-svc-bypass': '1' }), asIs);
    const subscription = { authorization: 'Bearer sk-ant-oat01-abc' };
    assert.is(await forwardedBody(rig, MESSAGES.path, raw, subscription), asIs);
    rig.proxy.app.paused = true;
    assert.is(await forwardedBody(rig, MESSAGES.path, raw), asIs);
    rig.proxy.app.paused = false;
    assert.is.not(await forwardedBody(rig, MESSAGES.path, raw), asIs);
    const probe = { ...raw, max_tokens: 1 };
    const other = { ...probe, messages: [MESSAGES.user('the zandrel lamp?')] };
    assert.is(await forwardedBody(rig, MESSAGES.path, other), JSON.stringify(other));
  });
});

const MANY = Object.fromEntries(
  Array.from({ length: 8 }, (_, n) => [
    `part-${n}.md`,
    `# Part ${n}\n\n${`The flumbrick gate number ${n} opens slowly. `.repeat(3 + n)}\n`,
  ]),
);

interface Recent {
  readonly vault_injection?: {
    readonly chunks_injected: number;
    readonly tokens_injected: number;
    readonly top_chunks: readonly string[];
  };
}

async function newest(port: number): Promise<Recent> {
  const { text } = await exchange(port, { method: 'GET', path: '/recent' });
  return (JSON.parse(text) as { recent: Recent[] }).recent[0]!;
}

test('the settings limit the number of blocks, their size and the least score', async () => {
  await withVault(
    async (rig) => {
      for (const [setting, expected] of [
        ['inject_top_k: 2', 2],
        ['inject_budget: 260', 'some'],
        ['inject_budget: 10', 0],
        ['inject_min_score: 1000', 0],
        ['inject_top_k: 0', 0],
      ] as const) {
        // Every file has the query words, so all scores are low.
        const base = setting.includes('score') ? '' : '  inject_min_score: 0\n';
        rig.configure(`vault:\n${base}  ${setting}\n`);
        await rig.proxy.reload();
        const received = await forwardedBody(rig, MESSAGES.path, raw);
        const parts = received.split('--- part-').length - 1;
        if (expected === 'some') assert.ok(parts > 0 && parts < 5, `${parts}`);
        else assert.is(parts, expected, setting);
        if (expected === 0) assert.is(received, JSON.stringify(raw), setting);
        await rig.rows(rig.proxy.services.window.totals().requests);
        const { vault_injection: reported } = await newest(rig.proxy.port);
        assert.is(reported?.chunks_injected ?? 0, parts);
        if (expected === 'some') assert.ok(reported!.tokens_injected <= 260);
      }
    },
    { files: MANY },
  );
});

test('the same text in two files is added once', async () => {
  const text = 'The flumbrick gate opens when the quorble lever is pulled.\n';
  const files = { 'gate.md': text, 'copy/gate.md': text, 'other.md': `Also: ${text}` };
  await withVault(
    async (rig) => {
      const added = lastUserText(await forwardedBody(rig, MESSAGES.path, raw));
      assert.is(added.split('--- ').length - 1, 2, added);
    },
    { files },
  );
});

test('a repeated question gets the old text for two minutes, and then that of the current files', async () => {
  let laterMs = 0;
  const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + laterMs };
  const use = async (rig: TestProxy, place: VaultPlace): Promise<void> => {
    const before = await forwardedBody(rig, MESSAGES.path, raw);
    place.write({ 'gate.md': 'The flumbrick gate opens at noon.\n' });
    await place.index();
    laterMs = 60_000;
    assert.is(await forwardedBody(rig, MESSAGES.path, raw), before);
    laterMs = 180_000;
    assert.match(await forwardedBody(rig, MESSAGES.path, raw), /opens at noon/);
  };
  await withVault(use, { clock });
});

test('a conversation carries at most four budgets of added text', async () => {
  await withVault(
    async (rig) => {
      const messages: object[] = [];
      let received = '';
      for (let turn = 0; turn < 9; turn++) {
        messages.push(MESSAGES.user(`flumbrick gate, turn ${turn}?`));
        received = await forwardedBody(rig, MESSAGES.path, MESSAGES.body(messages));
        messages.push(MESSAGES.assistant(`answer ${turn}`));
      }
      const [row] = (await rig.rows(9)).slice(-1);
      assert.ok((row?.tokensInjected ?? 0) <= 4 * 150, `${row?.tokensInjected}`);
      // No block is sent twice.
      const places = [...received.matchAll(/--- part-\d/g)].map(String);
      assert.ok(places.length > 2);
      assert.is(new Set(places).size, places.length);
    },
    { files: MANY, yaml: 'vault:\n  inject_min_score: 0\n  inject_budget: 150\n' },
  );
});

test('added text is reported in /recent and in the trace', async () => {
  await withVault(async (rig) => {
    await forwardedBody(rig, MESSAGES.path, raw);
    const [row] = await rig.rows(1);
    const { vault_injection: reported } = await newest(rig.proxy.port);
    assert.is(reported?.chunks_injected, 1);
    assert.is(reported?.top_chunks.length, 1);
    assert.ok((reported?.tokens_injected ?? 0) > 20);
    const trace = await exchange(rig.proxy.port, { method: 'GET', path: `/trace/${row!.id}` });
    const { stages } = JSON.parse(trace.text) as { stages: Record<string, unknown>[] };
    const stage = stages.find((each) => each['name'] === 'vault_inject');
    assert.is(stage?.['blocks_injected'], 1);
    assert.type(stage?.['duration_ms'], 'number');
    await forwardedBody(rig, MESSAGES.path, MESSAGES.body([MESSAGES.user(ABSENT)]));
    await rig.rows(2);
    assert.is((await newest(rig.proxy.port)).vault_injection, undefined);
  });
});

test('copies of one text do not displace another text', async () => {
  const copy = `# Gate\n\n${'The flumbrick gate opens. '.repeat(9)}\n`;
  const copies = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`c${n}/gate.md`, copy]));
  const other =
    'About the flumbrick gate it is also told, at some length, that a lamp hangs there.\n';
  await withVault(
    async (rig) => {
      const text = lastUserText(await forwardedBody(rig, MESSAGES.path, raw));
      assert.is(text.split('# Gate').length, 2);
      assert.match(text, /a lamp hangs there/);
    },
    { files: { ...copies, 'other.md': other }, yaml: 'vault:\n  inject_min_score: 0\n' },
  );
});

/** Returns the last user text with the whole block, and then with its capsule. */
async function wholeAndShort(rig: TestProxy): Promise<readonly [whole: string, short: string]> {
  const whole = lastUserText(await forwardedBody(rig, MESSAGES.path, raw));
  rig.configure('vault:\n  capsules: true\n');
  await rig.proxy.reload();
  return [whole, lastUserText(await forwardedBody(rig, MESSAGES.path, raw))];
}

test('capsules shorten long blocks, and are not used otherwise', async () => {
  const filler = Array.from(
    { length: 90 },
    (_, n) => `Some say that on many days there was nothing much to tell about it, as in ${n % 7}.`,
  );
  const long = `# Gate\n\n${filler.join('\n\n')}\n\nThe flumbrick gate opens at 07:15 sharp.\n`;
  await withVault(
    async (rig) => {
      const [whole, short] = await wholeAndShort(rig);
      assert.ok(short.length < whole.length * 0.7, `${short.length} of ${whole.length}`);
      assert.match(short, /opens at 07:15 sharp/);
      const lamp = MESSAGES.body([MESSAGES.user('the zandrel lamp?')]);
      assert.match(await forwardedBody(rig, MESSAGES.path, lamp), /brightest beside a cold mirrow/);
      rig.configure('vault:\n  capsules: true\ncompression:\n  enabled: false\n');
      await rig.proxy.reload();
      assert.is(
        lastUserText(await forwardedBody(rig, MESSAGES.path, raw)),
        whole,
        'the master switch',
      );
      const health = JSON.parse(
        (await exchange(rig.proxy.port, { path: '/health', method: 'GET' })).text,
      );
      assert.is((health as Record<string, unknown>)['capsule_available'], false);
    },
    {
      files: {
        'gate.md': long,
        'lamp.md': 'The zandrel lamp burns brightest beside a cold mirrow.\n',
      },
    },
  );
});

for (const name of ['gate.md', 'gate.txt', 'gate.log'])
  test(`a capsule of a short block of repeats is shorter: ${name}`, async () => {
    const line = 'The flumbrick gate is inspected again each hour.';
    await withVault(
      async (rig) => {
        const [whole, short] = await wholeAndShort(rig);
        assert.ok(short.length < whole.length * 0.5, `${short.length} of ${whole.length}`);
        assert.match(short, new RegExp(line));
        assert.match(short, /the line above 11 more times/);
      },
      { files: { [name]: `${line}\n`.repeat(12) } },
    );
  });

test.after(closeClients);
test.run();
