/**
 * Encodes a stream as one JSON object per line (`application/x-ndjson`), for clients that cannot
 * read server-sent events. The objects are the events' payloads.
 */
import type { SvcError } from '../../engine/index.ts';
import type { ChunkEvent } from '../../stages/model/frame.ts';
import { headerList } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';
import { createEventReader } from '../../stages/wire/events.ts';
import { errorBody } from '../http/error-response.ts';
import type { StreamEncoding } from './http.ts';

const LINES_TYPE = 'application/x-ndjson';

/** True if these headers accept lines, and do not prefer events. */
export function acceptsLines(headers: Headers): boolean {
  const accept = headerList(headers, 'accept')?.toLowerCase();
  // Few clients ask for lines: the header is not parsed for the others.
  if (accept?.includes(LINES_TYPE) !== true) return false;
  let lines = 0;
  let events = 0;
  for (const range of accept.split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    if (type === LINES_TYPE) lines = Math.max(lines, weightOf(parameters));
    else if (type === 'text/event-stream') events = Math.max(events, weightOf(parameters));
  }
  return lines > 0 && lines >= events;
}

/** RFC 9110 §12.4.2; an invalid weight counts as absent. */
function weightOf(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => /^q\s*=/.test(parameter));
  const weight = q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1));
  return Number.isNaN(weight) ? 1 : weight;
}

function toLine({ data }: ChunkEvent): string {
  // The end of the body already implies this marker, which is not JSON.
  if (data === undefined || data === '' || data === '[DONE]') return '';
  return `${data.replaceAll('\n', '')}\n`;
}

/** Creates the encoding for one stream. */
export function createLineEncoding(): StreamEncoding {
  const events = createEventReader();
  return {
    contentType: LINES_TYPE,
    push: (bytes) => Buffer.from(events.push(bytes).map(toLine).join('')),
    end() {
      const rest = events.rest();
      return Buffer.from(rest === undefined ? '' : toLine(rest));
    },
    error: (error: SvcError, requestId: string) =>
      Buffer.concat([errorBody(error, requestId), Buffer.from('\n')]),
  };
}
