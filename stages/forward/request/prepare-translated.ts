/** Prepares a request for a provider of another dialect, or one that may not stream. */
import type { Dialect } from '../../model/dialect.ts';
import { exactJson, parseExact } from '../../dialect/exact-json.ts';
import { dialects } from '../../dialect/registry.ts';
import { toCountRequest } from '../../dialect/translate/token-count.ts';
import { ownOptions, translateRequest } from '../../dialect/translate/translate.ts';
import type {
  RequestTranslation,
  Unsupported,
  TranslatableDialect,
} from '../../dialect/translate/translate.ts';
import { withoutHeaders } from '../../model/headers.ts';
import { plainBody } from '../../wire/render.ts';
import { modelOf, setParam, targetOf } from '../../model/request.ts';
import type { ProxyRequest } from '../../model/request.ts';
import { upstreamPath } from '../../providers/address.ts';
import { NO_MARKS, callMarksOf } from './provider-call-marks.ts';
import { withCachingIn } from './caching.ts';
import type { Caching } from './caching.ts';
import { FOREIGN } from './foreign-thoughts.ts';
import { mayStream, modelAt } from './prepared.ts';
import type { OneDocument, Preparation, PrepareOptions, Prepared, Reading } from './prepared.ts';

/**
 * Returns the same request for an answer in one piece, to be written to the client as one short
 * stream.
 */
export function toOneDocument(request: ProxyRequest, from: TranslatableDialect): OneDocument {
  const target = targetOf(request);
  const clientOptions = ownOptions(from, request.original.json, target, modelOf(request) ?? '');
  const reading: Reading = { how: 'one-document', from, clientOptions };
  const isGenerative = from === 'generative';
  return {
    reading,
    request: isGenerative ? request : setParam(request, 'stream', false),
    path: (path: string) =>
      isGenerative
        ? path
            .replace(':streamGenerateContent', ':generateContent')
            .replace(/([?&])(?:\$|%24)?alt=sse&?/, '$1')
        : path,
  };
}

/** What servers of the chat dialect refuse or require, each in its own way. */
const OF_CHAT: readonly Unsupported[] = [
  'stream_options',
  'reasoning of calls',
  'calls without reasoning',
  'instructions in the middle',
];

/** What models of the messages dialect refuse. */
const OF_MESSAGES: readonly Unsupported[] = ['instructions in the middle'];

function removableIn(to: TranslatableDialect): readonly Unsupported[] {
  if (to === 'chat') return OF_CHAT;
  return to === 'messages' ? OF_MESSAGES : [FOREIGN];
}

/** Translates the request for `target`, whose provider takes requests of the dialect `to`. */
export function prepareTranslated(
  request: ProxyRequest,
  from: TranslatableDialect,
  to: TranslatableDialect,
  options: PrepareOptions,
): Preparation {
  const { target, provider, services } = options;
  const model = modelAt(request, options);
  const translated = translateRequest(from, to, parseExact(plainBody(request).toString('utf8')), {
    target: targetOf(request),
    ...(model === undefined ? {} : { model }),
    ...(mayStream(request, options) ? {} : { stream: false }),
    providerTools: target.isPrimary ? 'drop' : 'skip',
    unsupported: options.unsupported,
    marks: options.unsupported.has(FOREIGN) ? NO_MARKS : callMarksOf(services, request, provider),
  });
  if ('skip' in translated) return translated;
  const whole = { ...Object.fromEntries(provider.extraBody), ...translated.body };
  if (request.original.endpoint.operation === 'count_tokens') {
    const { path, body } = toCountRequest(to, { path: translated.path, body: whole });
    const toSend = { request, body, caching: undefined };
    return { ready: toPrepared(toSend, { ...translated, path }, to, options) };
  }
  const cached = withCachingIn(whole, request, model, options);
  return { ready: toPrepared(cached, translated, to, options) };
}

/** A translated request, and what was decided about it. */
interface ToSend {
  readonly request: ProxyRequest;
  readonly body: object;
  readonly caching: Caching | undefined;
}

type Translated = Exclude<RequestTranslation, { skip: string }>;

function toPrepared(
  { request, body, caching }: ToSend,
  { path, headers, clientOptions, notes }: Omit<Translated, 'body'>,
  to: TranslatableDialect,
  options: PrepareOptions,
): Prepared {
  const { target, provider } = options;
  const bytes = Buffer.from(exactJson(body));
  const dialect = dialects[to];
  return {
    provider,
    target,
    request,
    model: modelAt(request, options),
    dialect,
    reading: { how: 'translate', from: to, clientOptions },
    isGuess: false,
    removable: removableIn(to).filter((each) => !options.unsupported.has(each)),
    notes,
    caching,
    wire: (key, signal) => ({
      origin: provider.origin,
      path: upstreamPath(provider, path),
      method: 'POST',
      headers: [
        ...headers,
        'accept-encoding',
        'identity',
        ...(target.credential === 'client' ? ownCredential(request, dialect) : []),
        ...(key === undefined ? [] : dialect.keyHeaders(key.secret, key.scheme)),
        ...provider.headers,
      ],
      body: bytes,
      headTimeoutMs: provider.headTimeoutMs,
      idleTimeoutMs: provider.idleTimeoutMs,
      signal,
    }),
  };
}

/** Returns the client's own credential, if another path of the same provider serves the request. */
function ownCredential(request: ProxyRequest, dialect: Dialect): string[] {
  const { headers } = request.original.body;
  return withoutHeaders(headers, (name) => !dialect.credentialHeaders.includes(name));
}
