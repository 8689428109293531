/** Everything that `definePlugin` can add, running in a proxy, and its faults. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy, withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

test.after(closeClients);

function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-plugin-api-'));
  return use(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

function write(folder: string, name: string, source: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, source);
  chmodSync(file, 0o600);
  return file;
}

const yamlOf = (module: string, config: object = {}) =>
  `plugins:\n  - module: ${JSON.stringify(module)}\n    config: ${JSON.stringify(config)}\n`;

const ask = (t: TestProxy, body: string, path = '/v1/messages') =>
  exchange(t.proxy.port, { path, body });

const health = async (t: TestProxy) =>
  (await (await fetch(`${t.proxy.url}/health`)).json()) as {
    status: string;
    reasons: readonly string[];
  };

test("a plugin's provider serves as primary and for clients of other dialects, and follows a reload", () =>
  withFolder((folder) =>
    withProxy({}, async (t) => {
      const source = (tenant: string) => `export default {
        name: 'acme-tools',
        setup: ({ config }) => ({ providers: [{
          name: 'acme', kind: 'chat', baseUrl: config.url, auth: 'none',
          modelAliases: { fast: 'acme-fast-2' },
          request(request) { request.headers['x-tenant'] = '${tenant}'; },
        }] }),
      };`;
      const module = write(folder, 'acme.mjs', source('one'));
      t.configure(`${yamlOf(module, { url: t.upstream.url })}routing: { primary: acme }\n`);
      await t.proxy.reload();
      const chat = await ask(t, json(CHAT, { model: 'fast' }), '/v1/chat/completions');
      assert.is(chat.status, 200, chat.text);
      const sent = t.upstream.requests.at(-1)!;
      assert.match(sent.body.toString(), /"acme-fast-2"/);
      assert.is(sent.header('x-tenant'), 'one');
      t.configure(`${yamlOf(module, { url: t.upstream.url })}fallback: [acme/fast]\n`);
      await t.proxy.reload();
      t.upstream.script(undefined, '500', { times: 1 });
      const message = await ask(t, json(MESSAGE));
      assert.is(message.status, 200, message.text);
      assert.match(t.upstream.requests.at(-1)!.path, /chat\/completions/);
      write(folder, 'acme.mjs', source('two'));
      const report = (await t.proxy.reload()) as { applied: readonly string[] };
      assert.equal(report.applied, ['plugins.acme-tools']);
      t.upstream.script(undefined, '500', { times: 1 });
      await ask(t, json(MESSAGE));
      assert.is(t.upstream.requests.at(-1)!.header('x-tenant'), 'two');
    }),
  ));

test("a plugin's provider without its key is skipped and reported, and a taken name stops the start", () =>
  withFolder(async (folder) => {
    const source = (name: string) =>
      `export default { name: 'p', providers: [{ name: '${name}', kind: 'chat', baseUrl: 'http://127.0.0.1:9', auth: { env: 'NO_SUCH_KEY' } }] };`;
    await withProxy({ yaml: yamlOf(write(folder, 'a.mjs', source('acme'))) }, async (t) => {
      const { status, reasons } = await health(t);
      assert.is(status, 'degraded');
      assert.match(reasons.join('\n'), /acme of plugin p: .*a\.mjs: the variable NO_SUCH_KEY/);
      assert.is((await ask(t, json(MESSAGE))).status, 200);
    });
    for (const [file, more, reason] of [
      [
        'b.mjs',
        '',
        /b\.mjs: providers: plugin p brings chat, and there is a provider of that name/,
      ],
      [
        'a.mjs',
        'routing: { primary: nobody }\n',
        /routing\.primary: there is no provider 'nobody'/,
      ],
    ] as const) {
      const module = write(folder, file, source(file === 'b.mjs' ? 'chat' : 'acme'));
      const error: unknown = await startTestProxy({ yaml: yamlOf(module) + more }).then(
        (t) => t.close(),
        (thrown: unknown) => thrown,
      );
      assert.match((error as Error | undefined)?.message ?? 'it started', reason);
    }
  }));

const RECIPE = `{
  name: 'my-tool', match: { program: 'my-tool' }, must_keep: ['warning'],
  operations: [{ drop_lines: { pattern: '^ +step' } }],
}`;
const OUTPUT = [
  'my-tool 1.0',
  ...Array.from(
    { length: 200 },
    (_, at) => `  step ${at}: module ${at * 7919} of the shop is read`,
  ),
  'warning: a slow disk',
  'Done',
].join('\n');

const toolResult = (command: string, content: string) => ({
  messages: [
    { role: 'user', content: 'Build it.' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content }] },
  ],
});

test("a plugin's recipe shortens its matching requests only", () =>
  withFolder(async (folder) => {
    const module = write(folder, 'r.mjs', `export default { name: 'r', recipes: [${RECIPE}] };`);
    const sentWith = async (yaml: string, command: string) => {
      let sent = '';
      await withProxy({ yaml: `${yaml}compression: { threshold_tokens: 100 }\n` }, async (t) => {
        await ask(t, json(MESSAGE, toolResult(command, OUTPUT)));
        sent = t.upstream.requests.at(-1)!.body.toString();
      });
      return sent;
    };
    const made = await sentWith(yamlOf(module), 'my-tool build');
    assert.not.match(made, /step 120:/);
    assert.match(made, /warning: a slow disk/);
    assert.match(await sentWith('', 'my-tool build'), /step 120:/);
    assert.match(await sentWith(yamlOf(module), 'other build'), /step 120:/);
  }));

const HOOKS = `export default {
  name: 'h',
  setup: ({ config, tools, view }) => ({ hooks: {
    request(frame, ctx) {
      const model = tools.modelOf(frame.request);
      if (model === 'refused') throw tools.error('forbidden', 'not this model');
      if (model === 'canned') return tools.answer(frame, { body: { json: { canned: true } } });
      return tools.setModel(frame, 'claude-other');
    },
    head: (head) => ({ ...head, headers: [...head.headers, 'x-hooked', config.mark] }),
    event(event) {
      if (event.data.type === 'ping') return null;
      if (event.data.type !== 'content_block_delta') return undefined;
      return { ...event, data: { ...event.data, delta: { type: 'text_delta', text: 'HOOKED' } } };
    },
    settled: ({ outcome }) => view.log.warning('settled ' + outcome),
  } }),
};`;

test('hooks change requests, responses and events, refuse, and respond themselves', () =>
  withFolder((folder) =>
    withProxy({ yaml: yamlOf(write(folder, 'h.mjs', HOOKS), { mark: 'yes' }) }, async (t) => {
      const whole = await ask(t, json(MESSAGE));
      assert.is(whole.headers['x-hooked'], 'yes');
      assert.match(t.upstream.requests.at(-1)!.body.toString(), /"claude-other"/);
      const streamed = await ask(t, json(MESSAGE, { stream: true }));
      assert.match(streamed.text, /"text":"HOOKED"/);
      assert.not.match(streamed.text, /event: ping/);
      assert.match(streamed.text, /message_stop/);
      const refused = await ask(t, json(MESSAGE, { model: 'refused' }));
      assert.is(refused.status, 403);
      assert.match(refused.text, /not this model/);
      assert.match((await ask(t, json(MESSAGE, { model: 'canned' }))).text, /"canned":true/);
      // Usage is counted from what the provider sent.
      const rows = await t.rows(4);
      assert.equal(
        rows.map((row) => row.outcome),
        ['ok', 'ok', 'error', 'ok'],
      );
      assert.ok((rows[1]?.outputTokens ?? 0) > 0);
    }),
  ));

test('a hook that throws or hangs fails its own request, or none if it is set to pass', () =>
  withFolder(async (folder) => {
    for (const onFault of ['fail', 'pass']) {
      const module = write(
        folder,
        `${onFault}.mjs`,
        `export default { name: 'odd', hooks: { onFault: '${onFault}', timeoutMs: 50,
          request(frame) {
            const { model } = JSON.parse(frame.request.original.body.bytes.toString());
            if (model === 'throws') throw new Error('odd');
            if (model === 'hangs') return new Promise(() => {});
          },
          event() { throw new Error('odd event'); },
        } };`,
      );
      await withProxy({ yaml: yamlOf(module) }, async (t) => {
        for (const model of ['throws', 'hangs']) {
          const odd = await ask(t, json(MESSAGE, { model }));
          assert.is(odd.status, onFault === 'pass' ? 200 : 500, `${onFault} ${model}: ${odd.text}`);
        }
        const streamed = await ask(t, json(MESSAGE, { stream: true }));
        if (onFault === 'pass') assert.match(streamed.text, /message_stop/);
        else assert.match(streamed.text, /event: error/);
        assert.is((await ask(t, json(MESSAGE))).status, 200, 'the next request succeeds');
      });
    }
  }));

test('an event hook that returns a promise is a fault, not an event without data', () =>
  withFolder((folder) =>
    withProxy(
      {
        yaml: yamlOf(
          write(
            folder,
            'late.mjs',
            "export default { name: 'late', hooks: { onFault: 'pass', event: async (event) => event } };",
          ),
        ),
      },
      async (t) => {
        const streamed = await ask(t, json(MESSAGE, { stream: true }));
        assert.not.match(streamed.text, /undefined|^data: *$/m);
        assert.match(streamed.text, /message_stop/);
        const [row] = await t.rows(1);
        assert.is(row?.outcome, 'ok');
      },
    ),
  ));

test('every fault of a plugin has file and line, and a failed reload keeps the running graph', () =>
  withFolder(async (folder) => {
    const good =
      "export default { name: 'g', hooks: { head: (head) => ({ ...head, headers: [...head.headers, 'x-g', '1'] }) } };";
    const cases: readonly (readonly [source: string, ...faults: readonly RegExp[]])[] = [
      [
        "export default {\n  name: 'g',\n  colour: 1,\n  setupp() {},\n};",
        /g\.mjs:3: colour is not a plugin field/,
        /g\.mjs:4: setupp is not a plugin field/,
      ],
      [
        "export default {\n  name: 'g',\n  providers: [\n    { name: 'acme',\n      kind: 'chatt', baseUrl: 'x' }],\n};",
        /g\.mjs:5: providers\[0\]: kind: expected messages, chat or generative/,
      ],
      [
        "export default {\n  name: 'g',\n  recipes: [{\n    name: 'x',\n    match: { progam: 'x' },\n    operations: ['dedupe'] }],\n};",
        /g\.mjs:5: recipes\[0\]: match\.progam is not a condition/,
        /g\.mjs:6: recipes\[0\]: operations\.0\.dedupe dedupe can lose something/,
      ],
      [
        "export default {\n  name: 'g',\n  macros: [{ name: 'm',\n    steps: [{ debug: {\n      onn: true } }] }],\n};",
        /g\.mjs:5: macros\[0\]: step 1 \(debug\): onn is not a parameter/,
      ],
      [
        "export default {\n  name: 'g',\n  hooks: {\n    requests() {} },\n};",
        /g\.mjs:4: hooks: requests is not a hook; known are request, head, event, settled/,
      ],
      [
        "export default {\n  name: 'g',\n  stages: [{ on: {},\n    before: 'nowhere' }],\n};",
        /Plugin 'g' inserts 'g' beside 'nowhere'.*g\.mjs:4/s,
      ],
      [
        "export default {\n  name: 'g',\n};",
        /g\.mjs: setup: must be a function unless one of stages/,
      ],
    ];
    const module = write(folder, 'g.mjs', good);
    await withProxy({ yaml: yamlOf(module) }, async (t) => {
      for (const [source, ...faults] of cases) {
        write(folder, 'g.mjs', source);
        const refused: unknown = await t.proxy.reload().catch((thrown: unknown) => thrown);
        for (const fault of faults) assert.match((refused as Error).message, fault);
        assert.is((await ask(t, json(MESSAGE))).headers['x-g'], '1', 'the running graph is kept');
      }
    });
  }));

test('a head that HTTP cannot carry is a fault of its stage, and a wrong length is corrected', () =>
  withFolder((folder) =>
    withProxy({}, async (t) => {
      const answering = (head: string, how: string) => `export default {
        name: 'odd',
        setup: ({ tools }) => ({ stages: [{
          after: 'route', answers: true,
          on: { request(frame) {
            const frames = tools.answer(frame, { body: { json: { ok: true } } });
            const odd = { ...frames[0], ${head} };
            const all = [odd, ...frames.slice(1)];
            return ${how};
          } },
        }] }),
      };`;
      const attempts = {
        whole: 'all',
        promised: 'Promise.resolve(all)',
        live: 'new ReadableStream({ start(c) { for (const one of all) c.enqueue(one); c.close(); } })',
      };
      const bad = [
        'status: 99',
        'status: 100',
        'status: 101',
        'status: 1000',
        'status: 200.5',
        'status: NaN',
        "status: '200'",
        'status: null',
        'status: undefined',
        'status: -1',
        "headers: ['x-a', 'b\\r\\nSet-Cookie: c']",
        "headers: ['x a', 'b']",
        "headers: ['x-a']",
        "headers: ['x-a', 7]",
        "headers: ['x-a', '\\u20ac']",
        'headers: {}',
        'headers: null',
      ];
      const lengths = [
        "headers: ['content-length', '3']",
        "headers: ['Content-Length', '3000']",
        "headers: ['content-length', 'x']",
        "headers: ['content-length', '-1', 'content-length', '5']",
        "headers: ['transfer-encoding', 'chunked', 'content-length', '3']",
        "headers: ['transfer-encoding', 'gzip']",
        "headers: ['connection', 'close, x-a', 'upgrade', 'h2c']",
      ];
      let count = 0;
      for (const [way, how] of Object.entries(attempts)) {
        for (const head of [...bad, ...lengths]) {
          const module = write(folder, `odd-${(count += 1)}.mjs`, answering(head, how));
          t.configure(yamlOf(module));
          await t.proxy.reload();
          const response = await ask(t, json(MESSAGE));
          const isBad = bad.includes(head);
          assert.is(response.status, isBad ? 500 : 200, `${way} ${head}: ${response.text}`);
          if (!isBad) assert.equal(JSON.parse(response.text), { ok: true }, `${way} ${head}`);
          assert.ok(response.whole);
          const row = (await t.rows(count)).at(-1);
          assert.is(row?.status, response.status, `${way} ${head}`);
          assert.is(row?.outcome, isBad ? 'error' : 'ok', `${way} ${head}`);
        }
      }
    }),
  ));

test('a stage that changes a response body cannot break its framing with the head that it returns', () =>
  withFolder((folder) =>
    withProxy({}, async (t) => {
      for (const promised of ['1', '99999']) {
        const module = write(
          folder,
          `longer-${promised}.mjs`,
          `export default {
            name: 'longer',
            setup: ({ tools }) => ({ stages: [{ after: 'forward', on: {
              head: (head) => ({ ...head, headers: [...head.headers, 'content-length', '${promised}'] }),
              end: (end) => [tools.toChunk('      '), end],
            } }] }),
          };`,
        );
        t.configure(yamlOf(module));
        await t.proxy.reload();
        for (const stream of [false, true]) {
          const response = await ask(t, json(MESSAGE, { stream }));
          assert.is(response.status, 200, response.text);
          assert.ok(response.whole && response.text.endsWith('      '), response.text);
        }
      }
    }),
  ));

test.run();
