/**
 * The load generator, in its own process. It keeps a number of raw sockets busy, or sends at a
 * fixed rate, and returns quantiles; samples stay in the process.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { serveParent, usage } from './channel.ts';
import { quantiles } from './figures.ts';
import type { Quantiles } from './figures.ts';
import { ResponseReader } from './response-reader.ts';
import type { WireResponse } from './response-reader.ts';

/** What to send, how, and for how long. */
export interface LoadJob {
  readonly port: number;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * Each occurrence of `text` in the body is replaced by the request's number, padded to the same
   * length; the first request has `first`.
   */
  readonly serial?: { readonly text: string; readonly first: number };
  /** The body is a whole conversation, of which each request sends a longer part. */
  readonly conversation?: Conversation;
  readonly connections: number;
  /** Requests per second over all connections; absent: each connection sends when it is free. */
  readonly rate?: number;
  /** No request is sent after this time; running ones finish. */
  readonly forMs?: number;
  /** Maximum number of requests. */
  readonly requests?: number;
}

/**
 * Each connection sends the turns of `each` conversations, one after another. The number in the
 * body is that of the conversation.
 */
export interface Conversation {
  /** How many bytes of the body each turn sends, ascending. */
  readonly cuts: readonly number[];
  /** Follows these bytes. */
  readonly tail: string;
  readonly each: number;
}

/** Result. Times are milliseconds. */
export interface LoadResult {
  /** Responses with status 200; only these are measured. */
  readonly ok: number;
  /** Other statuses and broken connections, by type. */
  readonly failed: Readonly<Record<string, number>>;
  /** From the first byte sent to the last byte read. */
  readonly tookMs: number;
  /** From sending a request to its last response byte. */
  readonly latency: Quantiles;
  /** From sending a request to the first body byte. */
  readonly first: Quantiles;
  /** Sizes of the received bodies: one number if all were equal. */
  readonly bodyBytes: readonly number[];
  /** Share of one core used by this process, 0–1: near 1 the generator measures itself. */
  readonly cpuShare: number;
}

/** The commands of the process. */
export type LoadCommands = { run: (job: LoadJob) => Promise<LoadResult> };

/** A connection without a response for this long is broken. */
const STALLED_MS = 30_000;

