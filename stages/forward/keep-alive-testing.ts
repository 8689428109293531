/**
 * A client on one raw connection, which it keeps. It takes exactly the bytes of one answer and holds
 * what comes behind them against the proxy: a library would drop an answer that nobody asked for.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import * as assert from 'uvu/assert';
import { PATIENCE_MS, openSocket } from '../../server/testing.ts';

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

export interface KeepAliveClient {
  /** Sends a POST and reads its answer. Throws if bytes lay there before, or if the answer breaks off. */
  ask(path: string, body: string, headers: Readonly<Record<string, string>>): Promise<RawAnswer>;
  /** Waits `ms` and throws if anything came that was not asked for. */
  expectSilence(ms: number): Promise<void>;
  /** Connections opened so far. */
  readonly opened: number;
  close(): void;
}

const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';

/** A client of the proxy on `port`; a connection that the proxy gave notice of closing is replaced. */
export function createKeepAliveClient(port: number): KeepAliveClient {
  let line: Line | undefined;
  let opened = 0;
  return {
    get opened() {
      return opened;
    },
    async ask(path, body, headers) {
      line?.expectEmpty();
      if (line === undefined || line.isOver) {
        line = new Line(await openSocket(port));
        opened += 1;
      }
      line.send(path, body, headers);
      const { answer, isLast } = await line.answer();
      if (isLast) {
        await line.closed();
        line = undefined;
      }
      return answer;
    },
    async expectSilence(ms) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      line?.expectEmpty();
    },
    close: () => line?.close(),
  };
}

/** One connection. Bytes are kept as Latin-1, so that each is one character. */
class Line {
  readonly #socket: Socket;
  #received = '';
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
      this.#wake();
    });
    socket.on('close', () => this.#wake());
  }

  get isOver(): boolean {
    return this.#socket.closed || this.#socket.readableEnded;
  }

  send(path: string, body: string, headers: Readonly<Record<string, string>>): void {
    const fields = { host: 'localhost', 'content-type': 'application/json', ...headers };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}${LINE_END}`);
    const length = `content-length: ${Buffer.byteLength(body)}`;
    this.#socket.write(
      `POST ${path} HTTP/1.1${LINE_END}${lines.join('')}${length}${HEAD_END}${body}`,
    );
  }

  async answer(): Promise<{ readonly answer: RawAnswer; readonly isLast: boolean }> {
    const head = await this.#upTo(HEAD_END);
    const [, digits] = /^HTTP\/1\.1 (\d{3}) /.exec(head) ?? [];
    assert.ok(digits !== undefined, `a head begins: ${head.slice(0, 80)}`);
    const field = (name: string): string | undefined =>
      new RegExp(`^${name}: *(.*?)\\r?$`, 'im').exec(head)?.[1];
    const length = field('content-length');
    const isChunked = field('transfer-encoding') === 'chunked';
    assert.ok(isChunked !== (length !== undefined), `one kind of framing: ${head}`);
    const latin1 = isChunked ? await this.#chunks() : await this.#take(Number(length));
    const text = Buffer.from(latin1, 'latin1').toString();
    return {
      answer: { status: Number(digits), text },
      isLast: field('connection')?.toLowerCase() === 'close',
    };
  }

  async #chunks(): Promise<string> {
    let text = '';
    for (;;) {
      const size = await this.#upTo(LINE_END);
      assert.match(size, /^[\da-f]+\r\n$/i, 'a chunk begins with its size');
      const sizeBytes = Number.parseInt(size, 16);
      text += await this.#take(sizeBytes);
      assert.is(await this.#take(LINE_END.length), LINE_END, 'a chunk ends where it should');
      if (sizeBytes === 0) return text;
    }
  }

  async #upTo(mark: string): Promise<string> {
    await this.#until(() => this.#received.includes(mark));
    return this.#take(this.#received.indexOf(mark) + mark.length);
  }

  async #take(count: number): Promise<string> {
    await this.#until(() => this.#received.length >= count);
    const taken = this.#received.slice(0, count);
    this.#received = this.#received.slice(count);
    return taken;
  }

  async #until(isThere: () => boolean): Promise<void> {
    const timer = setTimeout(() => this.#socket.destroy(), PATIENCE_MS);
    try {
      while (!isThere()) {
        assert.not.ok(this.isOver, `the answer breaks off: ${this.#received.slice(0, 200)}`);
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves when the proxy has closed, with nothing behind its last answer. */
  async closed(): Promise<void> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    if (!this.#socket.closed) await once(this.#socket, 'close', { signal });
    this.expectEmpty();
  }

  expectEmpty(): void {
    assert.is(this.#received, '', 'nothing comes behind an answer');
  }

  close(): void {
    this.#socket.destroy();
  }
}
