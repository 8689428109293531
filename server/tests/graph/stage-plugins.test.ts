/**
 * Plugins that add stages: from the configuration into the graph, and the effects of their faults.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run } from '../../../fixtures/cli/run.ts';
import { fixturePath } from '../../../fixtures/paths.ts';
import { startTestProxy, withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import {
  CHAT,
  MESSAGE,
  closeClients,
  exchange,
  json,
  openResponse,
} from '../../../fixtures/server/exchange.ts';
import { openTalk } from '../../../fixtures/server/websocket.ts';

test.after(closeClients);

function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-plugins-'));
  return use(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

function write(folder: string, name: string, source: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, source, { mode: 0o600 });
  return file;
}

const yamlOf = (...modules: readonly string[]) =>
  `plugins:\n${modules.map((module) => `  - module: ${JSON.stringify(module)}\n`).join('')}`;

const ask = (t: TestProxy, body: string, path = '/v1/messages') =>
  exchange(t.proxy.port, { path, body });

test('a footer is added to streamed responses of both dialects only', () =>
  withProxy(
    {
      yaml: `plugins:\n  - module: ${JSON.stringify(fixturePath('plugins', 'footer.mjs'))}\n    config: { text: " [checked]" }\n`,
    },
    async (t) => {
      const messages = await ask(t, json(MESSAGE, { stream: true }));
      assert.match(messages.text, /"text":" \[checked\]"/);
      assert.match(messages.text, /message_stop/);
      assert.is(messages.text.split('[checked]').length, 2, 'once');
      const chat = await ask(t, json(CHAT, { stream: true }), '/v1/chat/completions');
      assert.match(chat.text, /"content":" \[checked\]"/);
      assert.match(chat.text, /\[DONE\]/);
      const whole = await ask(t, json(MESSAGE));
      assert.not.match(whole.text, /checked/);
    },
  ));

test('a canned response reaches no provider, and other models do', () =>
  withProxy({ yaml: yamlOf(fixturePath('plugins', 'canned.mjs')) }, async (t) => {
    const canned = await ask(t, json(MESSAGE, { model: 'canned' }));
    assert.is(canned.status, 200);
    assert.is(canned.headers['x-answered-by'], 'canned');
    assert.match(canned.text, /A canned answer/);
    assert.is(t.upstream.requests.length, 0);
    await ask(t, json(MESSAGE));
    assert.is(t.upstream.requests.length, 1);
    const rows = await t.rows(2);
    assert.equal(
      rows.map((row) => row.outcome),
      ['ok', 'ok'],
    );
  }));

/** Returns both sides of every compiled node, with the frames that pass there. */
async function places(): Promise<
  readonly { readonly side: string; readonly node: string; readonly frame: string }[]
> {
  const place = makePlace();
  const { stdout } = await run(place, ['graph', '--json']);
  place.dispose();
  const { request, answers } = JSON.parse(stdout) as {
    readonly request: readonly { readonly node: string }[];
    readonly answers: readonly {
      readonly from: string;
      readonly segments: readonly { readonly nodes: readonly { readonly node: string }[] }[];
    }[];
  };
  const afterForward = answers.find(({ from }) => from === 'forward')!;
  const answered = new Set(
    afterForward.segments.flatMap(({ nodes }) => nodes.map(({ node }) => node)),
  );
  const nodes = new Set([...request.map(({ node }) => node), ...answered]);
  // `forward` handles the frames of its own answer, so a stage before it gets requests only.
  const before = (node: string): string =>
    answered.has(node) && node !== 'forward' ? 'chunk' : 'request';
  return [...nodes].flatMap((node) => [
    { side: 'before', node, frame: node === 'parse' ? 'body' : before(node) },
    { side: 'after', node, frame: node === 'forward' ? 'chunk' : before(node) },
  ]);
}

const counting = (side: string, node: string, frame: string) => `export default {
  name: 'counting',
  setup: () => ({ stages: [{ ${side}: '${node}', watch: {
    ${frame}: (_frame, ctx) => ctx.note('seen', true),
  } }] }),
};`;

/** The four forms in which a client gets a response. */
const SINKS: Readonly<Record<string, (t: TestProxy) => Promise<string>>> = {
  json: async (t) => (await ask(t, json(MESSAGE))).text,
  events: async (t) => (await ask(t, json(MESSAGE, { stream: true }))).text,
  lines: async (t) => {
    const headers = { accept: 'application/x-ndjson' };
    const body = json(MESSAGE, { stream: true });
    return (await exchange(t.proxy.port, { path: '/v1/messages', body, headers })).text;
  },
  async socket(t) {
    const started = await openTalk(t.proxy.wsPort);
    const response = await started.answered(json(MESSAGE, { stream: true }));
    started.socket.terminate();
    return JSON.stringify(response);
  },
};

