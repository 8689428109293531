/** Which provider serves what, according to the configuration. */
import type { EndpointKind } from '../model/endpoint.ts';
import type { ProviderName } from './provider.ts';

export interface RouteConfig {
  /** The provider of each kind of path, unless the model says otherwise. */
  readonly byKind: Readonly<Record<EndpointKind, ProviderName>>;
  /** A provider that gets every conversation, including those on paths of other kinds. */
  readonly primary: ProviderName | undefined;
  /** True if requests routed by their path alone are sent unchanged. */
  readonly verbatim: boolean;
  /** `models.<alias>`: model names with a provider of their own, and whether they may stream. */
  readonly byModel: ReadonlyMap<string, ModelRoute>;
  /** In the order in which they are tried when the chosen provider fails. */
  readonly fallback: readonly FallbackTarget[];
}

/** A fallback provider, and the model to request there. */
export interface FallbackTarget {
  readonly provider: ProviderName;
  /** Undefined requests the model that the request names, or the provider's alias for it. */
  readonly model: string | undefined;
}

export interface ModelRoute {
  readonly provider: ProviderName;
  readonly stream: boolean | undefined;
}
