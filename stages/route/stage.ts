/**
 * Chooses the provider by path and model, resolves the model's alias, and decides whose credential
 * is sent. The client's own key always takes precedence, and is only sent to the provider that its
 * path belongs to.
 */
import { SvcError, defineStage } from '../../engine/index.ts';
import { modelInPath } from '../model/target.ts';
import { countsTokens, isTranslatable } from '../dialect/translatable.ts';
import type { Endpoint, EndpointKind } from '../model/endpoint.ts';
import { conversationId } from '../model/conversation.ts';
import { authMalformed, authMissing, unsupportedMedia } from '../model/errors.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { BodyFrame } from '../model/body.ts';
import { headerValue, isPlain } from '../model/headers.ts';
import { estimateInputTokens } from '../model/input-size.ts';
import { losesSaving, modelOf, VERBATIM_BECAUSE, verbatimIf, withRoute } from '../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import type { Provider } from '../providers/provider.ts';
import type { Services } from '../services.ts';
import type { RouteConfig } from '../providers/route-config.ts';
import { kindOf, providerFor, resolveProvider } from '../providers/named-provider.ts';
import type { NamedProvider } from '../providers/named-provider.ts';
import { whyForbidden } from './permitted.ts';
import type { RuleDecision } from './rules-router.ts';
import type { RouteFacts } from './rules.ts';

interface Choice {
  readonly provider: Provider;
  readonly kind: EndpointKind;
  /** The model to request there; undefined for the one that the request names. */
  readonly model: string | undefined;
  /** True if it must receive the request as it arrived. */
  readonly verbatim: boolean;
  readonly reason: string;
  /** True if a rule or the model decided. */
  readonly isChosen: boolean;
  /** The deciding rule, if any. */
  readonly rule?: RuleDecision;
}

function choose(request: ProxyRequest, config: RouteConfig, services: Services): Choice {
  const rule = decideByRules(request, config, services);
  const named = providerFor(request, config, services.providers);
  const { kind } = named;
  const { name, verbatim } =
    rule === undefined ? named : resolveProvider(rule.target.provider, kind, services.providers);
  const provider = services.providers.get(name);
  if (provider === undefined)
    throw new SvcError('unavailable', `Provider '${name}' is not available; /health shows why`);
  refuseOtherMaker(request, provider, named, config);
  if (rule !== undefined) {
    const reason = `rule ${rule.ruleId}${rule.isKept ? ', which placed the conversation' : ''}`;
    return { provider, kind, model: rule.target.model, verbatim, reason, isChosen: true, rule };
  }
  const reason = reasonOf(named, request);
  return { provider, kind, model: undefined, verbatim, reason, isChosen: named.by === 'model' };
}

function reasonOf({ by, kind, model }: NamedProvider, request: ProxyRequest): string {
  if (by === 'model') return `model ${model}`;
  if (by === 'primary') return 'routing.primary';
  const byCredential = request.original.endpoint.defaultKind === 'by-credential';
  return byCredential ? `credential of ${kind}` : `path of ${kind}`;
}

/**
 * A whole conversation is sent along to be counted, compacted or put into a batch. A user who
 * routed it to a provider without such a path has not agreed to send it to the vendor of the path
 * instead.
 */
function refuseOtherMaker(
  { original }: ProxyRequest,
  provider: Provider,
  { kind, by }: NamedProvider,
  config: RouteConfig,
): void {
  const { operation, isConversation } = original.endpoint;
  if (!isConversation || operation === 'generate') return;
  if (by !== 'model' && config.byModel.size > 0 && isModelUnknown(original.body))
    throw modelHidden();
  const serves = provider.kind === kind || provider.kind === 'passthrough';
  if (serves || isCountedAt(provider, original.endpoint)) return;
  const setting = by === 'model' ? 'models.<alias>.provider' : 'routing.primary';
  throw notServedError(provider.name, operation === 'count_tokens', setting);
}

/** Returns true if a provider of another kind counts the tokens of this path, translated. */
function isCountedAt({ kind }: Provider, { operation, dialect }: Endpoint): boolean {
  return operation === 'count_tokens' && isTranslatable(dialect) && countsTokens(kind);
}

/** Returns true if it is unknown whether `models` names a provider for it. */
function isModelUnknown(body: BodyFrame): boolean {
  return !isPlain(body) && modelInPath(body.target) === undefined;
}

function modelHidden(): SvcError {
  return unsupportedMedia(
    'This path is not decoded here, and `models` may name a provider for the model; send the body without Content-Encoding',
  );
}