test('a stage can be placed before and after every node, with every sink', () =>
  withFolder(async (folder) => {
    const all = await places();
    assert.ok(all.length >= 2 * 12, `${all.length} places`);
    for (const { side, node, frame } of all) {
      const file = write(folder, `${side}-${node}.mjs`, counting(side, node, frame));
      await withProxy({ yaml: yamlOf(file) }, async (t) => {
        for (const [sink, send] of Object.entries(SINKS)) {
          const text = await send(t);
          assert.match(text, sink === 'json' ? /"end_turn"/ : /message_stop/, `${sink}: ${text}`);
          const trace = (await (await fetch(`${t.proxy.url}/trace/last`)).json()) as {
            stages: readonly { node: string; seen?: boolean }[];
          };
          const own = trace.stages.find((stage) => stage.node === 'counting');
          assert.is(own?.seen, true, `${side} ${node}, ${sink}`);
        }
      });
    }
  }));

test('a faulty plugin stops the start and reports file, line and reason', () =>
  withFolder(async (folder) => {
    const cases: readonly (readonly [source: string, message: RegExp])[] = [
      ['export default 5;', /bad\.mjs: its default export is not a plugin/],
      ["export default { name: 'a b', setup: () => ({ stages: [] }) };", /name: use letters/],
      ["export default { name: 'x' };", /setup: must be a function/],
      ["export default { name: 'x', setup: () => 7 };", /a list of stages/],
      ["export default { name: 'x', setup: () => ({ stages: [{ on: {} }] }) };", /before or after/],
      [
        "export default { name: 'x', setup: () => ({ stages: [{ before: 'nowhere', on: {} }] }) };",
        /nowhere/,
      ],
      [
        "export default { name: 'x', setup: () => ({ stages: [{ name: 'a\\nb', before: 'route', on: {} }] }) };",
        /stages\[0\]: name: use one to 64 visible characters/,
      ],
      [
        "export default { name: 'recipes', setup: () => ({ stages: [{ before: 'route', on: {} }] }) };",
        /cannot be built:\n.*'recipes' inserts a node 'recipes', and so does 'recipes' .*bad\.mjs\)$/m,
      ],
      [
        "export default { name: 'x', setup: () => new Promise(() => {}) };",
        /bad\.mjs: it did not finish loading/,
      ],
      [
        "export default { name: 'x', setup: () => ({ stages: [{ before: 'route', on: { chunks() {} } }] }) };",
        /stages\[0\]: on: chunks is no kind of frame; known are body, request, head, chunk, end/,
      ],
      [
        "export default { name: 'x', setup: () => ({ stages: [{ before: 'route', settled() {}, onfault: 'pass' }] }) };",
        /stages\[0\]: onfault is not a field of a stage; known are .*onFault/,
      ],
      [
        "export default { name: 'x', setup: () => ({ stages: [{ before: 'route', on: {}, transform() {}, timeoutMs: 0 }] }) };",
        /timeoutMs: must be a number above 0[^]*on and transform cannot be in one stage/,
      ],
      [
        "export default {\n  name: 'x',\n  setup() {\n    throw new Error('not today');\n  },\n};",
        /bad\.mjs:4: not today/,
      ],
      [
        "export default { name: 'x', config: () => { throw new Error('size is missing'); }, setup: () => ({ stages: [] }) };",
        /size is missing/,
      ],
      [
        `import { type } from ${JSON.stringify(import.meta.resolve('arktype'))};\nexport default { name: 'x', config: type({ text: 'string' }), setup: () => ({ stages: [] }) };`,
        /bad\.mjs: config: text must be a string/,
      ],
      ['export default {', /bad\.mjs/],
    ];
    for (const [source, message] of cases) {
      const file = write(
        join(folder, String(cases.findIndex(([one]) => one === source))),
        'bad.mjs',
        source,
      );
      const error: unknown = await startTestProxy({ yaml: yamlOf(file) }).then(
        (t) => t.close().then(() => undefined),
        (thrown: unknown) => thrown,
      );
      assert.match((error as Error | undefined)?.message ?? 'it started', message);
    }
    const open = write(
      folder,
      'open.mjs',
      "export default { name: 'x', setup: () => ({ stages: [] }) };",
    );
    chmodSync(open, 0o666);
    const error: unknown = await startTestProxy({ yaml: yamlOf(open) }).catch(
      (thrown: unknown) => thrown,
    );
    assert.match((error as Error).message, /can be written by other users/);
  }));

