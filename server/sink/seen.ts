/** A sink that shows every frame to someone before it passes it on. */
import type { Sink } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';

/** Forwards everything to `sink`, each frame after `see` had it. */
export function seenSink(
  sink: Sink<ProxyFrame>,
  see: (frame: ProxyFrame) => void,
): Sink<ProxyFrame> {
  return {
    whole(frames) {
      frames.forEach(see);
      return sink.whole(frames);
    },
    write(frame) {
      see(frame);
      return sink.write(frame);
    },
    before: () => sink.before?.(),
    end: () => sink.end(),
    fail: (error) => sink.fail(error),
  };
}
