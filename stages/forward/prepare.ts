/**
 * Makes a request ready for one provider: as it is where both speak the same
 * dialect, translated where they do not, or the reason why this provider cannot
 * carry it.
 */
import type { CancelSignal } from '../../engine/index.ts';
import type { Dialect } from '../dialect/dialect.ts';
import { kindByCredential } from '../dialect/endpoints.ts';
import { dialects } from '../dialect/registry.ts';
import { isTranslatable, ownWishes, translateRequest } from '../dialect/translate.ts';
import type { AnswerWishes, TranslatableDialect } from '../dialect/translate.ts';
import { withoutHeaders } from '../model/headers.ts';
import { render } from '../model/render.ts';
import { modelOf, setModel, setParam, targetOf } from '../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import { upstreamPath } from '../providers/provider.ts';
import type { Provider, ProviderKey, ProviderName } from '../providers/provider.ts';
import type { UpstreamRequest, UpstreamResponse } from '../providers/upstream.ts';
import type { Services } from '../services.ts';
import type { ForwardConfig } from './config.ts';
import { hookOwner, withHooks } from './hooked.ts';
import { toUpstreamRequest } from './outgoing.ts';
import { askForUsage, mustAskForUsage } from './usage-chunk.ts';

/** How an answer has to be changed before the client may see it. */
export type Reading =
  | { readonly how: 'relay'; readonly asked: boolean }
  /** The client asked for a stream and the provider may not stream. */
  | {
      readonly how: 'one-document';
      readonly from: TranslatableDialect;
      readonly wishes: AnswerWishes;
    }
  | {
      readonly how: 'translate';
      readonly from: TranslatableDialect;
      readonly wishes: AnswerWishes;
    };

/** A request that can go to one provider, with any key. */
export interface Prepared {
  readonly provider: Provider;
  readonly target: RouteTarget;
  /** The request as it stands for this provider. */
  readonly request: ProxyRequest;
  /** The model that this provider is asked for. */
  readonly model: string | undefined;
  /** The dialect in which the provider answers. */
  readonly dialect: Dialect;
  readonly reading: Reading;
  /** True if the provider may not know the path at all; then its 404 says nothing of the request. */
  readonly isGuess: boolean;
  /** What was left out or changed knowingly. */
  readonly notes: readonly string[];
  wire(key: ProviderKey | undefined, signal: CancelSignal): UpstreamRequest;
  /** The answer as the provider's own code leaves it; absent for a provider that is no code. */
  answered?(response: UpstreamResponse): UpstreamResponse;
}

export type Preparation = { readonly ready: Prepared } | { readonly skip: string };

export interface PrepareOptions {
  readonly config: ForwardConfig;
  readonly services: Services;
  /** Ask for answers without `Content-Encoding`, because events are looked at. */
  readonly identity: boolean;
  /** Chat providers that were found not to serve the newer path of the same maker. */
  readonly chatOnly: ReadonlySet<ProviderName>;
}

/** True if nobody has said that this provider serves the path of the responses dialect. */
function isGuess({ original }: ProxyRequest, { kind, name }: Provider): boolean {
  return original.endpoint.dialect === 'responses' && kind === 'chat' && name !== kind;
}

/** True if the provider speaks the dialect of the client's own path, as far as is known. */
function speaks(
  request: ProxyRequest,
  provider: Provider,
  chatOnly: ReadonlySet<ProviderName>,
): boolean {
  const { endpoint, body } = request.original;
  if (provider.kind === 'passthrough') return true;
  const kind =
    endpoint.defaultKind === 'by-credential'
      ? kindByCredential(body.headers)
      : endpoint.defaultKind;
  if (provider.kind !== kind) return false;
  return !isGuess(request, provider) || !chatOnly.has(provider.name);
}

/** The model to ask there, by the provider's own name of it. */
export function modelAt(
  request: ProxyRequest,
  target: RouteTarget,
  provider: Provider,
): string | undefined {
  const wanted = target.model ?? modelOf(request);
  return wanted === undefined ? undefined : (provider.modelAliases.get(wanted) ?? wanted);
}

/** The request with the model asked there, and the members that the configuration adds where the client has none. */
function forProvider(request: ProxyRequest, target: RouteTarget, provider: Provider): ProxyRequest {
  const model = modelAt(request, target, provider);
  let edited = request;
  if (model !== undefined && model !== modelOf(request)) edited = setModel(request, model);
  for (const [name, value] of provider.extraBody) {
    if (!hasMember(request, name)) edited = setParam(edited, name, value);
  }
  return edited;
}

function hasMember({ original, edits }: ProxyRequest, name: string): boolean {
  const { json } = original;
  return (
    edits.params.has(name) ||
    (typeof json === 'object' && json !== null && Object.hasOwn(json, name))
  );
}

