/**
 * Which provider the configuration names for a request, and whether the request is sent there
 * unchanged. A provider of kind passthrough forwards and never rewrites; the built-in one, which
 * has no address, is chosen by the request's own path.
 */
import { kindByCredential } from '../dialect/endpoints.ts';
import type { EndpointKind } from '../model/endpoint.ts';
import { modelOf } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { unreadModel } from '../wire/unread-model.ts';
import type { Provider, ProviderName } from './provider.ts';
import type { RouteConfig } from './route-config.ts';

type Providers = ReadonlyMap<ProviderName, Provider>;

/** The name of the built-in provider that has no address of its own. */
const BUILT_IN = 'passthrough';

/** A provider's name, and why it was chosen. */
export interface NamedProvider {
  readonly name: ProviderName;
  /** True if the request must reach it unchanged. */
  readonly verbatim: boolean;
  readonly by: 'model' | 'primary' | 'path';
  /** The model that was looked up; undefined if no provider is chosen by model. */
  readonly model: string | undefined;
  /** The kind of the request's path and dialect. */
  readonly kind: EndpointKind;
}

/** Returns the kind of provider that the request's path, or its credential, belongs to. */
export function kindOf({ original }: ProxyRequest): EndpointKind {
  const { endpoint, body } = original;
  return endpoint.defaultKind === 'by-credential'
    ? kindByCredential(body.headers)
    : endpoint.defaultKind;
}

/** Returns the provider of a request that no rule reroutes. */
export function providerFor(
  request: ProxyRequest,
  config: RouteConfig,
  providers: Providers,
): NamedProvider {
  const { isConversation } = request.original.endpoint;
  const model = config.byModel.size > 0 && isConversation ? modelNamed(request) : undefined;
  const ofModel = model === undefined ? undefined : config.byModel.get(model);
  const primary = isConversation ? config.primary : undefined;
  const kind = kindOf(request);
  const name = ofModel?.provider ?? primary ?? config.byKind[kind];
  const by = ofModel !== undefined ? 'model' : name === primary ? 'primary' : 'path';
  const resolution = resolveProvider(name, kind, providers);
  const verbatim = resolution.verbatim || (by === 'path' && config.verbatim);
  return { name: resolution.name, verbatim, by, model, kind };
}

function modelNamed(request: ProxyRequest): string | undefined {
  const { body, endpoint } = request.original;
  return endpoint.rewritable ? modelOf(request) : unreadModel(body);
}

/**
 * Returns false if no request is ever sent unchanged, so that the check can be skipped for each.
 */
export function mayBeVerbatim(config: RouteConfig, providers: Providers): boolean {
  const names = [
    config.primary,
    ...Object.values(config.byKind),
    ...[...config.byModel.values()].map(({ provider }) => provider),
  ];
  return (
    config.verbatim ||
    names.some((name) => name !== undefined && resolveProvider(name, 'chat', providers).verbatim)
  );
}

/** Returns the provider that `name` means for a request of `kind`. It may not exist. */
export function resolveProvider(
  name: ProviderName,
  kind: EndpointKind,
  providers: Providers,
): { readonly name: ProviderName; readonly verbatim: boolean } {
  const provider = providers.get(name);
  if (provider === undefined && name === BUILT_IN) return { name: kind, verbatim: true };
  return { name, verbatim: provider?.kind === 'passthrough' };
}
