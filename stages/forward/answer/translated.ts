/**
 * Answers in a dialect other than the client's: read as they arrive and rewritten, so that no stage
 * after `forward` sees that another provider answered.
 */
import { SvcError, streamOf } from '../../../engine/index.ts';
import type { Answer } from '../../../engine/index.ts';
import { parseExact } from '../../dialect/exact-json.ts';
import { parseJson } from '../../dialect/json-kind.ts';
import { isTranslatable } from '../../dialect/translatable.ts';
import { translateCount } from '../../dialect/translate/token-count.ts';
import {
  answerType,
  createTranslator,
  streamOfAnswer,
  translateError,
} from '../../dialect/translate/translate.ts';
import type { ClientOptions, Translator, WireEvent } from '../../dialect/translate/translate.ts';
import type { RequestFacts } from '../../model/dialect.ts';
import type { Endpoint } from '../../model/endpoint.ts';
import { providerFailed } from '../../model/errors.ts';
import { END, toChunk } from '../../model/frame.ts';
import type { ChunkEvent, ChunkFrame, HeadFrame, ProxyFrame } from '../../model/frame.ts';
import { withoutHeaders } from '../../model/headers.ts';
import { createTokens } from '../../model/run-tokens.ts';
import type { Usage } from '../../model/usage.ts';
import type { ResponseBody } from '../../providers/response-body.ts';
import { readWhole } from '../../providers/upstream.ts';
import { createEventReader } from '../../wire/events.ts';
import type { Prepared, Reading } from '../request/prepared.ts';
import type { AttemptScope, BodyWatch } from '../attempt-scope.ts';
import { chunksWithout, framesOf } from './answer.ts';
import { callMarksOf } from '../request/provider-call-marks.ts';

/** A longer document is not translated. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

type Translating = Exclude<Reading, { how: 'passthrough' }>;

type TranslationScope = Pick<AttemptScope, 'services' | 'run' | 'state'>;

/** Translates one answer; `toFrame` removes what is only there for the meter. */
interface AnswerTranslation {
  readonly translator: Translator;
  readonly toFrame: (events: Buffer) => ChunkFrame;
}

function translationFor(
  prepared: Prepared,
  reading: Translating,
  { services, run, state }: TranslationScope,
): AnswerTranslation {
  const { name: to, usageRequest } = prepared.request.original.dialect;
  if (!isTranslatable(to)) throw new SvcError('internal', `Nothing is translated into ${to}`);
  const { clientOptions, from } = reading;
  const added = clientOptions.stream && !clientOptions.includeUsage ? usageRequest : undefined;
  const metered: ClientOptions =
    added === undefined ? clientOptions : { ...clientOptions, includeUsage: true };
  const translator = createTranslator({
    from,
    to,
    clientOptions: metered,
    // Derived from the run, so that a replay gives the same bytes.
    ids: createTokens(run.id),
    now: () => run.startedWallMs,
    marks: callMarksOf(services, prepared.request, prepared.provider),
    note(text) {
      if (!state.notes.includes(text)) state.notes.push(text);
    },
  });
  return { translator, toFrame: chunksWithout(added) };
}

/** Reads a body to its end. Throws `bad_gateway` if it is too long to be translated. */
async function documentOf(body: ResponseBody): Promise<Buffer> {
  const bytes = await readWhole(body, MAX_DOCUMENT_BYTES);
  if (bytes !== undefined) return bytes;
  throw new SvcError('bad_gateway', 'The answer is too long to be translated');
}

/** Headers about the provider's body. */
const OF_THE_BODY = /^(?:content-(?:type|length|encoding|md5)|etag|digest)$/;
/** Headers that remain valid when the answer is written in another dialect. */
const STILL_TRUE = /^(?:request-id|x-request-id|retry-after(?:-ms)?)$/;

/**
 * Returns the head for the client: the provider's own headers are about another body. `usage` is
 * read in the provider's own bytes.
 */
function toTranslatedHead(
  head: HeadFrame,
  type: string,
  { reading, model }: Prepared,
  usage?: () => Usage,
): HeadFrame {
  const isSame = reading.how === 'one-document';
  const kept = withoutHeaders(head.headers, (name) =>
    isSame ? OF_THE_BODY.test(name) : !STILL_TRUE.test(name),
  );
  return Object.freeze({
    ...head,
    headers: ['content-type', type, ...kept],
    streaming: type === 'text/event-stream',
    // The observer reads the provider's bytes, while the meter reads the client's.
    observer: undefined,
    ...(model !== undefined && !isSame && { model }),
    ...(usage && { usage }),
  });
}

/**
 * Reads the bill in the provider's own bytes: the client's may only say 0, and have no place for
 * searches, tiers or dropped thoughts.
 */
interface Billed {
  readonly usage: () => Usage;
  readonly push: (bytes: Buffer) => void;
}

function billedBy(
  { dialect }: Prepared,
  { observer, streaming }: HeadFrame,
  watch: BodyWatch | undefined,
): Billed {
  // The watch feeds the one that is there.
  if (observer !== undefined && watch !== undefined)
    return { usage: () => observer.usage(), push: () => undefined };
  const own = dialect.observeUsage(streaming);
  return { usage: () => own.usage(), push: (bytes) => own.push(bytes) };
}

/**
 * Translates an error answer to the client's dialect. Throws PROVIDER_004 for errors that only
 * concern the provider.
 */