/** Makes `request` ready for `target`. */
export function prepare(
  request: ProxyRequest,
  target: RouteTarget,
  provider: Provider,
  options: PrepareOptions,
): Preparation {
  const owner = hookOwner(request, provider, options.services);
  if (owner === undefined) return prepareWire(request, target, provider, options);
  const prepared = prepareWire(request, target, provider, { ...options, identity: true });
  return 'skip' in prepared ? prepared : { ready: withHooks(prepared.ready, owner) };
}

function prepareWire(
  request: ProxyRequest,
  target: RouteTarget,
  provider: Provider,
  options: PrepareOptions,
): Preparation {
  if (speaks(request, provider, options.chatOnly))
    return { ready: prepareSame(request, target, provider, options) };
  const { endpoint, body } = request.original;
  const from = endpoint.dialect;
  if (
    endpoint.operation !== 'generate' ||
    !isTranslatable(from) ||
    provider.kind === 'passthrough'
  ) {
    return { skip: `${provider.kind} cannot serve this path` };
  }
  if (body.untouchable !== undefined)
    return { skip: `the request must not be rewritten (${body.untouchable})` };
  return prepareTranslated(request, from, target, provider, options);
}

function mayStream(request: ProxyRequest, provider: Provider, config: ForwardConfig): boolean {
  return config.streamingEnabled && provider.supportsStreaming && config.streams(modelOf(request));
}

function prepareSame(
  request: ProxyRequest,
  target: RouteTarget,
  provider: Provider,
  options: PrepareOptions,
): Prepared {
  const { facts, endpoint, dialect } = request.original;
  let edited = forProvider(request, target, provider);
  const from = endpoint.dialect;
  const whole =
    facts.stream && isTranslatable(from) && !mayStream(request, provider, options.config)
      ? toOneDocument(edited, from)
      : undefined;
  const asked = whole === undefined && mustAskForUsage(edited);
  if (asked) edited = askForUsage(edited);
  const identity = options.identity || asked || whole !== undefined;
  return {
    provider,
    target,
    request: edited,
    model: modelOf(edited),
    dialect,
    reading: whole?.reading ?? { how: 'relay', asked },
    isGuess: isGuess(request, provider),
    notes: [],
    wire(key, signal) {
      const wire = toUpstreamRequest(whole?.request ?? edited, provider, {
        identity,
        key,
        signal,
        ownKey: target.credential === 'client',
      });
      return whole === undefined ? wire : { ...wire, path: whole.path(wire.path) };
    },
  };
}

/** The same request for an answer in one piece, to be told to the client as one short stream. */
function toOneDocument(request: ProxyRequest, from: TranslatableDialect) {
  const target = targetOf(request);
  const wishes = ownWishes(from, request.original.json, target, modelOf(request) ?? '');
  const reading: Reading = { how: 'one-document', from, wishes };
  const isGenerative = from === 'generative';
  return {
    reading,
    request: isGenerative ? request : setParam(request, 'stream', false),
    path: (path: string) =>
      isGenerative
        ? path
            .replace(':streamGenerateContent', ':generateContent')
            .replace(/([?&])alt=sse&?/, '$1')
        : path,
  };
}

function prepareTranslated(
  request: ProxyRequest,
  from: TranslatableDialect,
  target: RouteTarget,
  provider: Provider,
  { config, services }: PrepareOptions,
): Preparation {
  if (provider.kind === 'passthrough') return { skip: 'it takes no translation' };
  const to: TranslatableDialect = provider.kind;
  const model = modelAt(request, target, provider);
  const translated = translateRequest(from, to, parsedBody(request), {
    target: targetOf(request),
    ...(model === undefined ? {} : { model }),
    ...(mayStream(request, provider, config) ? {} : { stream: false }),
    hostedTools: target.isPrimary ? 'drop' : 'skip',
    signatures: services.signatures,
  });
  if ('skip' in translated) return translated;
  const body = { ...Object.fromEntries(provider.extraBody), ...translated.body };
  const bytes = Buffer.from(JSON.stringify(body));
  const dialect = dialects[to];
  return {
    ready: {
      provider,
      target,
      request,
      model,
      dialect,
      reading: { how: 'translate', from: to, wishes: translated.wishes },
      isGuess: false,
      notes: translated.notes,
      wire: (key, signal) => ({
        origin: provider.origin,
        path: upstreamPath(provider, translated.path),
        method: 'POST',
        headers: [
          ...translated.headers,
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
    },
  };
}

/** The client's own credential, where another path of the same provider serves the request. */
function ownCredential(request: ProxyRequest, dialect: Dialect): string[] {
  const { headers } = request.original.body;
  return withoutHeaders(headers, (name) => !dialect.credentialHeaders.includes(name));
}

/** The body with every edit made, as it would go out. */
function parsedBody(request: ProxyRequest): unknown {
  const rendered = render(request);
  const bytes = rendered.encoded ? request.original.body.bytes : rendered.bytes;
  return JSON.parse(bytes.toString('utf8'));
}