class Run {
  /** Resolves when the last response has been read. */
  readonly over: Promise<void>;
  #end: () => void = () => undefined;
  readonly #job: LoadJob;
  readonly #wire: Buffer;
  /** Positions of the request's number. */
  readonly #serials: readonly number[];
  readonly #latencies: number[] = [];
  readonly #firsts: number[] = [];
  readonly #sizes = new Set<number>();
  readonly #failed = new Map<string, number>();
  readonly #idle: Line[] = [];
  /** Due times of requests for which no connection was free. */
  readonly #late: number[] = [];
  readonly #lines: Line[];
  #startMs = 0;
  #started = 0;
  #busy = 0;
  #endMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(job: LoadJob) {
    this.#job = job;
    this.#wire = toWire(job);
    this.#serials = placesOf(this.#wire, job.serial?.text);
    this.#lines = Array.from({ length: job.connections }, () => new Line(job.port, this));
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Connects first, so that connection setup is not measured. */
  async start(): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.open()));
    this.#idle.push(...this.#lines);
    this.#startMs = performance.now();
    if (this.#job.conversation !== undefined)
      for (const line of this.#idle.splice(0)) this.#nextTurn(line);
    else if (this.#job.rate === undefined)
      while (this.#idle.length > 0 && this.#mayStart()) this.#next();
    else this.#timer = setInterval(() => this.#tick(), 1);
    this.#endIfOver();
  }

  /**
   * Handles a response, or an error if the connection broke. Called by a line when it is free
   * again.
   */
  settle(line: Line, answer: WireResponse | string): void {
    const nowMs = performance.now();
    this.#busy -= 1;
    this.#endMs = nowMs;
    if (typeof answer === 'object' && answer.status === 200) {
      this.#latencies.push(nowMs - line.sentMs);
      this.#firsts.push(line.firstMs - line.sentMs);
      if (this.#sizes.size < 8) this.#sizes.add(answer.bodyBytes);
    } else {
      const what = typeof answer === 'object' ? `status ${answer.status}` : answer;
      this.#failed.set(what, (this.#failed.get(what) ?? 0) + 1);
    }
    if (this.#job.conversation !== undefined) {
      this.#nextTurn(line);
      this.#endIfOver();
      return;
    }
    this.#idle.push(line);
    const dueMs = this.#late.shift();
    if (dueMs !== undefined) this.#next(dueMs);
    else if (this.#job.rate === undefined && this.#mayStart()) this.#next();
    this.#endIfOver();
  }

  result(cpuUs: number): LoadResult {
    for (const line of this.#lines) line.close();
    const tookMs = this.#endMs - this.#startMs;
    return {
      ok: this.#latencies.length,
      failed: Object.fromEntries(this.#failed),
      tookMs,
      latency: quantiles(this.#latencies),
      first: quantiles(this.#firsts),
      bodyBytes: [...this.#sizes].toSorted((a, b) => a - b),
      cpuShare: cpuUs / 1000 / tookMs,
    };
  }

  #mayStart(): boolean {
    if (this.#job.conversation !== undefined) return false;
    const { forMs = Infinity, requests = Infinity } = this.#job;
    return this.#started < requests && performance.now() - this.#startMs < forMs;
  }

  /** Starts due requests; waiting for a free connection counts as latency. */
  #tick(): void {
    const { rate = 0, requests = Infinity, forMs = Infinity } = this.#job;
    const nowMs = performance.now();
    const elapsedMs = Math.min(nowMs - this.#startMs, forMs);
    const due = Math.min(requests, Math.floor((elapsedMs / 1000) * rate));
    while (this.#started + this.#late.length < due) {
      if (this.#idle.length > 0) this.#next(nowMs);
      else this.#late.push(nowMs);
    }
    this.#endIfOver();
  }

  #next(dueMs?: number): void {
    const line = this.#idle.shift()!;
    this.#started += 1;
    this.#busy += 1;
    line.send([this.#numbered()], dueMs ?? performance.now());
  }

  /** Sends the next turn of the line's conversation, or the first one of another. */
  #nextTurn(line: Line): void {
    const { cuts, tail, each } = this.#job.conversation!;
    if (line.sent === cuts.length * each) return;
    const turn = line.sent % cuts.length;
    if (turn === 0) {
      this.#started += 1;
      line.conversation = this.#numbered();
    }
    line.sent += 1;
    this.#busy += 1;
    const part = line.conversation.subarray(0, cuts[turn]);
    const head = headOf(this.#job, part.length + tail.length);
    line.send([Buffer.from(head), part, Buffer.from(tail)], performance.now());
  }

  #numbered(): Buffer {
    const { serial } = this.#job;
    if (serial === undefined) return this.#wire;
    const wire = Buffer.from(this.#wire);
    const number = String(serial.first + this.#started).padStart(serial.text.length, '0');
    for (const at of this.#serials) wire.write(number, at, 'latin1');
    return wire;
  }

  #endIfOver(): void {
    if (this.#busy > 0 || this.#late.length > 0 || this.#mayStart()) return;
    clearInterval(this.#timer);
    this.#end();
  }
}

/** One connection, opened before the run and again after it broke. */
class Line {
  sentMs = 0;
  firstMs = 0;
  /** The conversation that is being sent, and how many turns of all were. */
  conversation: Buffer = Buffer.alloc(0);
  sent = 0;
  readonly #port: number;
  readonly #run: Run;
  #socket: Socket | undefined;
  #waits = false;

  constructor(port: number, run: Run) {
    this.#port = port;
    this.#run = run;
  }

  send(pieces: readonly Buffer[], dueMs: number): void {
    this.#waits = true;
    this.#socket ??= this.#connect();
    this.sentMs = dueMs;
    this.#socket.cork();
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
  }

  /** Resolves when connected; rejects on failure. */
  async open(): Promise<void> {
    this.#socket = this.#connect();
    await once(this.#socket, 'connect');
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    const reader = new ResponseReader({
      onFirst: () => void (this.firstMs = performance.now()),
      onEnd: (answer) => {
        this.#waits = false;
        this.#run.settle(this, answer);
      },
    });
    const broken = (why: string): void => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      socket.destroy();
      if (!this.#waits) return;
      this.#waits = false;
      this.#run.settle(this, why);
    };
    socket.on('data', (bytes: Buffer) => {
      try {
        reader.read(bytes);
      } catch (thrown) {
        broken(String(thrown));
      }
    });
    socket.setTimeout(STALLED_MS, () => broken('no answer'));
    socket.on('error', (error: NodeJS.ErrnoException) => broken(error.code ?? error.message));
    socket.on('close', () => broken('closed'));
    return socket;
  }
}

function placesOf(wire: Buffer, text: string | undefined): readonly number[] {
  const places: number[] = [];
  if (text === undefined) return places;
  for (let at = wire.indexOf(text); at >= 0; at = wire.indexOf(text, at + text.length))
    places.push(at);
  return places;
}

/** Returns the bytes of a request, or of a conversation without heads. */
function toWire(job: LoadJob): Buffer {
  const { body, conversation } = job;
  return Buffer.from(conversation ? body : `${headOf(job, Buffer.byteLength(body))}${body}`);
}

function headOf({ port, path, headers }: LoadJob, bytes: number): string {
  const fields = Object.entries({
    Host: `127.0.0.1:${port}`,
    'Content-Type': 'application/json',
    'Content-Length': String(bytes),
    ...headers,
  });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `POST ${path} HTTP/1.1\r\n${head}\r\n`;
}

async function play(job: LoadJob): Promise<LoadResult> {
  const made = new Run(job);
  await made.start();
  const before = usage().cpuUs;
  await made.over;
  return made.result(usage().cpuUs - before);
}

serveParent(0, { run: play } satisfies LoadCommands);