export function translatedError(
  prepared: Prepared,
  reading: Translating,
  head: HeadFrame,
  bytes: Buffer,
  scope: TranslationScope,
): Answer<ProxyFrame> {
  const { endpoint, facts } = prepared.request.original;
  const to = endpoint.dialect;
  if (head.status >= 500 || !isTranslatable(to)) throw providerFailed(head.status);
  const document = parseJson(bytes.toString('utf8'));
  const error = translateError(reading.from, to, head.status, document);
  if (error.isInStream && facts.stream) {
    const { translator, toFrame } = translationFor(prepared, reading, scope);
    const events = Buffer.concat(translator.refused(head.status, document));
    const streamed = toTranslatedHead(head, 'text/event-stream', prepared);
    const failed = Object.freeze({ ...streamed, status: 200, failed: true });
    return streamOf([failed, toFrame(events), END]);
  }
  const written = toTranslatedHead(head, 'application/json', prepared);
  return [{ ...written, status: error.status }, toChunk(error.body), END];
}

/**
 * Translates an answer to the client's dialect, live if the provider streams to a client that asked
 * for that. `watch` sees the body.
 */
export async function translatedAnswer(
  prepared: Prepared,
  head: HeadFrame,
  body: ResponseBody,
  scope: TranslationScope,
  watch?: BodyWatch,
): Promise<Answer<ProxyFrame>> {
  const { reading } = prepared;
  if (reading.how === 'passthrough') throw new SvcError('internal', 'Nothing is to be translated');
  const billed = billedBy(prepared, head, watch);
  const { facts, endpoint } = prepared.request.original;
  const type = answerType(reading.clientOptions, facts.stream);
  if (head.status < 400 && head.streaming && facts.stream) {
    const written = toTranslatedHead(head, type, prepared, billed.usage);
    const translation = translationFor(prepared, reading, scope);
    return framesOf(written, body).pipeThrough(toTranslating(translation, billed, watch));
  }
  const bytes = await documentOf(body);
  billed.push(bytes);
  watch?.push(bytes);
  watch?.end();
  if (head.status >= 400) return translatedError(prepared, reading, head, bytes, scope);
  if (endpoint.operation === 'count_tokens') {
    const counted = toTranslatedHead(head, 'application/json', prepared);
    return [counted, toChunk(translatedCount(reading, endpoint, bytes)), END];
  }
  const usage = reading.how === 'one-document' ? undefined : billed.usage;
  const written = toTranslatedHead(head, type, prepared, usage);
  const { translator, toFrame } = translationFor(prepared, reading, scope);
  const translate = head.streaming ? joinedBody : translatedBody;
  const answer = [written, toFrame(translate(translator, bytes, reading, facts)), END];
  // Even a short stream is sent as a stream: a client may want it in lines.
  return written.streaming ? streamOf(answer) : answer;
}

function translatedCount({ from }: Translating, { dialect }: Endpoint, bytes: Buffer): Buffer {
  if (!isTranslatable(dialect))
    throw new SvcError('internal', `Nothing is translated into ${dialect}`);
  const count = translateCount(from, dialect, parseJson(bytes.toString('utf8')));
  return Buffer.from(JSON.stringify(count));
}

/** Translates a document, to a stream if the client asked for one. */
function translatedBody(
  translator: Translator,
  bytes: Buffer,
  { how, from, clientOptions }: Translating,
  { stream }: RequestFacts,
): Buffer {
  const document = parseExact(bytes.toString('utf8'));
  if (document === undefined) {
    throw new SvcError('bad_gateway', 'The provider answered with something that is not JSON');
  }
  if (how === 'one-document') return streamOfAnswer(from, document, clientOptions);
  return stream ? Buffer.concat(translator.whole(document)) : translator.json(document);
}

/** Makes a document of an answer that the provider streamed without being asked to. */
function joinedBody(translator: Translator, bytes: Buffer): Buffer {
  const reader = createEventReader();
  return translator.joined([...reader.push(bytes), reader.rest()].flatMap(toWireEvent));
}

function toWireEvent(piece: ChunkEvent | undefined): WireEvent[] {
  return piece?.data === undefined ? [] : [{ event: piece.event, data: piece.data }];
}

/**
 * Creates a stream that reads frames of the provider's dialect and writes those of the client's.
 */
function toTranslating(
  { translator, toFrame }: AnswerTranslation,
  billed: Billed,
  watch: BodyWatch | undefined,
): TransformStream<ProxyFrame, ProxyFrame> {
  const events = createEventReader();
  const translate = (piece: ChunkEvent | undefined): Buffer[] =>
    toWireEvent(piece).flatMap((event) => translator.push(event));
  const read = (bytes: Buffer): Buffer[] => events.push(bytes).flatMap(translate);
  const chunk = (written: readonly Buffer[]): ProxyFrame[] =>
    written.length === 0 ? [] : [toFrame(Buffer.concat(written))];
  const translateFrame = (frame: ProxyFrame): ProxyFrame[] => {
    if (frame.kind === 'chunk') billed.push(frame.bytes);
    if (frame.kind === 'chunk') return chunk(read(watch?.push(frame.bytes) ?? frame.bytes));
    if (frame.kind !== 'end') return [frame];
    const last = read(watch?.end() ?? NOTHING);
    return [...chunk([...last, ...translate(events.rest()), ...translator.end()]), frame];
  };
  return new TransformStream<ProxyFrame, ProxyFrame>({
    transform(frame, controller) {
      for (const each of translateFrame(frame)) controller.enqueue(each);
    },
  });
}
