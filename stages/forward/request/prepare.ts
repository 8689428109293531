/**
 * Prepares a request for one provider: unchanged if both use the same dialect, else translated; or
 * returns the reason why this provider cannot serve it.
 */
import { countsTokens, isTranslatable } from '../../dialect/translatable.ts';
import { droppedParts } from '../../dialect/translate/dropped-fields.ts';
import { THOUGHT_MISMATCH } from '../../model/attempt.ts';
import type { UsageRequest } from '../../model/dialect.ts';
import type { Operation } from '../../model/endpoint.ts';
import {
  isRewritable,
  modelOf,
  released,
  setModel,
  setParam,
  verbatimIf,
} from '../../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../../model/request.ts';
import { kindOf } from '../../providers/named-provider.ts';
import type { Provider } from '../../providers/provider.ts';
import { asSent } from '../../conversations/as-sent.ts';
import type { AsSent } from '../../conversations/as-sent.ts';
import { withCaching } from './caching.ts';
import { CONTROLS_BETA, mayDropThoughts, withoutMismatches } from './dropped-thoughts.ts';
import { repairThoughts } from './repair-thoughts.ts';
import type { ThoughtRepair } from './repair-thoughts.ts';
import { hookOwner, withHooks } from './run-hooks.ts';
import { withMarkedInstructions } from './middle-instructions.ts';
import { forModel } from './other-model.ts';
import { toUpstreamRequest } from './outgoing.ts';
import { storedPart } from './stored-parts.ts';
import { mayStream, modelAt } from './prepared.ts';
import type { OneDocument, Preparation, PrepareOptions, Prepared } from './prepared.ts';

const MIDDLE = 'instructions in the middle';

/**
 * The code that translates requests. It is large, and loaded by the first request that needs it.
 */
const loadTranslation = () => import('./prepare-translated.ts');

/** Returns true if it is unknown whether this provider serves the path of the responses dialect. */
function isGuess({ original }: ProxyRequest, { kind, name }: Provider): boolean {
  return original.endpoint.dialect === 'responses' && kind === 'chat' && name !== kind;
}

/** Returns true if the provider is known to use the dialect of the client's own path. */
function usesSameDialect(request: ProxyRequest, { provider, chatOnly }: PrepareOptions): boolean {
  if (provider.kind === 'passthrough') return true;
  if (provider.kind !== kindOf(request)) return false;
  return !isGuess(request, provider) || !chatOnly.has(provider.name);
}

/** Returns true for a fallback on another server than the one that the request is meant for. */
function isOtherServer(
  { route }: ProxyRequest,
  { target, provider, services }: PrepareOptions,
): boolean {
  if (target.isPrimary) return false;
  const intended = route?.targets.find(({ isPrimary }) => isPrimary);
  return (
    intended !== undefined && services.providers.get(intended.provider)?.origin !== provider.origin
  );
}

/**
 * Returns the request with the model to use there, and the configured members that the client did
 * not set.
 */
