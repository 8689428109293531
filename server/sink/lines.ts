/**
 * A stream as one JSON object a line (`application/x-ndjson`), for clients that
 * cannot read server-sent events. The objects are the events' own payloads.
 */
import type { SvcError } from '../../engine/index.ts';
import type { ChunkEvent } from '../../stages/model/frame.ts';
import { createSplitter } from '../../stages/wire/sse-split.ts';
import { errorBody } from '../error-response.ts';
import type { StreamEncoding } from './http.ts';

export const LINES_TYPE = 'application/x-ndjson';

function toLine({ data }: ChunkEvent): string {
  // The end of the body already says what this marker says, and it is not JSON.
  if (data === undefined || data === '' || data === '[DONE]') return '';
  return `${data.replaceAll('\n', '')}\n`;
}

/** The encoding for one stream. */
export function createLineEncoding(): StreamEncoding {
  const splitter = createSplitter();
  return {
    contentType: LINES_TYPE,
    push: (bytes) => Buffer.from(splitter.push(bytes).map(toLine).join('')),
    end() {
      const rest = splitter.rest();
      return Buffer.from(rest === undefined ? '' : toLine(rest));
    },
    error: (error: SvcError, requestId: string) =>
      Buffer.concat([errorBody(error, requestId), Buffer.from('\n')]),
  };
}
