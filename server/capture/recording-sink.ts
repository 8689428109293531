/** A sink that shows the response to a recorder. */
import type { Sink } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import { observedSink } from '../sink/observed-sink.ts';
import type { RunRecorder } from './recorder.ts';

/** Forwards everything to `client`. */
export function recordingSink(client: Sink<ProxyFrame>, recorder: RunRecorder): Sink<ProxyFrame> {
  const sink = observedSink(client, (frame) => {
    if (frame.kind === 'head') recorder.head(frame);
    else if (frame.kind === 'chunk') recorder.chunk(frame.bytes);
  });
  return {
    ...sink,
    async whole(frames) {
      await sink.whole(frames);
      recorder.end('complete');
    },
    async end() {
      await sink.end();
      recorder.end('complete');
    },
    async fail(error) {
      recorder.end('failed', error);
      await sink.fail(error);
    },
  };
}
