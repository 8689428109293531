/**
 * Limits pipelined requests: those that a client sends on a connection before it has the responses
 * to earlier ones. HTTP/1.1 allows any number; the limit keeps one connection from having
 * everything it sends ahead processed at once.
 */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Concurrent requests of one connection; further ones wait. */
export const MAX_PIPELINED = 16;

/** Requests in progress and waiting on one connection. */
interface Line {
  unanswered: number;
  readonly waiting: (() => void)[];
}

/**
 * Creates the queues for one listener's connections. `lastOf` returns the response to a
 * connection's previous request.
 */
export function createPipelines(lastOf: (socket: Duplex) => ServerResponse | undefined) {
  const lines = new WeakMap<Duplex, Line>();

  function join(socket: Duplex, line: Line, response: ServerResponse): void {
    line.unanswered += 1;
    response.once('close', () => {
      line.unanswered -= 1;
      line.waiting.shift()?.();
      if (line.unanswered === 0) lines.delete(socket);
    });
  }

  return {
    /** Calls `begin` when the request of `response` may start, which is usually at once. */
    enter(socket: Duplex, response: ServerResponse, begin: () => void): void {
      const before = lastOf(socket);
      // Clients that wait for each response, which is nearly all of them, have no queue.
      if (before === undefined || before.writableFinished || before.destroyed) {
        begin();
        return;
      }
      let line = lines.get(socket);
      if (line === undefined) {
        line = { unanswered: 0, waiting: [] };
        lines.set(socket, line);
        join(socket, line, before);
      }
      const own = line;
      const start = (): void => {
        join(socket, own, response);
        begin();
      };
      if (own.unanswered < MAX_PIPELINED) start();
      else own.waiting.push(start);
    },
  };
}
