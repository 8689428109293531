/** A gate and requests to put before it, for the tests of the gate. */
import { type GateOptions, type GateRequest, createGate } from '../gate.ts';
import { errorStatus } from '../error-response.ts';

const PORTS = [8766, 8767];
/** The one key that `gateWith` knows. */
export const KEY = 'a proxy key';
/** Paths of every kind. */
export const OWN_PATHS = ['/', '/health', '/stats', '/v1/messages', '/config/reload', '/dashboard'];

/** A gate on ports 8766 and 8767 that knows `KEY` and `a dead key`. */
export function gateWith(options: Partial<GateOptions> = {}) {
  return createGate({
    boundHost: '127.0.0.1',
    ports: () => PORTS,
    allowedHosts: [],
    allowedOrigins: ['*'],
    trustBrowserOrigins: false,
    requireKey: false,
    keys: {
      check(presented) {
        if (presented === 'a dead key') return 'dead';
        return presented === KEY ? { verdict: 'keyed', keyId: 'k1' } : 'unknown';
      },
    },
    ...options,
  });
}

/** What is unusual about a request. */
export interface Sketch {
  readonly path?: string;
  readonly method?: string;
  readonly host?: string;
  readonly peer?: string | undefined;
  readonly local?: string;
  readonly headers?: readonly string[];
}

/** A GET of /stats from 127.0.0.1 to localhost:8766, but for what `sketch` says. */
export function request(sketch: Sketch = {}): GateRequest {
  const { path = '/stats', method = 'GET', host = 'localhost:8766' } = sketch;
  const peer = 'peer' in sketch ? sketch.peer : '127.0.0.1';
  return {
    rawHeaders: ['Host', host, ...(sketch.headers ?? [])],
    url: path,
    method,
    httpVersion: '1.1',
    socket: { remoteAddress: peer, localAddress: sketch.local ?? '127.0.0.1' },
  };
}

/** `local`, `keyed`, `public`, or the status and code of a refusal. */
export function outcome(answer: ReturnType<ReturnType<typeof gateWith>>): string {
  if (answer.verdict !== 'refused') return answer.verdict;
  const { error } = answer;
  return error.code === undefined
    ? String(errorStatus(error))
    : `${errorStatus(error)} ${error.code}`;
}
