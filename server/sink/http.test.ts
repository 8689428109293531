import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createManualClock } from '../../engine/clock.ts';
import { createCanceller, streamOf } from '../../engine/index.ts';
import { dialects } from '../../stages/dialect/registry.ts';
import { headOf } from '../../fixtures/server/sink-head.ts';
import { END, toChunk } from '../../stages/model/frame.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import { HttpSink } from './http.ts';
import { createPace } from './pace.ts';

/** Runs `act` on a response; returns what the client reads. */
async function served(act: (sink: HttpSink, response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => {
    const { signal } = createCanceller();
    const dialect = dialects.chat;
    const extraHeaders: string[] = [];
    act(new HttpSink({ response, signal, requestId: 'r', dialect, extraHeaders }), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    return await (await fetch(`http://127.0.0.1:${port}/`)).text();
  } finally {
    server.close();
  }
}

/** Pipes frames into a sink as the engine does. */
async function piped(sink: HttpSink, frames: readonly ProxyFrame[]): Promise<void> {
  const before = sink.before();
  const stream = streamOf(frames);
  const target = new WritableStream<ProxyFrame>({
    write: (frame) => sink.write(frame),
    close: () => sink.end(),
  });
  await (before === undefined ? stream : stream.pipeThrough(before)).pipeTo(target);
}

const chunk = (text: string): ProxyFrame => toChunk(Buffer.from(text));

test('frames of one event loop turn are written at once, with the head and the end', async () => {
  let writes = 0;
  const text = await served((sink, response) => {
    const { socket } = response;
    const write = socket!._writev!.bind(socket);
    socket!._writev = (...given) => {
      writes += 1;
      write(...given);
    };
    void piped(sink, [
      headOf(response.req.method),
      chunk('data: 1\n\n'),
      chunk('data: 2\n\n'),
      END,
    ]);
  });
  assert.is(text, 'data: 1\n\ndata: 2\n\n');
  assert.is(writes, 1);
});

test('a slow client holds a stream back until it has read what was written', async () => {
  const piece = chunk(`data: ${'x'.repeat(400_000)}\n\n`);
  const held: boolean[] = [];
  await served((sink, response) => {
    void sink.write(headOf(response.req.method));
    const first = sink.write(piece);
    held.push(first instanceof Promise);
    void Promise.resolve(first).then(() => {
      held.push(sink.write(chunk('data: 1\n\n')) instanceof Promise);
      void sink.end();
    });
  });
  assert.equal(held, [true, false]);
});

test('a paced stream is flushed by time, by size, and at its end', async () => {
  const clock = createManualClock();
  const pace = createPace({ bufferTokens: 1000, flushIntervalMs: 10, clock });
  const { writable, readable } = pace.stream;
  const writer = writable.getWriter();
  const reader = readable.getReader();
  const next = async (): Promise<number> => {
    const { value } = await reader.read();
    return value?.kind === 'chunk' ? value.bytes.length : 0;
  };
  const part = chunk('x'.repeat(40_000));
  await served((_sink, response) => {
    void writer.write(headOf(response.req.method));
    response.end();
  });
  assert.is((await reader.read()).value?.kind, 'head');
  const byTime = next();
  await writer.write(part);
  clock.advance(10);
  assert.is(await byTime, 40_000);
  const bySize = next();
  // No event ends in these pieces, so none of them counts as a token.
  await writer.write(part);
  await writer.write(part);
  assert.is(await bySize, 80_000);
  const last = next();
  await writer.write(chunk('y'));
  await writer.write(END);
  assert.is(await last, 1);
  assert.is((await reader.read()).value?.kind, 'end');
  assert.is(pace.rest().length, 0);
});

test('frames held when a paced stream breaks can still be read, and its timer is stopped', async () => {
  const clock = createManualClock();
  const pace = createPace({ bufferTokens: 1000, flushIntervalMs: 10, clock });
  const writer = pace.stream.writable.getWriter();
  const reader = pace.stream.readable.getReader();
  const read = reader.read();
  await served((_sink, response) => {
    void writer.write(headOf(response.req.method));
    response.end();
  });
  await read;
  const broken = reader.read().catch((thrown: unknown) => thrown);
  await writer.write(chunk('held'));
  await writer.abort(new Error('reset'));
  assert.is(((await broken) as Error).message, 'reset');
  assert.is(pace.rest().toString(), 'held');
  clock.advance(10);
});

test.run();
