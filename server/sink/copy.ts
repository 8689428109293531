/**
 * A sink that keeps the beginning of the response that it forwards, for a log with response bodies.
 * An encoded response is decoded: the copy is for people.
 */
import type { Sink } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import { headerValue } from '../../stages/model/headers.ts';
import { createDecoder } from '../../stages/wire/decode.ts';
import type { Decoder } from '../../stages/wire/decode.ts';
import { observedSink } from './observed-sink.ts';

/** The kept part of a response. */
export interface AnswerCopy {
  readonly bytes: Buffer;
  /** Size of the whole response, decoded. */
  readonly sizeBytes: number;
}

/** Creates a sink that forwards everything to `client`, and keeps up to `maxBytes`. */
export function createCopyingSink(client: Sink<ProxyFrame>, maxBytes: number) {
  const kept: Buffer[] = [];
  let sizeBytes = 0;
  let decoder: Decoder | undefined;
  const keep = (bytes: Buffer): void => {
    const room = Math.max(0, maxBytes - sizeBytes);
    sizeBytes += bytes.length;
    if (room > 0) kept.push(bytes.subarray(0, room));
  };
  const sink = observedSink(client, (frame) => {
    if (frame.kind === 'chunk') decoder?.push(frame.bytes);
    if (frame.kind === 'head')
      decoder = createDecoder(headerValue(frame.headers, 'content-encoding'), keep);
  });
  return {
    sink,
    /** Returns what was received of the provider's response; undefined if there was none. */
    async copy(): Promise<AnswerCopy | undefined> {
      await decoder?.end();
      return decoder && { bytes: Buffer.concat(kept), sizeBytes };
    },
  };
}