function notServedError(provider: string, counts: boolean, setting: string): SvcError {
  const what = counts ? 'counts no tokens' : 'has no such path';
  const cure = counts ? 'Clients estimate them then. To' : 'To';
  return new SvcError('not_found', `Provider '${provider}', which has the conversation, ${what}`, {
    cure: `${cure} have it sent to the vendor of the path, leave ${setting} out and send generation there by a rule (\`svc route add\`).`,
  });
}

/**
 * Returns the decision of the rules. If nothing may be rewritten the model cannot be changed, so no
 * rule is checked; a request tied to its own provider may go to any other, and to that one only
 * with its own model.
 */
function decideByRules(
  request: ProxyRequest,
  config: RouteConfig,
  services: Services,
): RuleDecision | undefined {
  const { endpoint, body } = request.original;
  if (endpoint.operation !== 'generate' || !endpoint.rewritable) return undefined;
  const isTied = body.untouchable === 'subscription';
  if (body.untouchable !== undefined && !isTied) return undefined;
  const kind = kindOf(request);
  const rule = services.router.decide({
    facts: () => factsOf(request, services),
    conversation: () => conversationId(request),
  });
  if (!isTied || rule === undefined || rule.target.model === modelOf(request)) return rule;
  const { name } = resolveProvider(rule.target.provider, kind, services.providers);
  const provider = services.providers.get(name);
  const isOwn = provider !== undefined && takesOwnKey(provider, kind, config);
  return isOwn ? undefined : rule;
}

function factsOf(request: ProxyRequest, { spending }: Services): RouteFacts {
  const { hasTools, hasThinking } = request.original.facts;
  const budget = spending.view();
  let inputTokens: number | undefined;
  return {
    model: modelOf(request),
    get inputTokens() {
      return (inputTokens ??= estimateInputTokens(request));
    },
    hasTools,
    hasThinking,
    budgetLeftPercent: budget.enabled ? budget.dayLeftPercent : null,
  };
}

const AUTHORIZATION = 'authorization';

/**
 * Throws AUTH_002, also for a duplicate header: it is undefined which of the two a provider reads.
 */
function refuseMalformed(request: ProxyRequest): void {
  const { headers } = request.original.body;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const isIt = headers[i]!.length === AUTHORIZATION.length;
    if (!isIt || headers[i]!.toLowerCase() !== AUTHORIZATION) continue;
    if (!/^Bearer +\S+$/i.test(headers[i + 1]!)) throw authMalformed();
  }
}

/** Returns true if the client sent a credential of its own; an empty header does not count. */
function hasOwnCredential(request: ProxyRequest): boolean {
  const { headers, target } = request.original.body;
  const isIn = (name: string): boolean => (headerValue(headers, name) ?? '') !== '';
  if (isIn('authorization') || isIn('x-api-key') || isIn('x-goog-api-key')) return true;
  return /[?&]key=[^&]/.test(target);
}

/** Returns whose key is sent to `provider`; undefined if none may be. */
function credentialFor(
  request: ProxyRequest,
  provider: Provider,
  kind: EndpointKind,
  config: RouteConfig,
): RouteTarget['credential'] | undefined {
  if (takesOwnKey(provider, kind, config) && hasOwnCredential(request)) return 'client';
  if (provider.keys.length > 0) return 'configured';
  return provider.needsKey ? undefined : 'none';
}

/**
 * A client's key belongs to the vendor of its path: it is sent to the built-in provider of that
 * kind, and to a replacement only if that has no keys of its own.
 */
function takesOwnKey(provider: Provider, kind: EndpointKind, config: RouteConfig): boolean {
  if (provider.name !== config.byKind[kind]) return false;
  return provider.name === kind || (provider.keys.length === 0 && provider.needsKey);
}

/** Returns true unless it is the provider of the path, or another one on the same server. */
function isElsewhere(
  { name, origin }: Provider,
  kind: EndpointKind,
  config: RouteConfig,
  { providers }: Services,
): boolean {
  const own = config.byKind[kind];
  return name !== own && origin !== providers.get(own)?.origin;
}

function missingKey(provider: Provider, isDefault: boolean): SvcError {
  return authMissing(
    isDefault
      ? `send your own key or configure one for provider '${provider.name}'`
      : `provider '${provider.name}' needs a key of its own in the configuration`,
  );
}

/**
 * Returns the fallback targets after `first`, in configured order, and why others cannot be used.
 */
