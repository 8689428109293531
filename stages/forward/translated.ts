/**
 * Answers in another dialect than the client's: read as they come and told anew,
 * so that nothing behind `forward` knows that another provider answered.
 */
import { SvcError, isSvcError } from '../../engine/index.ts';
import type { Answer } from '../../engine/index.ts';
import {
  answerType,
  createTranslator,
  isTranslatable,
  translateError,
} from '../dialect/translate.ts';
import type { Translator } from '../dialect/translate.ts';
import { providerFailed } from '../model/errors.ts';
import { END, toChunk } from '../model/frame.ts';
import type { HeadFrame, ProxyFrame } from '../model/frame.ts';
import { headerValue } from '../model/headers.ts';
import type { UpstreamBody, UpstreamResponse } from '../providers/upstream.ts';
import type { Services } from '../services.ts';
import { createSplitter } from '../wire/sse-split.ts';
import type { Prepared, Reading } from './prepare.ts';

/** A document that is longer than this is not translated. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

type Translating = Exclude<Reading, { how: 'relay' }>;

function translatorFor(prepared: Prepared, reading: Translating, services: Services): Translator {
  const to = prepared.request.original.endpoint.dialect;
  if (!isTranslatable(to)) throw new SvcError('internal', `Nothing is translated into ${to}`);
  return createTranslator({
    from: reading.from,
    to,
    wishes: reading.wishes,
    ids: services.newToken,
    now: () => services.clock.wallMs(),
    signatures: services.signatures,
  });
}

async function readAll(body: UpstreamBody): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
    pieces.push(piece);
    sizeBytes += piece.length;
    if (sizeBytes > MAX_DOCUMENT_BYTES) {
      body.cancel(new Error('too long'));
      throw new SvcError('bad_gateway', 'The answer is too long to be translated');
    }
  }
  return Buffer.concat(pieces);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The head that the client sees: the provider's own fields speak of another body. */
function toTranslatedHead(head: HeadFrame, type: string, model: string | undefined): HeadFrame {
  const kept: string[] = [];
  for (const name of ['request-id', 'x-request-id', 'retry-after']) {
    const value = headerValue(head.headers, name);
    if (value !== undefined) kept.push(name, value);
  }
  return Object.freeze({
    ...head,
    headers: ['content-type', type, ...kept],
    streaming: type === 'text/event-stream',
    ...(model === undefined ? {} : { model }),
  });
}

/** An error answer in the client's dialect. Throws PROVIDER_004 for what only concerns the provider. */
export async function translatedError(
  prepared: Prepared,
  reading: Translating,
  head: HeadFrame,
  response: UpstreamResponse,
): Promise<Answer<ProxyFrame>> {
  const bytes = await readAll(response.body);
  const to = prepared.request.original.endpoint.dialect;
  if (response.status >= 500 || !isTranslatable(to)) throw providerFailed(response.status);
  const error = translateError(reading.from, to, response.status, parse(bytes));
  const told = toTranslatedHead(head, 'application/json', prepared.model);
  return [{ ...told, status: error.status }, toChunk(error.body), END];
}

/** A successful answer in the client's dialect, whole or live as the provider sent it. */
export async function translatedAnswer(
  prepared: Prepared,
  reading: Translating,
  head: HeadFrame,
  source: { readonly pieces: readonly Buffer[]; readonly body: UpstreamBody },
  services: Services,
): Promise<Answer<ProxyFrame>> {
  const translator = translatorFor(prepared, reading, services);
  if (!head.streaming) {
    const bytes = Buffer.concat([...source.pieces, await readAll(source.body)]);
    return toldAtOnce(prepared, reading, head, translator, bytes);
  }
  const told = toTranslatedHead(head, answerType(reading.wishes, true), prepared.model);
  return liveTranslation(told, translator, source);
}

function toldAtOnce(
  prepared: Prepared,
  reading: Translating,
  head: HeadFrame,
  translator: Translator,
  bytes: Buffer,
): Answer<ProxyFrame> {
  const document = parse(bytes);
  if (document === undefined)
    throw new SvcError('bad_gateway', 'The provider answered with something that is not JSON');
  const wantsStream = prepared.request.original.facts.stream;
  const type = answerType(reading.wishes, wantsStream);
  const told = toTranslatedHead(
    head,
    type,
    reading.how === 'translate' ? prepared.model : undefined,
  );
  const pieces = wantsStream ? translator.whole(document) : [translator.json(document)];
  const chunk = toChunk(Buffer.concat(pieces));
  // A chat client that did not ask for usage gets none; the provider's own document tells it.
  const metered = reading.how === 'translate' ? chunk : Object.freeze({ ...chunk, metered: bytes });
  return [told, metered, END];
}

function liveTranslation(
  head: HeadFrame,
  translator: Translator,
  { pieces, body }: { readonly pieces: readonly Buffer[]; readonly body: UpstreamBody },
): ReadableStream<ProxyFrame> {
  const splitter = createSplitter();
  const ready = [...pieces];
  let isHeadSent = false;

  /** What the client sees of the next bytes; undefined at the end. */
  async function next(): Promise<Buffer | undefined> {
    const piece = ready.shift() ?? (await body.read());
    if (piece === undefined) return undefined;
    const events = splitter.push(piece);
    return Buffer.concat(events.flatMap((event) => pushed(event)));
  }

  function pushed({
    event,
    data,
  }: {
    event: string | undefined;
    data: string | undefined;
  }): Buffer[] {
    return data === undefined ? [] : translator.push({ event, data });
  }

  return new ReadableStream<ProxyFrame>(
    {
      async pull(controller) {
        if (!isHeadSent) {
          isHeadSent = true;
          controller.enqueue(head);
          return;
        }
        for (;;) {
          let bytes: Buffer | undefined;
          try {
            bytes = await next();
          } catch (thrown) {
            const error = isSvcError(thrown)
              ? thrown
              : new SvcError('bad_gateway', 'The answer broke off', { cause: thrown });
            throw error;
          }
          if (bytes === undefined) {
            const rest = splitter.rest();
            const last = Buffer.concat([
              ...(rest === undefined ? [] : pushed(rest)),
              ...translator.end(),
            ]);
            if (last.length > 0) controller.enqueue(toChunk(last));
            controller.enqueue(END);
            controller.close();
            return;
          }
          if (bytes.length > 0) return controller.enqueue(toChunk(bytes));
        }
      },
      cancel: (reason) => body.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