test('a reload uses changed code, and a faulty module keeps the running graph', () =>
  withFolder(async (folder) => {
    const source = (text: string) =>
      `export default { name: 'tag', setup: () => ({ stages: [{ after: 'forward', on: {
        head: (head) => ({ ...head, headers: [...head.headers, 'x-tag', '${text}'] }) } }] }) };`;
    const file = write(folder, 'tag.mjs', source('one'));
    await withProxy({ yaml: yamlOf(file) }, async (t) => {
      const tag = async () => (await ask(t, json(MESSAGE))).headers['x-tag'];
      assert.is(await tag(), 'one');
      write(folder, 'tag.mjs', 'export default {');
      const refused = await t.proxy.reload().catch((thrown: unknown) => thrown);
      assert.match((refused as Error).message, /tag\.mjs/);
      assert.is(await tag(), 'one', 'the running graph is kept');
      write(folder, 'tag.mjs', source('two'));
      const report = (await t.proxy.reload()) as { applied: readonly string[] };
      assert.ok(report.applied.includes('plugins.tag'));
      assert.is(await tag(), 'two');
    });
  }));

test('a stage that throws or hangs fails its own request, or none if it is set to pass', () =>
  withFolder(async (folder) => {
    const source = (
      onFault: string,
    ) => `export default { name: 'odd', setup: ({ tools }) => ({ stages: [{
      before: 'route', onFault: '${onFault}', timeoutMs: 50,
      on: { request(frame) {
        const model = tools.modelOf(frame.request);
        if (model === 'throws') throw new Error('odd');
        if (model === 'hangs') return new Promise(() => {});
      } } }] }) };`;
    for (const onFault of ['fail', 'pass']) {
      const file = write(join(folder, onFault), 'odd.mjs', source(onFault));
      await withProxy({ yaml: yamlOf(file) }, async (t) => {
        for (const model of ['throws', 'hangs']) {
          const odd = await ask(t, json(MESSAGE, { model }));
          assert.is(odd.status, onFault === 'pass' ? 200 : 500, `${onFault} ${model}`);
          assert.is((await ask(t, json(MESSAGE))).status, 200, 'the next request succeeds');
        }
        for (let count = 0; count < 5; count += 1) await ask(t, json(MESSAGE, { model: 'throws' }));
        const resting = await ask(t, json(MESSAGE));
        assert.is(resting.status, onFault === 'pass' ? 200 : 503, 'the stage is suspended');
      });
    }
  }));

test('a slow stage and one with a huge response delay no other request', () =>
  withFolder(async (folder) => {
    const file = write(
      folder,
      'large.mjs',
      `export default { name: 'large', setup: ({ tools }) => ({ stages: [{
        after: 'forward', timeoutMs: 300000,
        open: () => ({ isDone: false }),
        on: {
          head(head, ctx) { ctx.state.model = tools.modelOf(head.request); },
          async chunk(chunk, ctx) {
            if (ctx.state.model === 'slow') {
              ctx.state.wait ??= new Promise((resolve) => (globalThis.letSlowGo = resolve));
              await ctx.state.wait;
            }
            if (ctx.state.model !== 'huge' || ctx.state.isDone) return undefined;
            ctx.state.isDone = true;
            const piece = 'x'.repeat(2 ** 20);
            return [chunk, ...Array.from({ length: 64 }, () => tools.toChunk(': ' + piece + '\\n\\n'))];
          },
        } }] }) };`,
    );
    await withProxy({ yaml: yamlOf(file) }, async (t) => {
      let isSlowDone = false;
      const slow = ask(t, json(MESSAGE, { model: 'slow' })).finally(() => (isSlowDone = true));
      // This client reads the head and then nothing; the unread rest must not block other requests.
      const unread = await openResponse(t.proxy.port, {
        body: json(MESSAGE, { model: 'huge', stream: true }),
      });
      for (let count = 0; count < 5; count += 1)
        assert.is((await ask(t, json(MESSAGE))).status, 200);
      assert.not.ok(isSlowDone, 'the others were answered meanwhile');
      const huge = await ask(t, json(MESSAGE, { model: 'huge', stream: true }));
      assert.ok(huge.whole && huge.body.length > 64 * 2 ** 20, `${huge.body.length} bytes`);
      unread.destroy();
      (globalThis as unknown as { letSlowGo: () => void }).letSlowGo();
      assert.is((await slow).status, 200);
      assert.is((await ask(t, json(MESSAGE))).status, 200);
    });
  }));

