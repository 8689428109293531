/** A client that reads nothing: how much of a response each sink pulls from its source. */
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import {
  Cancelled,
  chain,
  createCanceller,
  defineStage,
  run,
  systemClock,
} from '../../engine/index.ts';
import type { CancelSignal, Sink } from '../../engine/index.ts';
import { dialects } from '../../stages/dialect/registry.ts';
import { proxyFrameKinds, toChunk } from '../../stages/model/frame.ts';
import type { BodyFrame } from '../../stages/model/body.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import { headOf } from '../../fixtures/server/sink-head.ts';
import { mustCompile } from '../../fixtures/engine/run.ts';
import { createManualClock } from '../../engine/clock.ts';
import { HttpSink } from './http.ts';
import { createLineEncoding } from './lines.ts';
import { createPace } from './pace.ts';
import { OWN_FORM } from './own-form.ts';
import { SocketSink } from './ws.ts';

/** More than any sink writes without waiting for its client. */
const EVENT = Buffer.from(`data: {"text":"${'x'.repeat(300_000)}"}\n\n`);
const dialect = dialects.chat;

const NONE: readonly string[] = [];

/** Returns a connection whose other end reads nothing. */
const stalledSocket = (): Duplex =>
  // A fixed mark, since the default differs between versions of Node.
  new Duplex({ writableHighWaterMark: 16_384, read: () => undefined, write: () => undefined });

function stalledResponse(): ServerResponse {
  const response = new ServerResponse(new IncomingMessage(stalledSocket() as Socket));
  response.assignSocket(stalledSocket() as Socket);
  return response;
}

function stalledWebSocket(): Promise<WebSocket> {
  const server = new WebSocketServer({ noServer: true });
  const request = new IncomingMessage(stalledSocket() as Socket);
  request.method = 'GET';
  request.headers = {
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  };
  const socket = stalledSocket();
  return new Promise((resolve) => {
    server.handleUpgrade(request, socket, Buffer.alloc(0), (client) => resolve(client));
  });
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Returns how many chunks an endless response yields before it stalls, and whether it is cancelled
 * with its run.
 */
async function admitted(
  toSink: (signal: CancelSignal) => Sink<ProxyFrame> | Promise<Sink<ProxyFrame>>,
  { event = EVENT, headers = NONE, everyTurns = 0, onTurn = (): void => undefined } = {},
) {
  const canceller = createCanceller();
  const seen = { chunks: 0, isCancelled: false };
  const head = { ...headOf('POST'), headers };
  let isBegun = false;
  const answer = new ReadableStream<ProxyFrame>(
    {
      async pull(controller) {
        for (let turn = 0; turn < everyTurns; turn += 1) await nextTurn();
        if (isBegun) seen.chunks += 1;
        controller.enqueue(isBegun ? toChunk(event) : head);
        isBegun = true;
      },
      cancel() {
        seen.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const answering = defineStage<ProxyFrame, undefined, undefined>({
    name: 'answer',
    answers: true,
    build: () => ({ on: { body: () => answer }, watch: { chunk: () => undefined } }),
  })(undefined, undefined);
  const plan = mustCompile(chain(proxyFrameKinds, [answering]));
  const info = {
    id: 'stalled',
    clock: systemClock,
    startedMs: systemClock.monotonicMs(),
    startedWallMs: systemClock.wallMs(),
    signal: canceller.signal,
  };
  const sink = await toSink(canceller.signal);
  const done = run(plan, { kind: 'body' } as BodyFrame, info, sink);
  // Wait until no chunk has moved for a thousand turns of the event loop.
  for (let quiet = 0, before = -1; quiet < 1000; quiet += 1) {
    await nextTurn();
    onTurn();
    if (seen.chunks !== before) quiet = 0;
    before = seen.chunks;
  }
  const { chunks } = seen;
  canceller.abort(new Cancelled('client_gone'));
  assert.is((await done).outcome, 'cancelled');
  assert.ok(seen.isCancelled);
  return chunks;
}

const http =
  (more: Partial<ConstructorParameters<typeof HttpSink>[0]> = {}) =>
  (signal: CancelSignal): Sink<ProxyFrame> =>
    new HttpSink({
      response: stalledResponse(),
      signal,
      requestId: 'r',
      dialect,
      extraHeaders: [],
      ...more,
    });

test('a stalled client admits exactly two chunks: one in the sink, one in the TransformStream', async () => {
  assert.is(await admitted(http()), 2, 'events');
  assert.is(await admitted(http({ encode: createLineEncoding() })), 2, 'lines');
  const socket = await stalledWebSocket();
  const toSocket = (signal: CancelSignal) =>
    new SocketSink({ form: OWN_FORM, socket, signal, requestId: 'r', gzip: false });
  assert.is(await admitted(toSocket), 2, 'WebSocket');
  const encoded = { headers: ['content-encoding', 'gzip'], event: gzipSync(EVENT) };
  assert.is(await admitted(toSocket, encoded), 2, 'encoded');
});

test('a paced stream admits one chunk more, whether it is flushed by size or by time', async () => {
  const pace = createPace({ bufferTokens: 1, flushIntervalMs: 60_000, clock: systemClock });
  assert.is(await admitted(http({ pace })), 3, 'by size');
  const clock = createManualClock();
  const slow = createPace({ bufferTokens: 1000, flushIntervalMs: 10, clock });
  // Held until the flush interval ends, and larger than the socket's buffer.
  const event = Buffer.from(`data: {"text":"${'x'.repeat(40_000)}"}\n\n`);
  const onTurn = (): void => clock.advance(10);
  assert.is(await admitted(http({ pace: slow }), { event, everyTurns: 2, onTurn }), 3, 'by time');
});

test.run();
