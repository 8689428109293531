/** Which provider serves what, as far as the configuration says it. */
import type { EndpointKind } from '../model/endpoint.ts';
import type { ProviderName } from './provider.ts';

export interface RouteConfig {
  /** The provider of each kind of path, unless the model says otherwise. */
  readonly byKind: Readonly<Record<EndpointKind, ProviderName>>;
  /** A provider that gets every conversation, also of paths that are not of its kind. */
  readonly primary: ProviderName | undefined;
  /** True if requests that go by their path alone go out as they came in. */
  readonly verbatim: boolean;
  /** `models.<alias>`: model names that have a provider of their own, and whether they may stream. */
  readonly byModel: ReadonlyMap<string, ModelRoute>;
  /** In the order in which they are tried when the chosen provider fails. */
  readonly fallback: readonly FallbackTarget[];
}

/** A provider to fall back to, and the model to ask there. */
export interface FallbackTarget {
  readonly provider: ProviderName;
  /** Undefined asks for the model that the request names, or what the provider's aliases make of it. */
  readonly model: string | undefined;
}

export interface ModelRoute {
  readonly provider: ProviderName;
  readonly stream: boolean | undefined;
}
