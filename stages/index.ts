/** The public entry point to frames and edits, for stages written with imports (`svc/stages`). */
export { END, toChunk } from './model/frame.ts';
export type {
  ChunkEvent,
  ChunkFrame,
  EndFrame,
  HeadFrame,
  ProxyFrame,
  RequestFrame,
} from './model/frame.ts';
export type { BodyFrame } from './model/body.ts';
export type { Block } from './model/block.ts';
export type { Headers } from './model/headers.ts';
export { headerValue, withoutHeaders } from './model/headers.ts';
export {
  appendText,
  isRewritable,
  modelOf,
  replaceText,
  setModel,
  setParam,
  textOf,
} from './model/request.ts';
export type { ProxyRequest } from './model/request.ts';
export { createSplitter, encodeEvent } from './wire/events.ts';
