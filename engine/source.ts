/**
 * The one kind of stream inside the proxy: a source that is pulled by one reader, holds nothing
 * back that is there, and can be cancelled. It has the backpressure of a web stream without its
 * cost: values that are there already are taken without a promise, and a chain of sources waits
 * once, at its beginning, however long it is. `toStream` and `fromStream` lead to web streams,
 * which are what stages, plugins and tests see.
 */

const BRAND = Symbol.for('svc.source');

/** What `tap` sees on its way. Each may be left out. */
export interface Tap<T> {
  value?(value: T): void;
  /** The source is at its proper end. What is thrown here breaks it. */
  end?(): void;
  /** It broke. What is returned is thrown in place of `thrown`. */
  error?(thrown: unknown): unknown;
  /** Nobody takes the rest. */
  cancel?(reason: unknown): void;
}

/** Values of one kind, pulled. Extend it where values begin; everything else is `map`, `tap` and `prepend`. */
export abstract class Source<T extends {}> {
  get [BRAND](): true {
    return true;
  }

  /** The next value; `null` where one has to wait for it; undefined behind the last, however often it is asked. Throws where the source broke. */
  abstract poll(): T | null | undefined;
  /** Resolves when `poll` may give something else than `null`, perhaps too early. Never rejects; may be called again while it is pending. */
  abstract wait(): Promise<void>;
  /** Nobody will take the rest. Harmless behind the end, and more than once. */
  abstract cancel(reason: unknown): void;

  /** True if no value follows but what is made of those that were taken, and what an end adds. */
  get isSpent(): boolean {
    return false;
  }

  /** The next value, waited for; undefined behind the last. Rejects where the source broke. */
  async read(): Promise<T | undefined> {
    for (;;) {
      const value = this.poll();
      if (value !== null) return value;
      await this.wait();
    }
  }

  /**
   * What `change` makes of each value: one, several, or with undefined none; `end` adds the last.
   * Where either throws, this source is cancelled.
   */
  map<U extends {}>(
    change: (value: T) => U | readonly U[] | undefined,
    end?: () => readonly U[],
  ): Source<U> {
    return new MappedSource(this, change, end);
  }

  /** The same values, seen by `tap`. */
  tap(tap: Tap<T>): Source<T> {
    return new TappedSource(this, tap);
  }

  /** `values`, then these. */
  prepend(values: readonly T[]): Source<T> {
    return values.length === 0 ? this : new ListSource(values, this);
  }

