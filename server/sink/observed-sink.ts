/** A sink that passes every frame to an observer before it forwards it. */
import type { Sink } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';

/** Forwards everything to `sink`, each frame after calling `observe` with it. */
export function observedSink(
  sink: Sink<ProxyFrame>,
  observe: (frame: ProxyFrame) => void,
): Sink<ProxyFrame> {
  return {
    whole(frames) {
      frames.forEach(observe);
      return sink.whole(frames);
    },
    write(frame) {
      observe(frame);
      return sink.write(frame);
    },
    before: () => sink.before?.(),
    end: () => sink.end(),
    fail: (error) => sink.fail(error),
  };
}
