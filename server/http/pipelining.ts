/**
 * Requests that a client sends on a connection before the answers to those before them have
 * left. HTTP/1.1 allows that, in any number; a bound keeps one connection from having
 * everything that it sends ahead done at once.
 */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Requests of one connection that are under way at once; the next ones wait. */
export const MAX_PIPELINED = 16;

/** What one connection has under way. */
interface Line {
  unanswered: number;
  readonly waiting: (() => void)[];
}

/** The lines of one listener's connections. `lastOf` gives the answer to a connection's request before. */
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
    /** Calls `begin` when it is the turn of the request that `response` answers: mostly at once. */
    enter(socket: Duplex, response: ServerResponse, begin: () => void): void {
      const before = lastOf(socket);
      // Clients that wait for each answer, which is nearly all of them, have no line.
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
