/** Answers of our own that never end by themselves: written as they come, for as long as somebody reads. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** True for server-sent events; every other answer of ours is written whole. */
export function isEventStream(answer: Response): boolean {
  return answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** Writes head and body; the body is cancelled as soon as the connection is gone. */
export async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Response,
  headers: readonly string[],
): Promise<void> {
  const { body } = answer;
  response.writeHead(answer.status, [...headers]);
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
