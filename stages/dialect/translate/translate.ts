/**
 * Translation between dialects: the public entry point. A request goes through `translateRequest`,
 * its answer through the translator that `createTranslator` makes, an HTTP error through
 * `translateError`. All of it is pure: parsed JSON and stream events in, JSON and bytes out.
 * Same-dialect traffic must not come here.
 */
import { isSvcError, SvcError, toSvcError } from '../../../engine/error.ts';
import { encodeEvent } from '../../wire/events.ts';
import type {
  CanonicalRequest,
  CanonicalEvent,
  CanonicalResponse,
  JsonObject,
  Note,
  TranslatableDialect,
  WireEvent,
} from '../canonical.ts';
import { chatTranslation } from '../chat/translate-dialect.ts';
import { generativeTranslation } from '../generative/translate-dialect.ts';
import { dialects } from '../registry.ts';
import { messagesTranslation } from '../messages/translate-dialect.ts';
import { responsesTranslation } from '../responses/translate-dialect.ts';
import { clientBlocks, createEventFilter, gatherStream, responseEvents } from './answer.ts';
import type {
  ClientOptions,
  DialectTranslation,
  ProviderTools,
  Unsupported,
  WrittenRequest,
} from './dialect.ts';
import { fromSvcError, statusOfError, unreadableAnswer } from './errors.ts';
import type { ConversationMarks } from '../call-marks.ts';
import { exactJson } from '../exact-json.ts';
import { isObject, objectOf, stringOf } from '../json-kind.ts';
import { prepareRequest } from './prepare.ts';
import { tooLongFor } from './too-long.ts';

export type { ClientOptions, ProviderTools, Unsupported, TranslatableDialect, WireEvent };

const DIALECTS: Record<TranslatableDialect, DialectTranslation> = {
  messages: messagesTranslation,
  chat: chatTranslation,
  responses: responsesTranslation,
  generative: generativeTranslation,
};

export interface TranslateRequestOptions {
  /** The client's path with its query: a generative client names its model there. */
  readonly target: string;
  /** The model to request at the new provider. Default: the one that the client names. */
  readonly model?: string;
  /** False requests the whole answer at once from the provider. Default: as the client requests. */
  readonly stream?: boolean;
  /** Default `skip`. */
  readonly providerTools?: ProviderTools;
  /** What providers require back with the calls of this conversation. */
  readonly marks: ConversationMarks;
  /** What the new provider is known to refuse. Default: nothing. */
  readonly unsupported?: ReadonlySet<Unsupported>;
}

/** A translated request, or the reason why this target cannot serve it. */
export type RequestTranslation =
  | {
      readonly body: JsonObject;
      /** Path and query at the new provider. */
      readonly path: string;
      /**
       * The headers to send, besides the key: a flat list of names and values. The client's own
       * headers are for its own provider and are dropped, betas above all.
       */
      readonly headers: readonly string[];
      /** What the answer's translator must know. */
      readonly clientOptions: ClientOptions;
      /** What was deliberately left out or changed, for the trace. */
      readonly notes: readonly string[];
    }
  | { readonly skip: string };

/** A request can name any number of unknown members and tools; a trace shows at most this many. */
const MAX_NOTES = 100;

const ALL_SUPPORTED: ReadonlySet<Unsupported> = new Set();

/** Translates a request's body. Never degrades silently: what `to` cannot express is a `skip`. */
export function translateRequest(
  from: TranslatableDialect,
  to: TranslatableDialect,
  body: unknown,
  options: TranslateRequestOptions,
): RequestTranslation {
  try {
    return translateOrThrow(DIALECTS[from], DIALECTS[to], objectOf(body), options);
  } catch (thrown) {
    if (isSvcError(thrown) && thrown.kind === 'unprocessable') {
      return { skip: `${to} cannot carry ${thrown.message}` };
    }
    throw thrown;
  }
}

