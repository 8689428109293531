/** Which provider serves what, as far as the configuration says it. */
import type { EndpointKind } from '../dialect/endpoints.ts';
import type { ProviderName } from '../providers/provider.ts';

export interface RouteConfig {
  /** The provider of each kind of path, unless the model says otherwise. */
  readonly byKind: Readonly<Record<EndpointKind, ProviderName>>;
  /** `models.<alias>`: model names that have a provider of their own, and whether they may stream. */
  readonly byModel: ReadonlyMap<string, ModelRoute>;
}

export interface ModelRoute {
  readonly provider: ProviderName;
  readonly stream: boolean | undefined;
}
