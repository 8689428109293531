import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createManualClock } from '../../engine/clock.ts';
import { createCanceller } from '../../engine/index.ts';
import { dialects } from '../../stages/dialect/registry.ts';
import { END, toChunk } from '../../stages/model/frame.ts';
import type { HeadFrame } from '../../stages/model/frame.ts';
import { HttpSink } from './http.ts';
import { createPacer } from './pace.ts';
import type { Pacer } from './pace.ts';

/** A head with no more in it than the sink looks at. */
function headOf(response: ServerResponse): HeadFrame {
  const request = { original: { dialect: dialects.chat, body: { method: response.req.method } } };
  return {
    kind: 'head',
    status: 200,
    headers: ['Content-Type', 'text/event-stream'],
    request,
    attempts: [],
    streaming: true,
  } as unknown as HeadFrame;
}

/** What `act` makes of a response, and what its client reads. */
async function served(
  act: (sink: HttpSink, response: ServerResponse) => void,
  pacer?: Pacer,
): Promise<string> {
  const server = createServer((_request, response) => {
    const { signal } = createCanceller();
    const dialect = dialects.chat;
    const extraHeaders: string[] = [];
    act(new HttpSink({ response, signal, requestId: 'r', dialect, extraHeaders, pacer }), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    return await (await fetch(`http://127.0.0.1:${port}/`)).text();
  } finally {
    server.close();
  }
}

test('what was written leaves together with the flush, and not before', async () => {
  const waiting: number[] = [];
  const text = await served((sink, response) => {
    const look = () => void waiting.push(response.socket?.writableLength ?? -1);
    void sink.write(headOf(response));
    look();
    void sink.write(toChunk(Buffer.from('data: 1\n\n')));
    void sink.write(toChunk(Buffer.from('data: 2\n\n')));
    look();
    sink.flush();
    look();
    void sink.write(toChunk(Buffer.from('data: 3\n\n')));
    void sink.write(END);
    void sink.end();
  });
  assert.is(text, 'data: 1\n\ndata: 2\n\ndata: 3\n\n');
  const [atHead, before, after] = waiting;
  assert.is(atHead, 0);
  assert.ok(before! > 100, `${before} bytes wait`);
  assert.is(after, 0);
});

test('a slow client holds a stream back, but not its end', async () => {
  const piece = Buffer.from(`data: ${'x'.repeat(40_000)}\n\n`);
  const held: boolean[] = [];
  const text = await served((sink, response) => {
    void sink.write(headOf(response));
    const first = sink.write(toChunk(piece));
    held.push(first instanceof Promise);
    void Promise.resolve(first).then(() => {
      held.push(sink.write(toChunk(piece), true) instanceof Promise);
      void sink.end();
    });
  });
  assert.is(text.length, 2 * piece.length);
  assert.equal(held, [true, false]);
});

test('a slow client holds a stream back that is paced, by time or by size', async () => {
  const clock = createManualClock();
  const pacer = createPacer({ bufferTokens: 1000, flushIntervalMs: 10, clock });
  const part = Buffer.from('x'.repeat(40_000));
  const held: boolean[] = [];
  const text = await served((sink, response) => {
    const write = (bytes: Buffer) => {
      const written = sink.write(toChunk(bytes));
      held.push(written instanceof Promise);
      return written;
    };
    void sink.write(headOf(response));
    void write(part);
    clock.advance(10);
    // What was due has gone to a client that has not taken it yet.
    void Promise.resolve(write(Buffer.from('y')))
      .then(() => write(part))
      // No event ends here, and none of it counts as a token.
      .then(() => write(part))
      .then(() => sink.end());
  }, pacer);
  assert.is(text.length, 3 * part.length + 1);
  assert.equal(held, [false, true, false, true]);
});

test.run();
