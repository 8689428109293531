/**
 * Tools for stage authors to work with frames and requests, passed to `setup` so that a module
 * needs no import.
 */
import { SvcError } from '../engine/index.ts';
import type { Answer, ErrorKind } from '../engine/index.ts';
import type { BodyFrame } from '../stages/model/body.ts';
import { END, toChunk } from '../stages/model/frame.ts';
import type { ChunkFrame, EndFrame, ProxyFrame, RequestFrame } from '../stages/model/frame.ts';
import { headerValue, withoutHeaders } from '../stages/model/headers.ts';
import {
  appendText,
  isRewritable,
  modelOf,
  replaceText,
  setModel,
  setParam,
  textOf,
} from '../stages/model/request.ts';
import type { ProxyRequest } from '../stages/model/request.ts';
import { encodeEvent } from '../stages/wire/events.ts';

/** An answer given by a stage itself. */
export interface OwnAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Headers besides the content type. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The document, or the events of a stream in the client's dialect. */
  readonly body: { readonly json: unknown } | { readonly events: readonly StreamEvent[] };
}

export interface StreamEvent {
  readonly event?: string;
  /** Text, or a value written as JSON. */
  readonly data: unknown;
}

export interface StageTools {
  /** Makes a chunk of the answer from bytes or text. */
  toChunk(bytes: Uint8Array | string): ChunkFrame;
  /** Returns one server-sent event as bytes. */
  toEvent(event: StreamEvent): Buffer;
  readonly end: EndFrame;
  /** Makes the whole answer to a request, to be returned by a handler of `request`. */
  answer(frame: RequestFrame, answer: OwnAnswer): Answer<ProxyFrame>;
  /** For a stage before `parse`: returns the frame with another body. */
  withBody(frame: BodyFrame, body: Uint8Array | string): BodyFrame;
  /** Makes an error response in the client's dialect; throw it. */
  error(kind: ErrorKind, message: string): SvcError;
  /** Returns a header of the request as the client sent it; the name is case-insensitive. */
  header(request: ProxyRequest, name: string): string | undefined;
  modelOf(request: ProxyRequest): string | undefined;
  /** False if a request must be sent as it arrived; edits then throw. */
  isRewritable(request: ProxyRequest): boolean;
  /**
   * Lists the blocks whose text may be replaced: tool output and long user text, with the text as
   * it would be sent now.
   */
  texts(request: ProxyRequest): readonly { readonly index: number; readonly text: string }[];
  /** Returns another frame; so does every edit. */
  replaceText(frame: RequestFrame, index: number, text: string): RequestFrame;
  appendText(frame: RequestFrame, message: number, text: string): RequestFrame;
  setParam(frame: RequestFrame, name: string, value: unknown): RequestFrame;
  setModel(frame: RequestFrame, model: string): RequestFrame;
}

export const stageTools: StageTools = Object.freeze({
  toChunk: (bytes: Uint8Array | string) =>
    toChunk(typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes)),
  toEvent: ({ event, data }: StreamEvent) =>
    encodeEvent(event, typeof data === 'string' ? data : JSON.stringify(data)),
  end: END,
  answer: toAnswer,
  withBody(frame: BodyFrame, body: Uint8Array | string): BodyFrame {
    const bytes = Buffer.from(body);
    const headers = withoutHeaders(frame.headers, (name) => name === 'content-encoding');
    return { ...frame, headers, bytes, wireBytes: bytes };
  },
  error: (kind: ErrorKind, message: string) => new SvcError(kind, message),
  header: (request: ProxyRequest, name: string) =>
    headerValue(request.original.body.headers, name.toLowerCase()),
  modelOf,
  isRewritable,
  texts: (request: ProxyRequest) =>
    request.original
      .blocks()
      .filter(
        ({ index, path }) =>
          path !== undefined && request.original.protectedBy(index) === undefined,
      )
      .map((block) => ({ index: block.index, text: textOf(request, block) })),
  replaceText(frame: RequestFrame, index: number, text: string): RequestFrame {
    const { request } = frame;
    const block = request.original.blocks().find((each) => each.index === index);
    if (block === undefined) throw new TypeError(`The request has no block ${index}`);
    return { ...frame, request: replaceText(request, block, text) };
  },
  appendText: (frame: RequestFrame, message: number, text: string) => ({
    ...frame,
    request: appendText(frame.request, message, text),
  }),
  setParam: (frame: RequestFrame, name: string, value: unknown) => ({
    ...frame,
    request: setParam(frame.request, name, value),
  }),
  setModel: (frame: RequestFrame, model: string) => ({
    ...frame,
    request: setModel(frame.request, model),
  }),
});

function toAnswer({ request }: RequestFrame, { status = 200, headers = {}, body }: OwnAnswer) {
  const isStream = 'events' in body;
  const bytes = isStream
    ? Buffer.concat(body.events.map((event) => stageTools.toEvent(event)))
    : Buffer.from(JSON.stringify(body.json));
  const type = isStream ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8';
  const frames: ProxyFrame[] = [
    {
      kind: 'head',
      status,
      headers: ['content-type', type, ...Object.entries(headers).flat()],
      request,
      attempts: [],
      streaming: isStream,
    },
    toChunk(bytes),
    END,
  ];
  return frames;
}
