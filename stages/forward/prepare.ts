/**
 * Makes a request ready for one provider: as it is where both speak the same
 * dialect, translated where they do not, or the reason why this provider cannot
 * carry it.
 */
import { kindByCredential } from '../dialect/endpoints.ts';
import { isTranslatable } from '../dialect/translatable.ts';
import type { UsageRequest } from '../model/dialect.ts';
import { isRewritable, modelOf, verbatimIf, setModel, setParam } from '../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import type { Provider, ProviderName } from '../providers/provider.ts';
import { withCaching } from './caching.ts';
import { hookOwner, withHooks } from './hooked.ts';
import { toUpstreamRequest } from './outgoing.ts';
import { mayStream, modelAt } from './prepared.ts';
import type { Preparation, PrepareOptions, Prepared, Translation } from './prepared.ts';

/** Loads the code that translates requests; later calls give the same. It is large, and few need it. */
export function loadTranslation(): Promise<Translation> {
  return import('./prepare-translated.ts');
}

/** True if nothing states that this provider serves the path of the responses dialect. */
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
  const asked = verbatimIf(target.verbatim, request);
  const owner = hookOwner(asked, provider, options.services);
  if (owner === undefined) return prepareWire(asked, target, provider, options);
  const prepared = prepareWire(asked, target, provider, { ...options, identity: true });
  return 'ready' in prepared ? { ready: withHooks(prepared.ready, owner) } : prepared;
}

function prepareWire(
  request: ProxyRequest,
  target: RouteTarget,
  provider: Provider,
  options: PrepareOptions,
): Preparation {
  const { rewritable } = request.original.endpoint;
  const isOther = target.model !== undefined && target.model !== modelOf(request);
  if (isOther && target.verbatim)
    return { skip: 'it takes requests as they are, and this one names another model' };
  if (isOther && rewritable && !isRewritable(request))
    return { skip: 'the request must not be rewritten, and names another model' };
  if (speaks(request, provider, options.chatOnly))
    return prepareSame(request, target, provider, options);
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
    return {
      skip:
        body.untouchable === 'size'
          ? 'the request has too many values to be translated'
          : `the request must not be rewritten (${body.untouchable})`,
    };
  const { translation } = options;
  if (translation === undefined) return { needs: 'translation' };
  return translation.prepareTranslated(request, from, target, provider, options);
}

/** How to ask for the usage of a stream that neither the client nor the configuration decides about. */
function usageToAskFor(request: ProxyRequest): UsageRequest | undefined {
  const { dialect, facts } = request.original;
  const { usageRequest } = dialect;
  if (usageRequest === undefined || !facts.stream || facts.usageWish !== 'unsaid') return undefined;
  const isFree = isRewritable(request) && !request.edits.params.has(usageRequest.member);
  return isFree ? usageRequest : undefined;
}

function prepareSame(
  request: ProxyRequest,
  target: RouteTarget,
  provider: Provider,
  options: PrepareOptions,
): Preparation {
  const { facts, endpoint, dialect } = request.original;
  const cached = withCaching(forProvider(request, target, provider), provider, options);
  let edited = cached.request;
  const from = endpoint.dialect;
  const isWhole =
    facts.stream &&
    isTranslatable(from) &&
    isRewritable(request) &&
    !mayStream(request, provider, options.config);
  const { translation } = options;
  if (isWhole && translation === undefined) return { needs: 'translation' };
  const whole = isWhole ? translation?.toOneDocument(edited, from) : undefined;
  const added = whole === undefined ? usageToAskFor(edited) : undefined;
  if (added !== undefined)
    edited = setParam(edited, added.member, added.value(request.original.json));
  const identity = options.identity || added !== undefined || whole !== undefined;
  const ready: Prepared = {
    provider,
    target,
    request: edited,
    model: modelOf(edited),
    dialect,
    reading: whole?.reading ?? { how: 'passthrough', added },
    isGuess: isGuess(request, provider),
    notes: [],
    caching: cached.caching,
    wire(key, signal) {
      const wire = toUpstreamRequest(whole?.request ?? edited, provider, {
        identity,
        key,
        signal,
        ownKey: target.credential === 'client',
        elsewhere: target.isElsewhere,
      });
      return whole === undefined ? wire : { ...wire, path: whole.path(wire.path) };
    },
  };
  return { ready };
}
