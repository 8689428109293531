/** Custom stages that read the events of a response, from any source and in any encoding. */
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { defineStage } from '../../../engine/index.ts';
import type { Handled, Insertion } from '../../../engine/index.ts';
import { startTestProxy } from '../../../fixtures/proxy.ts';
import { answer as answering } from '../../../fixtures/upstream.ts';
import { streamAnswer } from '../../../fixtures/upstream/answer.ts';
import type { ProxyOptions, TestProxy } from '../../../fixtures/proxy.ts';
import type { ChunkEvent, ChunkFrame, EndFrame, ProxyFrame } from '../../../stages/model/frame.ts';
import { toChunk } from '../../../stages/model/frame.ts';
import { encodeEvent } from '../../../stages/wire/events.ts';
import { CHAT, MESSAGE, exchange, json } from '../../../fixtures/server/exchange.ts';

interface Handlers {
  readonly chunk?: (chunk: ChunkFrame) => Handled<ProxyFrame>;
  readonly end?: (end: EndFrame) => Handled<ProxyFrame>;
}

/** Inserts a stage that reads events, by default directly after `forward`. */
function reading(on: Handlers, after = 'forward'): Insertion<ProxyFrame> {
  const build = defineStage<ProxyFrame, undefined, undefined>({
    name: 'reading',
    needs: 'events',
    build: () => ({ on }),
  });
  return { stage: build(undefined, undefined), after, plugin: 'test' };
}

async function withStage(
  on: Handlers,
  use: (t: TestProxy) => Promise<void>,
  options: ProxyOptions = {},
): Promise<void> {
  const t = await startTestProxy({ ...options, insertions: [reading(on)] });
  try {
    await use(t);
  } finally {
    await t.close();
  }
}

const texts = ['One ', 'two ', 'three.'].map((text, index) =>
  encodeEvent(
    'content_block_delta',
    JSON.stringify({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }),
  ),
);
const START = encodeEvent('message_start', '{"type":"message_start","message":{"usage":{}}}');
const STOP = encodeEvent('message_stop', '{"type":"message_stop"}');
const STREAM = Buffer.concat([START, ...texts, STOP]);

/** Sets the provider's response, sent in pieces of `size` bytes. */
function answers({ upstream }: TestProxy, bytes: Buffer, size = bytes.length, encoding?: string) {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  const more = encoding === undefined ? [] : [['Content-Encoding', encoding] as const];
  upstream.script(
    undefined,
    answering(() => streamAnswer(pieces, more)),
  );
}

const ask = ({ proxy }: TestProxy, body: string, path = '/v1/messages', more = {}) =>
  exchange(proxy.port, { path, body, ...more });
const streamed = json(MESSAGE, { stream: true });

test('every chunk consists of whole events, and the provider is asked not to encode them', async () => {
  const seen: ChunkEvent[] = [];
  const see = (chunk: ChunkFrame): undefined => {
    const events = chunk.events ?? [];
    assert.ok(Buffer.concat(events.map(({ bytes }) => bytes)).equals(chunk.bytes));
    seen.push(...events);
  };
  await withStage({ chunk: see }, async (t) => {
    for (const size of [1, 7, 1000]) {
      seen.length = 0;
      answers(t, STREAM, size);
      const headers = { 'accept-encoding': 'gzip, br' };
      const response = await ask(t, streamed, '/v1/messages', { headers });
      assert.is(response.text, STREAM.toString(), `${size} bytes a piece`);
      assert.is(seen.map(({ event }) => event).join(), eventNames(STREAM), `${size} bytes a piece`);
      assert.is(t.upstream.requests.at(-1)!.header('accept-encoding'), 'identity');
    }
  });
});

test('without such a stage the client may request an encoding', async () => {
  const t = await startTestProxy();
  try {
    answers(t, STREAM);
    await ask(t, streamed, '/v1/messages', { headers: { 'accept-encoding': 'gzip' } });
    assert.is(t.upstream.requests.at(-1)!.header('accept-encoding'), 'gzip');
  } finally {
    await t.close();
  }
});