function translateOrThrow(
  from: DialectTranslation,
  to: DialectTranslation,
  body: JsonObject,
  options: TranslateRequestOptions,
): Exclude<RequestTranslation, { skip: string }> {
  const notes = new Set<string>();
  const note = (text: string): void => {
    if (notes.size < MAX_NOTES) notes.add(text);
  };
  const { target, marks, providerTools = 'skip', unsupported = ALL_SUPPORTED } = options;
  const read = from.readRequest(body, { target, note, providerTools });
  const model = options.model ?? read.model;
  const place = unsupported.has('instructions in the middle') ? 'nowhere' : to.systemPlace(model);
  const { request: prepared, toolNames } = prepareRequest(read, to, { note, marks, place });
  const written: WrittenRequest = to.writeRequest(
    { ...prepared, model, stream: options.stream ?? prepared.stream },
    { note, unsupported },
  );
  const clientOptions: ClientOptions = {
    ...from.clientOptions(body, target),
    model: read.model,
    stream: read.stream,
    toolNames,
    callIds: callIdsIn(read),
  };
  const headers = [...JSON_BODY, ...dialects[to.name].requiredHeaders];
  return { ...written, headers, clientOptions, notes: [...notes] };
}

/**
 * Returns the options of an answer in the request's own dialect, for a document that is
 * written as a stream.
 */
export function ownOptions(
  dialect: TranslatableDialect,
  body: unknown,
  target: string,
  model: string,
): ClientOptions {
  const object = objectOf(body);
  return {
    ...DIALECTS[dialect].clientOptions(object, target),
    model,
    stream: true,
    toolNames: {},
  };
}

function callIdsIn({ messages }: CanonicalRequest): ReadonlySet<string> {
  const blocks = messages.flatMap((message) => message.blocks);
  return new Set(blocks.flatMap((block) => (block.kind === 'toolUse' ? block.id : [])));
}

const JSON_BODY = ['content-type', 'application/json'] as const;

/**
 * Returns the `Content-Type` of an answer for a client with these options; `streamed` says in
 * which form it is sent.
 */
export function answerType(clientOptions: ClientOptions, streamed: boolean): string {
  return streamed && clientOptions.framing === 'sse' ? 'text/event-stream' : 'application/json';
}

export interface TranslatorOptions {
  /** The dialect of the provider that answers. */
  readonly from: TranslatableDialect;
  /** The dialect of the client. */
  readonly to: TranslatableDialect;
  readonly clientOptions: ClientOptions;
  /** A new random id of letters and digits at each call. */
  readonly ids: () => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** The marks of the request's conversation. */
  readonly marks: ConversationMarks;
  /**
   * Records each part of the answer that the client does not get; the same sentence may come
   * repeatedly.
   */
  readonly note: Note;
}

/**
 * Translates one answer: either `json`, `whole` or `joined` once, or `push` for every event and
 * then `end`.
 */
export type Translator = ReturnType<typeof createTranslator>;

