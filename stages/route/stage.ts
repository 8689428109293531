/**
 * Chooses the provider by path and model, translates the model's alias, and
 * decides whose credential goes out. The client's own key always wins, and goes
 * to no other provider than the one its path belongs to.
 */
import { SvcError, defineStage } from '../../engine/index.ts';
import { kindByCredential } from '../dialect/endpoints.ts';
import type { EndpointKind } from '../dialect/endpoints.ts';
import { authMalformed, authMissing } from '../model/errors.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { headerValue } from '../model/headers.ts';
import { modelOf, setModel, setParam, withRoute } from '../model/request.ts';
import type { ProxyRequest, Route } from '../model/request.ts';
import type { Provider } from '../providers/provider.ts';
import type { Services } from '../services.ts';
import type { RouteConfig } from './config.ts';

interface Choice {
  readonly provider: Provider;
  readonly kind: EndpointKind;
  readonly reason: string;
}

function choose(request: ProxyRequest, config: RouteConfig, services: Services): Choice {
  const { endpoint, body } = request.original;
  const byCredential = endpoint.defaultKind === 'by-credential';
  const kind = byCredential ? kindByCredential(body.headers) : endpoint.defaultKind;
  const model = modelOf(request);
  const ofModel = model === undefined ? undefined : config.byModel.get(model);
  const name = ofModel?.provider ?? config.byKind[kind];
  const provider = services.providers.get(name);
  if (provider === undefined)
    throw new SvcError('internal', `There is no provider named '${name}'`);
  if (ofModel !== undefined) {
    mustSpeak(provider, kind);
    return { provider, kind, reason: `model ${model}` };
  }
  return { provider, kind, reason: byCredential ? `credential of ${kind}` : `path of ${kind}` };
}

function mustSpeak(provider: Provider, kind: EndpointKind): void {
  if (provider.kind === kind || provider.kind === 'passthrough') return;
  throw new SvcError(
    'bad_request',
    `Provider '${provider.name}' speaks ${provider.kind}, and this path is ${kind}`,
  );
}

/** True if the client sent a credential of its own for this kind of path. Throws AUTH_002. */
function hasOwnCredential(request: ProxyRequest): boolean {
  const { headers } = request.original.body;
  const authorization = headerValue(headers, 'authorization');
  if (authorization !== undefined && !/^Bearer +\S+$/i.test(authorization)) throw authMalformed();
  if (authorization !== undefined) return true;
  if (headerValue(headers, 'x-api-key') !== undefined) return true;
  return hasGoogleKey(request);
}

function hasGoogleKey(request: ProxyRequest): boolean {
  const { headers, target } = request.original.body;
  return headerValue(headers, 'x-goog-api-key') !== undefined || /[?&]key=[^&]/.test(target);
}

function credentialFor(
  request: ProxyRequest,
  choice: Choice,
  config: RouteConfig,
): Route['credential'] {
  const { provider, kind } = choice;
  const isDefault = provider.name === config.byKind[kind];
  if (hasOwnCredential(request) && isDefault) return 'client';
  if (provider.keys.length > 0) return 'configured';
  if (!provider.needsKey) return 'none';
  throw authMissing(
    isDefault
      ? `send your own key or configure one for provider '${provider.name}'`
      : `provider '${provider.name}' needs a key of its own in the configuration`,
  );
}

function withAlias(request: ProxyRequest, provider: Provider): ProxyRequest {
  const model = modelOf(request);
  const target = model === undefined ? undefined : provider.modelAliases.get(model);
  return target === undefined ? request : setModel(request, target);
}

/** Rewrites `request`. Throws AUTH_001 and AUTH_002. */
export const route = defineStage<ProxyFrame, RouteConfig, Services>({
  name: 'route',
  build: (config, services) => ({
    on: {
      request({ request }, ctx) {
        const choice = choose(request, config, services);
        const { provider } = choice;
        const credential = credentialFor(request, choice, config);
        let routed = withAlias(request, provider);
        for (const [name, value] of provider.extraBody) routed = setParam(routed, name, value);
        const reason = choice.reason;
        ctx.note('provider', provider.name);
        ctx.note('reason', reason);
        return Object.freeze({
          kind: 'request',
          request: withRoute(routed, { provider: provider.name, credential, reason }),
        });
      },
    },
  }),
});
