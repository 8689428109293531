/** WebSocket conversations for tests. */
import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import { WebSocket } from 'ws';
import type { TestProxy } from '../fixtures/proxy.ts';
import { PATIENCE_MS, json } from './testing.ts';

export interface Told {
  readonly type?: string;
  readonly error?: { readonly type: string; readonly message: string; readonly code?: string };
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  readonly [field: string]: unknown;
}

/** A connection and everything that was sent on it. */
export class Talk {
  readonly told: Told[] = [];
  readonly kinds = new Set<'text' | 'binary'>();
  readonly socket: WebSocket;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer, isBinary) => {
      this.kinds.add(isBinary ? 'binary' : 'text');
      const text = isBinary ? gunzipSync(data).toString() : data.toString();
      this.told.push(JSON.parse(text) as Told);
      socket.emit('told');
    });
  }

  /** The objects up to the first that `ends`. */
  async until(ends: (told: Told) => boolean, count = 1): Promise<readonly Told[]> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    while (this.told.filter(ends).length < count) await once(this.socket, 'told', { signal });
    return this.told;
  }

  /** The objects of one more request, up to what ends it; a moment later nothing may have followed. */
  async answered(frame: string): Promise<readonly Told[]> {
    const before = this.told.length;
    const ends = (told: Told) => isEnd(told) || isError(told);
    const ended = this.told.filter(ends).length;
    this.socket.send(frame);
    await this.until(ends, ended + 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return this.told.slice(before);
  }

  ask(value: object, more: object = {}): void {
    this.socket.send(json(value, more));
  }
}

export const isEnd = ({ type }: Told) => type === 'message_stop';
export const isError = ({ error }: Told) => error !== undefined;

export async function talk(port: number, headers: Record<string, string> = {}): Promise<Talk> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers });
  const started = new Talk(socket);
  await once(socket, 'open', { signal: AbortSignal.timeout(PATIENCE_MS) });
  return started;
}

export async function asked(t: TestProxy, value: object, more: object = {}): Promise<Talk> {
  const started = await talk(t.proxy.wsPort);
  started.ask(value, more);
  return started;
}
