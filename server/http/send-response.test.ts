import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sendResponse } from './send-response.ts';

const PIECE = new Uint8Array(256 * 1024);

/**
 * A stream of `count` pieces that records whether it was cancelled; if `isEndless`, it stays open
 * after them.
 */
function pieces(count: number, isEndless = false) {
  const seen = { cancelled: false, sent: 0 };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (seen.sent < count) controller.enqueue(PIECE);
      else if (isEndless) return new Promise<void>(() => undefined);
      else controller.close();
      seen.sent += 1;
      return undefined;
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  const headers = { 'Content-Type': 'text/event-stream; charset=utf-8' };
  return { seen, found: new Response(body, { headers }) };
}

async function serving(
  found: Response,
  use: (
    port: number,
    served: () => { response: ServerResponse; ended: Promise<void> },
  ) => Promise<void>,
): Promise<void> {
  let started: { response: ServerResponse; ended: Promise<void> } | undefined;
  const server = createServer((request, response) => {
    started = { response, ended: sendResponse(request, response, found) };
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use((server.address() as AddressInfo).port, () => started!);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('waiting for a slow reader leaks no listeners', async () => {
  const { found, seen } = pieces(40);
  await serving(found, async (port, served) => {
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    let readBytes = 0;
    const max = { close: 0, error: 0 };
    while (readBytes < 40 * PIECE.length) {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) await sleep(1);
      else readBytes += chunk.length;
      const { response } = served() ?? {};
      if (response === undefined) continue;
      max.close = Math.max(max.close, response.listenerCount('close'));
      max.error = Math.max(max.error, response.listenerCount('error'));
    }
    await served().ended;
    assert.is(seen.sent, 41);
    assert.ok(max.close < 8 && max.error < 8, JSON.stringify(max));
    socket.destroy();
  });
});

test('a client that disconnects while the stream waits for it cancels the stream', async () => {
  const { found, seen } = pieces(1000, true);
  await serving(found, async (port, served) => {
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    while (seen.sent < 2) await sleep(1);
    await sleep(20);
    socket.destroy();
    await served().ended;
    assert.ok(seen.cancelled);
    assert.ok(seen.sent < 1000);
  });
});

test('a response without a stream is sent whole, with its length', async () => {
  await serving(Response.json({ a: 1 }), async (port) => {
    const { status, headers } = await fetch(`http://127.0.0.1:${port}`);
    assert.equal([status, headers.get('content-length')], [200, '7']);
  });
});

test.run();