test('a response that the provider encodes nevertheless is decoded', async () => {
  let events = 0;
  await withStage({ chunk: (chunk) => void (events += chunk.events?.length ?? 0) }, async (t) => {
    answers(t, gzipSync(STREAM), undefined, 'gzip');
    const response = await ask(t, streamed);
    assert.is(response.text, STREAM.toString());
    assert.is(events, 5);
  });
});

test('events may be dropped, split and added, and the others keep their bytes', async () => {
  const footer = Buffer.from(': checked\n\n');
  const on: Handlers = {
    chunk: ({ events = [] }) =>
      events
        .filter(({ data }) => data?.includes('two') !== true)
        .flatMap(({ data, bytes }) =>
          data?.includes('three') === true ? [toChunk(bytes), toChunk(bytes)] : [toChunk(bytes)],
        ),
    end: (end) => [toChunk(footer), end],
  };
  await withStage(on, async (t) => {
    answers(t, STREAM);
    const response = await ask(t, streamed);
    const expected = [START, texts[0]!, texts[2]!, texts[2]!, STOP, footer];
    assert.is(response.text, Buffer.concat(expected).toString());
    const [row] = await t.rows(1);
    assert.is(row?.outcome, 'ok');
  });
});

test('usage requested by the proxy itself is metered and not shown to the client', async () => {
  const chunk = (more: object) => encodeEvent(undefined, JSON.stringify({ id: 'c', ...more }));
  const text = chunk({ choices: [{ index: 0, delta: { content: 'Hi' } }], usage: null });
  const end = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null });
  const usage = chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } });
  const done = Buffer.from('data: [DONE]\n\n');
  const all = Buffer.concat([text, end, usage, done]);
  for (const size of [1, 64, 4096]) {
    await withStage({ chunk: () => undefined }, async (t) => {
      answers(t, all, size);
      const response = await ask(t, json(CHAT, { stream: true }), '/v1/chat/completions');
      assert.is(response.text, Buffer.concat([text, end, done]).toString());
      const [row] = await t.rows(1);
      assert.equal([row?.inputTokensSent, row?.outputTokens], [7, 3]);
    });
  }
});

test('events made by one stage are read by the next, however they are cut', async () => {
  const halves = defineStage<ProxyFrame, undefined, undefined>({
    name: 'halves',
    build: () => ({
      transform: () =>
        new TransformStream<ProxyFrame, ProxyFrame>({
          transform(frame, controller) {
            if (frame.kind !== 'chunk') return controller.enqueue(frame);
            const half = Math.floor(frame.bytes.length / 2);
            controller.enqueue({ ...frame, bytes: frame.bytes.subarray(0, half) });
            return controller.enqueue(toChunk(frame.bytes.subarray(half)));
          },
        }),
    }),
  });
  const shouting = defineStage<ProxyFrame, undefined, undefined>({
    name: 'shouting',
    needs: 'events',
    build: () => ({
      on: { chunk: ({ bytes }) => toChunk(Buffer.from(bytes.toString().replace('One', 'ONE'))) },
    }),
  });
  const seen: string[] = [];
  const on = {
    chunk(chunk: ChunkFrame) {
      for (const { event, data } of chunk.events ?? [])
        seen.push(`${event} ${/ONE|two|three/.exec(data ?? '')?.[0] ?? ''}`.trim());
    },
  };
  for (const stage of [halves, shouting]) {
    const first = { stage: stage(undefined, undefined), after: 'forward', plugin: 'first' };
    const t = await startTestProxy({ insertions: [first, reading(on, first.stage.name)] });
    try {
      answers(t, STREAM, 64);
      seen.length = 0;
      await ask(t, streamed);
      const delta = 'content_block_delta';
      const one = stage === shouting ? `${delta} ONE` : delta;
      assert.equal(seen, ['message_start', one, `${delta} two`, `${delta} three`, 'message_stop']);
    } finally {
      await t.close();
    }
  }
});

function eventNames(stream: Buffer): string {
  return [...stream.toString().matchAll(/^event: (.*)$/gm)].map((match) => match[1]).join();
}

test.run();
