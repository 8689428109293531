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
interface ConnectionQueue {
  unanswered: number;
  readonly waiting: (() => void)[];
}

/**
 * Creates the queues for one listener's connections. `lastOf` returns the response to a
 * connection's previous request.
 */
export function createPipelines(lastOf: (socket: Duplex) => ServerResponse | undefined) {
  const queues = new WeakMap<Duplex, ConnectionQueue>();

  function join(socket: Duplex, queue: ConnectionQueue, response: ServerResponse): void {
    queue.unanswered += 1;
    response.once('close', () => {
      queue.unanswered -= 1;
      queue.waiting.shift()?.();
      if (queue.unanswered === 0) queues.delete(socket);
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
      let queue = queues.get(socket);
      if (queue === undefined) {
        queue = { unanswered: 0, waiting: [] };
        queues.set(socket, queue);
        join(socket, queue, before);
      }
      const connectionQueue = queue;
      const start = (): void => {
        join(socket, connectionQueue, response);
        begin();
      };
      if (connectionQueue.unanswered < MAX_PIPELINED) start();
      else connectionQueue.waiting.push(start);
    },
  };
}