/** Creates a translator for one answer. */
export function createTranslator(options: TranslatorOptions) {
  const from = DIALECTS[options.from];
  const to = DIALECTS[options.to];
  const reader = new from.Reader(options);
  const writer = new to.Writer(options);
  const filter = createEventFilter(options);
  const write = (events: readonly CanonicalEvent[]): Buffer[] => {
    let text = '';
    for (const event of events) {
      for (const each of filter(event)) text += writer.write(withClientWording(each, options.to));
    }
    return text === '' ? [] : [Buffer.from(text)];
  };
  /** Once bytes have been sent, a fault can only be reported inside the stream. */
  const guard = (read: () => readonly CanonicalEvent[]): Buffer[] => {
    try {
      return write(read());
    } catch (thrown) {
      return write([{ type: 'error', error: fromSvcError(toSvcError(thrown)) }]);
    }
  };
  const visible = (read: CanonicalResponse): CanonicalResponse => ({
    ...read,
    blocks: clientBlocks(read, options),
  });
  const readWhole = (answer: unknown): CanonicalResponse => {
    refuseError(answer);
    return visible(from.readResponse(answer, options));
  };
  const toBody = (response: CanonicalResponse): Buffer =>
    Buffer.from(exactJson(to.writeResponse(response, options)));
  return {
    /**
     * Translates a whole answer to a body for the client. Throws `bad_gateway` if it is not an
     * answer, or cannot be expressed.
     */
    json: (answer: unknown): Buffer => toBody(readWhole(answer)),
    /** Combines all events of a stream into the whole answer. Throws as `json` does. */
    joined(events: readonly WireEvent[]): Buffer {
      return toBody(visible(gatherStream(reader, events)));
    },
    /**
     * Translates a whole answer to one short stream in the client's framing. Throws as `json` does.
     */
    whole: (answer: unknown): Buffer[] => write(responseEvents(readWhole(answer))),
    /**
     * Translates one event of the provider's stream. Never throws; nothing comes after a failure or
     * the end.
     */
    push: (event: WireEvent): Buffer[] => guard(() => reader.read(event)),
    /** Called at the end of the provider's bytes. A truncated stream ends in an error event. */
    end: (): Buffer[] => guard(() => reader.end()),
    /**
     * Translates an HTTP error of the provider to a stream that begins and fails; `body` is parsed
     * JSON, or anything else.
     */
    refused: (status: number, body: unknown): Buffer[] =>
      write([
        { type: 'start', id: '', model: '' },
        { type: 'error', error: from.readError(status, body) },
      ]),
  };
}

/**
 * Returns a whole answer as the equivalent short stream of its own dialect, with everything that
 * the provider sent. A chat stream reports its usage. Throws `bad_gateway` for anything that is not
 * an answer of `dialect`.
 */
export function streamOfAnswer(
  dialect: TranslatableDialect,
  answer: unknown,
  { framing }: Pick<ClientOptions, 'framing'>,
): Buffer {
  if (!isObject(answer)) throw unreadableAnswer('The provider answered with something else');
  refuseError(answer);
  const events = DIALECTS[dialect].streamOf(answer);
  if (framing === 'array') return Buffer.from(`[${events.map(({ data }) => data).join(',')}]`);
  return Buffer.concat(events.map(({ event, data }) => encodeEvent(event, data)));
}

/** Some aggregators send an error with status 200. */
function refuseError(answer: unknown): void {
  if (!isObject(answer) || !isObject(answer.error)) return;
  const message = stringOf(answer.error.message);
  throw new SvcError('bad_gateway', message ?? 'The provider answered with an error');
}

/** Clients look for the words of their own provider. */
function withClientWording(event: CanonicalEvent, to: TranslatableDialect): CanonicalEvent {
  if (event.type !== 'error') return event;
  const error = tooLongFor(to, event.error);
  return error === undefined ? event : { ...event, error };
}

/**
 * Translates a provider's HTTP error to the client's dialect. `body` is parsed JSON, or anything
 * else. `isInStream` is true if the client's own provider reports it in a stream that fails.
 */
export function translateError(
  from: TranslatableDialect,
  to: TranslatableDialect,
  status: number,
  body: unknown,
): { readonly status: number; readonly body: Buffer; readonly isInStream: boolean } {
  const error = DIALECTS[from].readError(status, body);
  const tooLong = tooLongFor(to, error);
  if (tooLong !== undefined) {
    const written = exactJson(DIALECTS[to].writeError(tooLong, 400));
    return { status: 400, body: Buffer.from(written), isInStream: to === 'responses' };
  }
  const known = status >= 400 && status <= 599 ? status : statusOfError[error.kind];
  // Only the messages dialect has 529.
  const sent = known === 529 && to !== 'messages' ? 503 : known;
  const written = exactJson(DIALECTS[to].writeError(error, sent));
  return { status: sent, body: Buffer.from(written), isInStream: false };
}