function fallbacks(
  request: ProxyRequest,
  first: RouteTarget,
  kind: EndpointKind,
  config: RouteConfig,
  services: Services,
): { readonly targets: readonly RouteTarget[]; readonly leftOut: readonly string[] } {
  const { endpoint } = request.original;
  const { operation } = endpoint;
  if (operation !== 'generate' && operation !== 'count_tokens') return NO_FALLBACKS;
  if (config.fallback.length === 0) return NO_FALLBACKS;
  const targets: RouteTarget[] = [];
  const leftOut: string[] = [];
  for (const { provider: named, model } of config.fallback) {
    const { name, verbatim } = resolveProvider(named, kind, services.providers);
    const provider = services.providers.get(name);
    if (provider === undefined) {
      leftOut.push(`${name}: it is not available, /health shows why`);
      continue;
    }
    if ([first, ...targets].some((target) => isSame(target, provider, model, request))) continue;
    const isOwn = provider.kind === kind;
    if (operation === 'count_tokens' && !isOwn && !isCountedAt(provider, endpoint)) {
      leftOut.push(`${name}: it does not count tokens on this path`);
      continue;
    }
    if (whyForbidden(request, { model }, provider) !== undefined) {
      leftOut.push(`${name}: the proxy key may not use it`);
      continue;
    }
    const credential = credentialFor(request, provider, kind, config);
    if (credential === undefined) leftOut.push(`${name}: it has no key`);
    else
      targets.push({
        provider: name,
        model,
        credential,
        isElsewhere: isElsewhere(provider, kind, config, services),
        isPrimary: false,
        verbatim,
        reason: 'fallback',
      });
  }
  return { targets, leftOut };
}

/**
 * Returns true if `target` means the same model of the same provider; if the request is not read,
 * any model counts as the same.
 */
function isSame(
  target: RouteTarget,
  { name, modelAliases }: Provider,
  model: string | undefined,
  request: ProxyRequest,
): boolean {
  if (target.provider !== name) return false;
  if (target.model === model || !request.original.endpoint.rewritable) return true;
  const [there, here] = [target.model, model].map((each) => each ?? modelOf(request) ?? '');
  return (modelAliases.get(there!) ?? there) === (modelAliases.get(here!) ?? here);
}

const NO_FALLBACKS = Object.freeze({ targets: [], leftOut: [] });

/**
 * Sorts healthy providers first, otherwise the order stays; `later` says why a provider comes after
 * others that were to follow it.
 */
function inOrder(targets: readonly RouteTarget[], services: Services) {
  const own = targets.find((target) => target.credential === 'client')?.provider;
  const order = services.states.inOrder(
    targets.map((target) => target.provider),
    (name) => name === own,
  );
  const sorted = targets.toSorted((a, b) => order.indexOf(a.provider) - order.indexOf(b.provider));
  const passed = targets.slice(0, targets.indexOf(sorted[0]!));
  const later = [...new Set(passed.map(({ provider }) => provider))].flatMap((name) => {
    const why = services.states.reasonForLater(name, name === own);
    return why === undefined ? [] : [`${name}: ${why}`];
  });
  return { targets: sorted, later };
}

/**
 * Rewrites `request`. Throws AUTH_001 and AUTH_002, and `forbidden` for what its proxy key may not
 * use.
 */
export const route = defineStage<ProxyFrame, RouteConfig, Services>({
  name: 'route',
  build: (config, services) => ({
    on: {
      request({ request }, ctx) {
        if (request.original.endpoint.rewritable) refuseMalformed(request);
        const choice = choose(request, config, services);
        const { provider, kind, model, verbatim, reason, isChosen } = choice;
        const credential = credentialFor(request, provider, kind, config);
        if (credential === undefined)
          throw missingKey(provider, provider.name === config.byKind[kind]);
        const first = {
          provider: provider.name,
          model,
          credential,
          isElsewhere: isChosen && isElsewhere(provider, kind, config, services),
          isPrimary: true,
          verbatim,
          reason,
        };
        const fault = whyForbidden(request, first, provider);
        if (fault !== undefined) throw fault;
        const { targets: others, leftOut } = fallbacks(request, first, kind, config, services);
        const { targets, later } =
          others.length === 0
            ? { targets: [first], later: [] }
            : inOrder([first, ...others], services);
        ctx.note('provider', provider.name);
        ctx.note('reason', reason);
        if (choice.rule !== undefined) ctx.note('rule', choice.rule.ruleId);
        if (others.length > 0)
          ctx.note(
            'targets',
            targets.map((target) => target.provider),
          );
        if (later.length > 0) ctx.note('asked_later', later);
        if (leftOut.length > 0) ctx.note('left_out', leftOut);
        const verbatimRequest = verbatimIf(targets[0]!.verbatim, request);
        if (losesSaving(verbatimRequest.isVerbatim, request))
          ctx.note('not_compressed_because', VERBATIM_BECAUSE);
        if (verbatimRequest.isVerbatim) ctx.note('sent_as_it_came', true);
        return Object.freeze({
          kind: 'request',
          request: withRoute(verbatimRequest, {
            provider: targets[0]!.provider,
            targets,
            attempts: [],
          }),
        });
      },
    },
  }),
});
