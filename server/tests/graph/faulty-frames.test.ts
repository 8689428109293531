/**
 * Plugin stages that emit what is no answer: the request fails with an error that names the stage,
 * its provider is closed, and nothing is left running.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { openTalk } from '../../../fixtures/server/websocket.ts';
import { until } from '../../../fixtures/wait.ts';

const NEVER = 'new Promise(() => {})';
const AFTER = "after: 'forward'";
const BEFORE = "before: 'route'";

const stream = (transformer: string, place = AFTER) =>
  `${place}, timeoutMs: 100, transform: () => new TransformStream(${transformer})`;
const pair = (source: string, sink = '{}') =>
  `${AFTER}, timeoutMs: 100, transform: () => ({ writable: new WritableStream(${sink}), readable: new ReadableStream(${source}) })`;
const liveOf = (source: string) => `new ReadableStream(${source})`;

/** By what the stage does: the stage, and what the client is told. */
const FAULTS: Readonly<Record<string, readonly [stage: string, message: RegExp]>> = {
  'throws in flush': [
    stream("{ transform: (f, c) => c.enqueue(f), flush() { throw new Error('boom'); } }"),
    /failed: boom/,
  ],
  'emits no head': [
    stream("{ transform(f, c) { if (f.kind !== 'head') c.enqueue(f); } }"),
    /emitted a 'chunk' before the 'head'/,
  ],
  'emits two heads': [
    stream("{ transform(f, c) { c.enqueue(f); if (f.kind === 'head') c.enqueue(f); } }"),
    /emitted a 'head' after the 'head'/,
  ],
  'emits two ends': [
    stream("{ transform(f, c) { c.enqueue(f); if (f.kind === 'end') c.enqueue(f); } }"),
    /emitted a 'end' after the 'end'/,
  ],
  'emits more after the end': [
    stream(
      "{ transform(f, c) { c.enqueue(f); if (f.kind === 'end') c.enqueue(tools.toChunk(': late\\n\\n')); } }",
    ),
    /emitted a 'chunk' after the 'end'/,
  ],
  'emits no end': [
    stream("{ transform(f, c) { if (f.kind !== 'end') c.enqueue(f); } }"),
    /stops without an 'end'/,
  ],
  'emits nothing': [stream('{ transform() {} }'), /stops without an 'end'/],
  'emits a text': [
    stream("{ transform: (f, c) => c.enqueue(f.kind === 'chunk' ? 'text' : f) }"),
    /emitted a string in place of a frame/,
  ],
  'emits a list': [
    stream("{ transform: (f, c) => c.enqueue(f.kind === 'chunk' ? [f] : f) }"),
    /emitted a list in place of a frame/,
  ],
  'emits a chunk of text': [
    stream("{ transform: (f, c) => c.enqueue(f.kind === 'chunk' ? { ...f, bytes: 'x' } : f) }"),
    /bytes of its chunk/,
  ],
  'emits an unknown frame': [
    stream(
      "{ transform(f, c) { c.enqueue(f); if (f.kind === 'head') c.enqueue({ kind: 'x' }); } }",
    ),
    /emitted a 'x' after the 'head'/,
  ],
  'refuses its input and stays silent': [
    pair(`{ pull: () => ${NEVER} }`, "{ start(c) { c.error(new Error('boom')); } }"),
    /failed: boom/,
  ],
  'takes its input and closes': [
    pair('{ start: (c) => c.close() }'),
    /stops without an 'end'|closed its stream/,
  ],
  'is no stream': [`${AFTER}, transform: () => undefined`, /stage odd failed/],
  'holds its own writer': [
    `${AFTER}, transform() { const s = new TransformStream(); s.writable.getWriter(); return s; }`,
    /failed: .*locked/,
  ],
  'throws at a request': [
    stream("{ transform() { throw new Error('boom'); } }", BEFORE),
    /failed: boom/,
  ],
  'emits a chunk in place of a request': [
    stream("{ transform: (f, c) => c.enqueue(tools.toChunk('x')) }", BEFORE),
    /emitted a 'chunk'/,
  ],
  'returns a chunk for a request': [
    `${BEFORE}, on: { request: () => tools.toChunk('x') }`,
    /returned a 'chunk' for a 'request'/,
  ],
  'returns a chunk of text': [
    `${AFTER}, on: { chunk: () => ({ kind: 'chunk', bytes: 'x' }) }`,
    /bytes of its chunk/,
  ],
  'answers without a head': [
    `${BEFORE}, answers: true, on: { request: () => [tools.toChunk('x'), tools.end] }`,
    /emitted a 'chunk' before the 'head'/,
  ],
  'answers live and then says nothing': [
    `${BEFORE}, answers: true, timeoutMs: 100, on: { request: () => ${liveOf(`{ pull: () => ${NEVER} }`)} }`,
    /longer than 100 ms/,
  ],
  'replaces the rest by a stream that says nothing': [
    `${AFTER}, timeoutMs: 100, on: { chunk: () => ${liveOf(`{ pull: () => ${NEVER} }`)} }`,
    /longer than 100 ms/,
  ],
  'replaces the rest by a stream without an end': [
    `${AFTER}, on: { chunk: (f) => ${liveOf('{ start(c) { c.enqueue(f); c.close(); } }')} }`,
    /stops without an 'end'/,
  ],
  'throws in open': [`${AFTER}, open() { throw new Error('boom'); }, on: {}`, /failed: boom/],
};

