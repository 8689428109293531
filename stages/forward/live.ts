/** The handlers of `forward` for the frames of a live answer that is passed through. */
import type { UsageRequest } from '../model/dialect.ts';
import { chunksWithout } from './answer.ts';
import type { BodyWatch, LiveSteps } from './attempt-scope.ts';

/** Of an answer passed through: it is watched, and what only answers to `added` is taken out. */
export function passingSteps(watch: BodyWatch, added: UsageRequest | undefined): LiveSteps {
  const toFrames = chunksWithout(added);
  return {
    watch,
    chunk(chunk) {
      const bytes = watch.push(chunk.bytes);
      if (bytes.length === 0) return [];
      return bytes === chunk.bytes && added === undefined ? chunk : toFrames(bytes);
    },
    end(end) {
      const bytes = watch.end();
      return bytes.length === 0 ? end : [toFrames(bytes), end].flat();
    },
  };
}
