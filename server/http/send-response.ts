/** Sends a response of our own: in one piece, or streamed if it is an event stream. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Sends `found`, with `headers` after its own. Resolves when everything was written or the client
 * has gone.
 */
export async function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  source: Response,
  headers: readonly string[] = [],
): Promise<void> {
  const fields = [...[...source.headers].flat(), ...headers];
  if (source.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    response.writeHead(source.status, [...fields, 'X-Accel-Buffering', 'no']);
    await sendStream(request, response, source.body);
    return;
  }
  const body = Buffer.from(await source.arrayBuffer());
  if (source.status !== 204) fields.push('Content-Length', String(body.length));
  response.writeHead(source.status, fields);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Streams `body`, and cancels it as soon as the connection closes. */
async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  body: Response['body'],
): Promise<void> {
  if (body === null || request.method === 'HEAD') {
    await body?.cancel();
    response.end();
    return;
  }
  response.flushHeaders();
  const reader = body.getReader();
  const disconnect = new AbortController();
  const stop = (): void => {
    disconnect.abort();
    void reader.cancel().catch(() => undefined);
  };
  response.once('close', stop);
  if (response.destroyed) stop();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || response.destroyed) break;
    if (!response.write(value))
      await once(response, 'drain', { signal: disconnect.signal }).catch(() => undefined);
  }
  response.end();
}
