/**
 * Clients that send small requests one after the other, whole and streamed, until they are stopped.
 */
import { MESSAGE, exchange, json } from '../../fixtures/server/exchange.ts';
import { pause } from '../../fixtures/wait.ts';

export interface Traffic {
  /** Requests sent, whatever their outcome. */
  readonly sent: number;
  /** Complete responses with status 200, by request id, with the wall time of their end. */
  readonly ended: ReadonlyMap<string, number>;
  /** Number of all other outcomes, by description. */
  readonly failed: ReadonlyMap<string, number>;
  /** Longest wait for a complete response, in milliseconds. */
  readonly longestMs: number;
  /** Stops sending and waits for the last responses. */
  stop(): Promise<void>;
}

/** Starts `clients` clients, which use the ports in rotation; each request has `headers`. */
export function startTraffic(
  ports: readonly number[],
  clients = 16,
  headers: Readonly<Record<string, string>> = {},
): Traffic {
  const ended = new Map<string, number>();
  const failed = new Map<string, number>();
  const state = { sent: 0, longestMs: 0, isOver: false };
  const fail = (what: string): void => void failed.set(what, (failed.get(what) ?? 0) + 1);
  const client = async (): Promise<void> => {
    while (!state.isOver) {
      const n = (state.sent += 1);
      const startMs = performance.now();
      try {
        const body = json(MESSAGE, { stream: n % 2 === 0 });
        const response = await exchange(ports[n % ports.length] ?? 0, { body, headers });
        if (response.status !== 200) fail(`${response.status} ${response.text.slice(0, 120)}`);
        else if (!response.whole) fail('broke off');
        else ended.set(String(response.headers['x-svc-request-id']), Date.now());
      } catch (thrown) {
        fail((thrown as NodeJS.ErrnoException).code ?? String(thrown));
        await pause(20);
      }
      state.longestMs = Math.max(state.longestMs, performance.now() - startMs);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  return {
    ended,
    failed,
    get sent() {
      return state.sent;
    },
    get longestMs() {
      return state.longestMs;
    },
    async stop() {
      state.isOver = true;
      await running;
    },
  };
}

/** Returns the failures as text; `0 failed` if there were none. */
export function failuresText({ failed }: Pick<Traffic, 'failed'>): string {
  const parts = [...failed].map(([what, count]) => `${count} × ${what}`);
  return parts.length === 0 ? '0 failed' : `failed: ${parts.join(', ')}`;
}
