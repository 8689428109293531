/** A sink that shows the response to a recorder. */
import type { Sink, SvcError } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import type { RunRecorder } from './recorder.ts';

export class RecordingSink implements Sink<ProxyFrame> {
  readonly #sink: Sink<ProxyFrame>;
  readonly #recorder: RunRecorder;

  /** Forwards everything to `sink`. */
  constructor(sink: Sink<ProxyFrame>, recorder: RunRecorder) {
    this.#sink = sink;
    this.#recorder = recorder;
  }

  async whole(frames: readonly ProxyFrame[]): Promise<void> {
    for (const frame of frames) this.#see(frame);
    await this.#sink.whole(frames);
    this.#recorder.end('complete');
  }

  write(frame: ProxyFrame): Promise<void> | void {
    this.#see(frame);
    return this.#sink.write(frame);
  }

  before(): ReadableWritablePair<ProxyFrame, ProxyFrame> | undefined {
    return this.#sink.before?.();
  }

  async end(): Promise<void> {
    await this.#sink.end();
    this.#recorder.end('complete');
  }

  async fail(error: SvcError): Promise<void> {
    this.#recorder.end('failed', error);
    await this.#sink.fail(error);
  }

  #see(frame: ProxyFrame): void {
    if (frame.kind === 'head') this.#recorder.head(frame);
    else if (frame.kind === 'chunk') this.#recorder.chunk(frame.bytes);
  }
}