async function withStage(stage: string, use: (t: TestProxy) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-faulty-'));
  const file = join(folder, 'odd.mjs');
  const source = `export default { name: 'odd', setup: ({ tools }) => ({ stages: [{ ${stage} }] }) };`;
  writeFileSync(file, source, { mode: 0o600 });
  const stray: unknown[] = [];
  const notice = (thrown: unknown): void => void stray.push(thrown);
  process.on('uncaughtException', notice).on('unhandledRejection', notice);
  try {
    await withProxy({ yaml: `plugins: [{ module: ${JSON.stringify(file)} }]\n` }, use);
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('uncaughtException', notice).off('unhandledRejection', notice);
    rmSync(folder, { recursive: true, force: true });
  }
  assert.equal(stray, []);
}

/** What the client is told in each form of response. */
async function messages(t: TestProxy): Promise<readonly string[]> {
  const { port, wsPort } = t.proxy;
  const whole = await exchange(port, { body: json(MESSAGE) });
  assert.is(whole.status, 500, whole.text);
  const live = await exchange(port, { body: json(MESSAGE, { stream: true }) });
  const headers = { accept: 'application/x-ndjson' };
  const lines = await exchange(port, { body: json(MESSAGE, { stream: true }), headers });
  const talk = await openTalk(wsPort);
  const objects = await talk.answered(json(MESSAGE, { stream: true }));
  talk.socket.terminate();
  return [whole.text, live.text, lines.text, objects.at(-1)?.error?.message ?? 'no error'];
}

for (const [what, [stage, message]] of Object.entries(FAULTS))
  test(`a stage that ${what} is named`, () =>
    withStage(stage, async (t) => {
      for (const text of await messages(t)) {
        assert.match(text, /[Ss]tage '?odd'? /);
        assert.match(text, message);
      }
      const rows = await t.rows(4);
      assert.equal([...new Set(rows.map(({ errorKind }) => errorKind))], ['internal']);
      const trace = (await (await fetch(`${t.proxy.url}/trace/last`)).json()) as {
        stages: readonly { node: string; error?: string }[];
      };
      assert.match(trace.stages.find(({ node }) => node === 'odd')?.error ?? '', message);
      await until('nothing runs any more', () => t.proxy.app.running.size === 0);
      await until(
        'no provider is connected to a request',
        () => t.proxy.services.streams.active === 0,
      );
    }));

test('a stream may end an answer early, and its chunks may be any bytes', () =>
  withStage(
    stream(
      "{ transform(f, c) { if (f.kind !== 'chunk') return c.enqueue(f); c.enqueue({ ...f, bytes: new Uint8Array(Buffer.from('{}')) }); c.enqueue(tools.end); c.terminate(); } }",
    ),
    async (t) => {
      const { status, text } = await exchange(t.proxy.port, { body: json(MESSAGE) });
      assert.equal([status, text], [200, '{}']);
    },
  ));

test('callbacks that return promises delay nothing, whether they fail or never settle', () =>
  withStage(
    `${AFTER}, timeoutMs: 100, async open() { throw new Error('boom'); },
     watch: { async chunk() { throw new Error('seen'); } }, settled: () => ${NEVER}`,
    async (t) => {
      assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
      assert.is((await t.rows(1))[0]?.outcome, 'ok');
      await until('nothing runs any more', () => t.proxy.app.running.size === 0);
    },
  ));

test('a refusal by an asynchronous handler is an answer and no fault', () =>
  withStage(
    `${BEFORE}, onFault: 'pass', on: { async request() { throw tools.error('forbidden', 'not you'); } }`,
    async (t) => {
      for (let count = 0; count < 7; count += 1) {
        const { status, text } = await exchange(t.proxy.port, { body: json(MESSAGE) });
        assert.is(status, 403);
        assert.match(text, 'not you');
      }
    },
  ));

test.after(closeClients);
test.run();