function forProvider(request: ProxyRequest, options: PrepareOptions): ProxyRequest {
  const model = modelAt(request, options);
  let edited = request;
  if (model !== undefined && model !== modelOf(request)) edited = setModel(request, model);
  for (const [name, value] of options.provider.extraBody) {
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

/** Prepares `request` for `target`. */
export async function prepare(
  request: ProxyRequest,
  options: PrepareOptions,
): Promise<Preparation> {
  const { target, provider } = options;
  const tied = verbatimIf(target.verbatim, forAccount(request, target));
  const owner = hookOwner(tied, provider, options.services);
  if (owner === undefined) return prepareWire(tied, options);
  const preparation = await prepareWire(tied, { ...options, identity: true });
  return 'ready' in preparation ? { ready: withHooks(preparation.ready, owner) } : preparation;
}

/**
 * A subscription ties the bytes of a request to its own provider; any other one may get them
 * rewritten.
 */
function forAccount(request: ProxyRequest, { credential }: RouteTarget): ProxyRequest {
  const isTied = request.original.body.untouchable === 'subscription';
  return isTied && credential !== 'client' ? released(request) : request;
}

/** Returns true for what a provider of another kind can serve: answers, and counts of tokens. */
function isTranslated(operation: Operation, kind: Provider['kind']): boolean {
  return operation === 'generate' || (operation === 'count_tokens' && countsTokens(kind));
}

function prepareWire(
  request: ProxyRequest,
  options: PrepareOptions,
): Preparation | Promise<Preparation> {
  const { target, provider } = options;
  const { rewritable } = request.original.endpoint;
  const isOther = target.model !== undefined && target.model !== modelOf(request);
  if (isOther && target.verbatim)
    return { skip: 'it takes requests as they are, and this one names another model' };
  if (isOther && rewritable && !isRewritable(request))
    return { skip: 'the request must not be rewritten, and names another model' };
  if (usesSameDialect(request, options)) {
    const missing = isOtherServer(request, options) ? storedPart(request) : undefined;
    return missing === undefined
      ? prepareSame(request, options)
      : { skip: `it does not have ${missing}` };
  }
  const { endpoint, body } = request.original;
  const from = endpoint.dialect;
  const to = provider.kind;
  if (!isTranslated(endpoint.operation, to) || !isTranslatable(from) || to === 'passthrough')
    return { skip: `${to} cannot serve this path` };
  if (body.untouchable !== undefined)
    return {
      skip:
        body.untouchable === 'size'
          ? 'the request has too many values to be translated'
          : `the request must not be rewritten (${body.untouchable})`,
    };
  return loadTranslation().then(({ prepareTranslated }) =>
    prepareTranslated(request, from, to, options),
  );
}

/** Returns how to request a stream's usage if neither the client nor the configuration decides. */
function usageToAskFor(request: ProxyRequest): UsageRequest | undefined {
  const { dialect, facts } = request.original;
  const { usageRequest } = dialect;
  if (usageRequest === undefined || !facts.stream || facts.usageOption !== 'unsaid')
    return undefined;
  const isFree = isRewritable(request) && !request.edits.params.has(usageRequest.member);
  return isFree ? usageRequest : undefined;
}

async function prepareSame(request: ProxyRequest, options: PrepareOptions): Promise<Preparation> {
  const { conversations } = options.services;
  const ready = conversations.ready(request);
  if (ready !== undefined) await ready;
  const { facts, endpoint } = request.original;
  const kept = asSent(request, conversations);
  const fit = forModel(kept.request, modelAt(request, options), options.target.isPrimary);
  if ('skip' in fit) return fit;
  const isBound = conversations.standing(request).isBound && mayDropThoughts(request);
  const dropsThoughts =
    isBound &&
    (options.unsupported.has(THOUGHT_MISMATCH) ||
      conversations.memoryOf(request).record.dropsThoughts);
  const fitted = dropsThoughts ? withoutMismatches(fit.request) : fit.request;
  const sent = { ...kept, request: fitted };
  const saved = conversations.noteSent(sent.request);
  const own = forProvider(sent.request, options);
  const marked = withMarkedInstructions(own, modelOf(own), kept.isBound);
  const isMarked = marked !== undefined && options.unsupported.has(MIDDLE);
  const cached = withCaching(isMarked ? marked : own, options);
  const mayMark = marked !== undefined;
  const thoughts = repairThoughts(request, options);
  const decided = { sent, isBound, dropsThoughts, isMarked, mayMark, notes: fit.notes, thoughts };
  const from = endpoint.dialect;
  const isWhole =
    facts.stream && isTranslatable(from) && isRewritable(request) && !mayStream(request, options);
  const whole = isWhole ? (await loadTranslation()).toOneDocument(cached.request, from) : undefined;
  if (saved !== undefined) await saved;
  return { ready: toPrepared(cached, decided, whole, options) };
}

/**
 * What was decided for a request by what its thinking signatures cover, or by the provider's
 * refusals.
 */
interface Decided {
  readonly sent: AsSent;
  /** True if thinking blocks may have to be dropped. */
  readonly isBound: boolean;
  readonly dropsThoughts: boolean;
  /** True if instructions within the conversation are sent as user text, or could be. */
  readonly isMarked: boolean;
  readonly mayMark: boolean;
  /** What was changed for a model other than the client's. */
  readonly notes: readonly string[];
  readonly thoughts: ThoughtRepair;
}

function toPrepared(
  { request, caching }: ReturnType<typeof withCaching>,
  { sent, isBound, dropsThoughts, isMarked, mayMark, notes, thoughts }: Decided,
  whole: OneDocument | undefined,
  options: PrepareOptions,
): Prepared {
  const { target, provider } = options;
  const { dialect, json } = request.original;
  const isRefused = options.unsupported.has('stream_options');
  const added = whole === undefined && !isRefused ? usageToAskFor(request) : undefined;
  const edited = added === undefined ? request : setParam(request, added.member, added.value(json));
  // A refusal has to be read.
  const identity =
    options.identity || added !== undefined || whole !== undefined || isBound || mayMark;
  return {
    provider,
    target,
    request: edited,
    model: modelOf(edited),
    dialect,
    reading: whole?.reading ?? { how: 'passthrough', added },
    isGuess: isGuess(request, provider),
    removable: [
      ...(added === undefined ? [] : (['stream_options'] as const)),
      ...(isBound && !dropsThoughts ? ([THOUGHT_MISMATCH] as const) : []),
      ...(mayMark && !isMarked ? ([MIDDLE] as const) : []),
      ...thoughts.removable,
    ],
    notes: [...notes, ...(isMarked ? [droppedParts.middle] : []), ...thoughts.notes],
    sent,
    caching,
    wire(key, signal) {
      const wire = toUpstreamRequest(whole?.request ?? edited, provider, {
        identity,
        key,
        signal,
        target,
        rewrite: thoughts.rewrite,
        ...(dropsThoughts && { beta: CONTROLS_BETA }),
      });
      return whole === undefined ? wire : { ...wire, path: whole.path(wire.path) };
    },
  };
}
