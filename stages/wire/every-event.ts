/**
 * A stream's events for a reader who must not miss one: what is told anew, in other words or in
 * another form, would else lack an event and end as if it had been whole.
 */
import { SvcError } from '../../engine/index.ts';
import type { ChunkEvent } from '../model/frame.ts';
import { createSplitter } from './sse-split.ts';
import type { SseSplitter } from './sse-split.ts';

const MAX_EVENT_MIB = 32;

/**
 * A splitter for one stream whose every event has its `data`. Throws `bad_gateway` for an event
 * of more than `maxEventBytes`, 32 MiB unless told.
 */
export function createEventReader(maxEventBytes = MAX_EVENT_MIB * 1024 * 1024): SseSplitter {
  const splitter = createSplitter({ maxEventBytes });
  const checked = (piece: ChunkEvent): ChunkEvent => {
    if (piece.data === undefined && piece.bytes.length >= maxEventBytes) throw tooLong();
    return piece;
  };
  return {
    push: (bytes) => splitter.push(bytes).map(checked),
    rest() {
      const piece = splitter.rest();
      return piece && checked(piece);
    },
  };
}

function tooLong(): SvcError {
  return new SvcError(
    'bad_gateway',
    `The provider sent an event of more than ${MAX_EVENT_MIB} MiB, which can only be relayed as it came`,
  );
}
