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
  found: Response,
  headers: readonly string[] = [],
): Promise<void> {
  const fields = [...[...found.headers].flat(), ...headers];
  if (found.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    response.writeHead(found.status, [...fields, 'X-Accel-Buffering', 'no']);
    await sendStream(request, response, found.body);
    return;
  }
  const body = Buffer.from(await found.arrayBuffer());
  if (found.status !== 204) fields.push('Content-Length', String(body.length));
  response.writeHead(found.status, fields);
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
  const gone = new AbortController();
  const stop = (): void => {
    gone.abort();
    void reader.cancel().catch(() => undefined);
  };
  response.once('close', stop);
  if (response.destroyed) stop();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || response.destroyed) break;
    if (!response.write(value))
      await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
  }
  response.end();
}
