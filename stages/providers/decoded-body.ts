/**
 * Decodes an answer that svc has to read if the provider encoded it although identity was
 * requested.
 */
import { undecodableAnswer } from '../model/errors.ts';
import { headerValue, withoutHeaders } from '../model/headers.ts';
import { canDecode, createDecoder } from '../wire/decode.ts';
import type { Decoder } from '../wire/decode.ts';
import { bodyOf } from './response-body.ts';
import type { UpstreamResponse } from './upstream.ts';

/**
 * Returns the same answer without its `Content-Encoding`; unchanged if it has none, or an
 * unsupported one.
 */
export function decodedResponse(response: UpstreamResponse): UpstreamResponse {
  const encoding = readEncoding(response);
  if (encoding === undefined) return response;
  return {
    status: response.status,
    headers: withoutHeaders(
      response.headers,
      (name) => name === 'content-encoding' || name === 'content-length',
    ),
    body: bodyOf(response.body.bytes().pipeThrough(decoding(encoding))),
  };
}

/** Returns the `Content-Encoding` of an answer if it is supported here. */
export function readEncoding({ headers }: Pick<UpstreamResponse, 'headers'>): string | undefined {
  const encoding = headerValue(headers, 'content-encoding');
  return encoding !== undefined && canDecode(encoding) ? encoding : undefined;
}

/** Decodes a body as it arrives. */
function decoding(encoding: string): TransformStream<Buffer, Buffer> {
  let decoder: Decoder;
  return new TransformStream<Buffer, Buffer>({
    start(controller) {
      decoder = createDecoder(encoding, (bytes) => controller.enqueue(bytes));
    },
    transform(piece) {
      if (!decoder.push(piece)) throw undecodableAnswer(encoding);
    },
    async flush() {
      if (!(await decoder.end())) throw undecodableAnswer(encoding);
    },
  });
}