test('a stream that hangs ends its own request in time, wherever it is placed', () =>
  withFolder(async (folder) => {
    const hangsAt = (kind: string, place: string) => `{ name: 'hangs-at-${kind}', ${place},
      timeoutMs: 100, transform: () => {
        let isStuck = false;
        const hangs = () => new Promise(() => {});
        return new TransformStream({
          transform(frame, controller) {
            if (frame.kind === 'head' || frame.kind === 'request')
              isStuck = tools.modelOf(frame.request) === '${kind}';
            if (isStuck && frame.kind === '${kind}') return hangs();
            controller.enqueue(frame);
          },
          flush: () => (isStuck && '${kind}' === 'flush' ? hangs() : undefined),
        });
      } }`;
    const kinds = ['request', 'head', 'chunk', 'flush'];
    const stages = kinds.map((kind) =>
      hangsAt(kind, kind === 'request' ? "before: 'route'" : "after: 'forward'"),
    );
    // A stage that runs longer than its timeout but is never idle: it holds frames back, then
    // releases them slowly.
    stages.push(`{ name: 'buffers', after: 'forward', timeoutMs: 1000, transform: () => {
      const held = [];
      let isHeld = false;
      return new TransformStream({
        transform(frame, controller) {
          if (frame.kind === 'head') isHeld = tools.modelOf(frame.request) === 'held';
          if (isHeld) held.push(frame);
          else controller.enqueue(frame);
        },
        async flush(controller) {
          for (const frame of held) {
            await new Promise((resolve) => setTimeout(resolve, 550));
            controller.enqueue(frame);
          }
        },
      });
    } }`);
    const module = write(
      folder,
      'hangs.mjs',
      `export default { name: 'hangs', setup: ({ tools }) => ({ stages: [${stages.join()}] }) };`,
    );
    await withProxy({ yaml: yamlOf(module) }, async (t) => {
      for (const kind of kinds)
        for (const stream of [false, true]) {
          const stuck = await ask(t, json(MESSAGE, { model: kind, stream }));
          const isUnderWay = stream && (kind === 'chunk' || kind === 'flush');
          assert.is(stuck.status, isUnderWay ? 200 : 500, `${kind} ${stream}`);
          assert.match(stuck.text, isUnderWay ? /event: error/ : /internal_error/);
        }
      const fine = await ask(t, json(MESSAGE, { model: 'held', stream: true }));
      assert.is(fine.status, 200, fine.text);
      assert.match(fine.text, /message_stop/);
    });
  }));

test('a stream that hangs, and faults outside of handlers, fail only their own request', () =>
  withFolder(async (folder) => {
    const file = write(
      folder,
      'stuck.mjs',
      `export default { name: 'stuck', setup: ({ tools }) => ({ stages: [
        { name: 'stuck-stream', after: 'forward', transform: () => {
          let isStuck = false;
          return new TransformStream({ transform(frame, controller) {
            if (frame.kind === 'head') isStuck = tools.modelOf(frame.request) === 'hangs';
            if (isStuck) return new Promise(() => {});
            controller.enqueue(frame);
          } });
        } },
        { name: 'stuck-rest', before: 'route',
          open: () => ({}),
          watch: { request() { throw new Error('watching'); } },
          settled() { throw new Error('settling'); },
        } ] }) };`,
    );
    await withProxy({ yaml: yamlOf(file) }, async (t) => {
      const gone = new AbortController();
      const hanging = exchange(t.proxy.port, {
        body: json(MESSAGE, { model: 'hangs' }),
        signal: gone.signal,
      }).catch((thrown: unknown) => thrown);
      for (let count = 0; count < 8; count += 1)
        assert.is((await ask(t, json(MESSAGE))).status, 200);
      gone.abort();
      await hanging;
      const rows = await t.rows(9);
      assert.equal(rows.map(({ outcome }) => outcome).toSorted(), [
        'cancelled',
        ...Array.from({ length: 8 }, () => 'ok'),
      ]);
    });
  }));

test.run();