  /** The same values as a web stream, which holds none of them. */
  toStream(): ReadableStream<T> {
    return new ReadableStream<T>(
      {
        pull: async (controller) => {
          const value = await this.read();
          if (value === undefined) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => this.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** Values that are there already, handed out one by one. */
  static of<T extends {}>(values: readonly T[]): Source<T> {
    return new ListSource(values, undefined);
  }

  /** The same source; one of another copy of the engine with the methods of this one. */
  static from<T extends {}>(source: Source<T>): Source<T> {
    return source instanceof Source ? source : new ListSource([], source);
  }

  /** A web stream, which is locked by this. */
  static fromStream<T extends {}>(stream: ReadableStream<T>): Source<T> {
    return new StreamSource(stream);
  }
}

/** True for a source of this copy of the engine and of another. */
export function isSource<T extends {}>(value: unknown): value is Source<T> {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** Wakes all that wait for it. */
export class Bell {
  #waiting: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  /** True if somebody waits. */
  get isWaitedFor(): boolean {
    return this.#waiting !== undefined;
  }

  wait(): Promise<void> {
    this.#waiting ??= new Promise((resolve) => {
      this.#wake = resolve;
    });
    return this.#waiting;
  }

  ring(): void {
    this.#waiting = undefined;
    this.#wake();
  }
}

class ListSource<T extends {}> extends Source<T> {
  #values: readonly T[];
  #behind: Source<T> | undefined;
  #next = 0;

  constructor(values: readonly T[], behind: Source<T> | undefined) {
    super();
    this.#values = values;
    this.#behind = behind;
  }

  poll(): T | null | undefined {
    if (this.#next < this.#values.length) {
      this.#next += 1;
      return this.#values[this.#next - 1];
    }
    return this.#behind?.poll();
  }

  wait(): Promise<void> {
    return this.#behind?.wait() ?? Promise.resolve();
  }

  override get isSpent(): boolean {
    if (this.#next < this.#values.length) return false;
    return this.#behind === undefined || this.#behind.isSpent;
  }

  cancel(reason: unknown): void {
    this.#values = [];
    this.#behind?.cancel(reason);
    this.#behind = undefined;
  }
}

class StreamSource<T extends {}> extends Source<T> {
  readonly #reader: ReadableStreamDefaultReader<T>;
  #reading: Promise<void> | undefined;
  #value: T | null | undefined = null;
  #thrown: { readonly thrown: unknown } | undefined;

  constructor(stream: ReadableStream<T>) {
    super();
    this.#reader = stream.getReader();
  }

  poll(): T | null | undefined {
    if (this.#thrown !== undefined) throw this.#thrown.thrown;
    const value = this.#value;
    if (value !== undefined) this.#value = null;
    return value;
  }

  wait(): Promise<void> {
    if (this.#value !== null || this.#thrown !== undefined) return Promise.resolve();
    this.#reading ??= this.#reader.read().then(
      ({ value }) => {
        this.#value = value;
        this.#reading = undefined;
      },
      (thrown: unknown) => {
        this.#thrown = { thrown };
      },
    );
    return this.#reading;
  }

  cancel(reason: unknown): void {
    this.#reader.cancel(reason).catch(() => undefined);
  }
}

class MappedSource<T extends {}, U extends {}> extends Source<U> {
  readonly #source: Source<T>;
  readonly #change: (value: T) => U | readonly U[] | undefined;
  readonly #end: (() => readonly U[]) | undefined;
  #ready: U[] = [];
  #isOver = false;

  constructor(
    source: Source<T>,
    change: (value: T) => U | readonly U[] | undefined,
    end: (() => readonly U[]) | undefined,
  ) {
    super();
    this.#source = source;
    this.#change = change;
    this.#end = end;
  }

  poll(): U | null | undefined {
    for (;;) {
      if (this.#ready.length > 0 || this.#isOver) return this.#ready.shift();
      const value = this.#source.poll();
      if (value === null) return null;
      const made = this.#made(value);
      if (Array.isArray(made)) this.#ready.push(...(made as readonly U[]));
      else if (made !== undefined) return made as U;
    }
  }

  override get isSpent(): boolean {
    return this.#isOver || this.#source.isSpent;
  }

  #made(value: T | undefined): U | readonly U[] | undefined {
    try {
      if (value !== undefined) return this.#change(value);
      this.#isOver = true;
      return this.#end?.();
    } catch (thrown) {
      this.#source.cancel(thrown);
      throw thrown;
    }
  }

  wait(): Promise<void> {
    return this.#source.wait();
  }

  cancel(reason: unknown): void {
    this.#ready = [];
    this.#source.cancel(reason);
  }
}

class TappedSource<T extends {}> extends Source<T> {
  readonly #source: Source<T>;
  readonly #tap: Tap<T>;
  #isOver = false;

  constructor(source: Source<T>, tap: Tap<T>) {
    super();
    this.#source = source;
    this.#tap = tap;
  }

  poll(): T | null | undefined {
    if (this.#isOver) return undefined;
    let value: T | null | undefined;
    try {
      value = this.#source.poll();
    } catch (thrown) {
      throw this.#tap.error === undefined ? thrown : this.#tap.error(thrown);
    }
    if (value === undefined) {
      this.#isOver = true;
      this.#tap.end?.();
    } else if (value !== null) this.#tap.value?.(value);
    return value;
  }

  override get isSpent(): boolean {
    return this.#isOver || this.#source.isSpent;
  }

  wait(): Promise<void> {
    return this.#source.wait();
  }

  cancel(reason: unknown): void {
    if (!this.#isOver) this.#tap.cancel?.(reason);
    this.#source.cancel(reason);
  }
}
