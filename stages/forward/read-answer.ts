/**
 * From a provider's response to the answer that the client gets, telling the
 * provider's breaker how it went on the way.
 */
import type { Answer } from '../../engine/index.ts';
import { END } from '../model/frame.ts';
import type { HeadFrame, ProxyFrame } from '../model/frame.ts';
import { connectionNamed, headerValue, isHopByHop, withoutHeaders } from '../model/headers.ts';
import { withRoute } from '../model/request.ts';
import type { Admission } from '../providers/admission.ts';
import type { UpstreamBody, UpstreamResponse } from '../providers/upstream.ts';
import { gather, isBodiless, isDocument, stream } from './answer.ts';
import type { AttemptScope } from './attempts.ts';
import { ErrorEvent, hold } from './hold.ts';
import type { Prepared } from './prepare.ts';
import { translatedAnswer, translatedError } from './translated.ts';
import { createUsageChunkFilter } from './usage-chunk.ts';

export interface ReadOptions {
  /** True while another provider could still take over. */
  readonly mustHold: boolean;
  /** Is told how the exchange goes, and given back at its end. */
  readonly admission: Admission;
  readonly scope: AttemptScope;
  /** True for an answer that is an error: it is kept in memory, whatever its form. */
  readonly isError?: boolean;
}

export type Read = { readonly answer: Answer<ProxyFrame> } | { readonly failed: unknown };

function toHead(prepared: Prepared, response: UpstreamResponse, scope: AttemptScope): HeadFrame {
  const { request, reading, provider } = prepared;
  const named = connectionNamed(response.headers);
  const type = headerValue(response.headers, 'content-type')?.toLowerCase() ?? '';
  const changesLength = reading.how === 'relay' && reading.asked;
  const { route } = request;
  return Object.freeze({
    kind: 'head',
    status: response.status,
    headers: withoutHeaders(
      response.headers,
      (name) =>
        isHopByHop(name) ||
        named?.has(name) === true ||
        (changesLength && name === 'content-length'),
    ),
    request:
      route === undefined || route.provider === provider.name
        ? request
        : withRoute(request, { ...route, provider: provider.name }),
    attempts: scope.attempts,
    streaming: type.startsWith('text/event-stream'),
  });
}

/** Reads on until there is something to show, or a reason to show nothing of it. */
export async function readAnswer(
  prepared: Prepared,
  response: UpstreamResponse,
  options: ReadOptions,
): Promise<Read> {
  const { reading, request } = prepared;
  const head = toHead(prepared, response, options.scope);
  if (isBodiless(response.status, request.original.body.method)) {
    options.admission.content();
    options.admission.release();
    response.body.cancel(undefined);
    return { answer: [head, END] };
  }
  try {
    return await readBody(prepared, response, head, options);
  } catch (failed) {
    options.admission.failed(failed, options.scope.run.signal);
    options.admission.release();
    return { failed };
  }
}

async function readBody(
  prepared: Prepared,
  response: UpstreamResponse,
  head: HeadFrame,
  options: ReadOptions,
): Promise<Read> {
  const { scope, admission } = options;
  const { reading } = prepared;
  if (reading.how !== 'relay' && response.status >= 400) {
    const watched = { ...response, body: watch(response.body, options) };
    return { answer: await translatedError(prepared, reading, head, watched) };
  }
  let source: { pieces: readonly Buffer[]; body: UpstreamBody } = {
    pieces: [],
    body: response.body,
  };
  if (head.streaming && options.mustHold && isPlain(head)) {
    const held = await hold(response.body, prepared.dialect, scope.services.clock);
    if ('failed' in held) {
      response.body.cancel(new Error('another provider takes over'));
      if (held.failed instanceof ErrorEvent) admission.errorEvent();
      else admission.failed(held.failed, scope.run.signal);
      admission.release();
      return { failed: held.failed };
    }
    scope.note(`held back until ${held.released}`);
    source = held;
  }
  const watched = watch(source.body, options);
  if (reading.how !== 'relay') {
    return {
      answer: await translatedAnswer(
        prepared,
        reading,
        head,
        { ...source, body: watched },
        scope.services,
      ),
    };
  }
  if (source.pieces.length === 0 && (isDocument(head) || options.isError === true)) {
    return { answer: await gather(head, watched) };
  }
  const filter =
    reading.asked && head.streaming && isPlain(head) ? createUsageChunkFilter() : undefined;
  return { answer: stream(head, watched, { ready: source.pieces, filter }) };
}

function isPlain(head: HeadFrame): boolean {
  return (headerValue(head.headers, 'content-encoding') ?? 'identity') === 'identity';
}

/** The body, with what becomes of it told to the provider's breaker. */
function watch(body: UpstreamBody, { admission, scope, isError }: ReadOptions): UpstreamBody {
  return {
    poll: () => body.poll(),
    cancel(reason) {
      admission.release();
      body.cancel(reason);
    },
    async read() {
      try {
        const piece = await body.read();
        if (piece !== undefined && isErrorEvent(piece)) admission.errorEvent();
        else if (isError !== true) admission.content();
        if (piece === undefined) admission.release();
        return piece;
      } catch (thrown) {
        admission.failed(thrown, scope.run.signal);
        admission.release();
        throw thrown;
      }
    },
  };
}

/** Cheap enough for every chunk: an error inside a stream names itself at the start of an event. */
function isErrorEvent(piece: Buffer): boolean {
  return (
    piece.includes('event: error\n') ||
    piece.includes('data: {"error"') ||
    piece.includes('data: {"type":"error"')
  );
}
