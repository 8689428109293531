/** The default provider for each kind of path, used when only the path decides. */
import { ENDPOINT_KINDS } from '../../stages/model/endpoint.ts';
import type { EndpointKind } from '../../stages/model/endpoint.ts';
import type { Provider } from '../../stages/providers/provider.ts';
import type { Config } from '../config/config.ts';

/**
 * Returns the provider of each kind of path: the primary if it speaks that kind, else the built-in
 * one.
 */
export function byKind(config: Pick<Config, 'routing'>, providers: ReadonlyMap<string, Provider>) {
  const primary = providers.get(config.routing.primary ?? '');
  const chosen = ENDPOINT_KINDS.map((kind) => {
    const speaks =
      primary !== undefined && (primary.kind === kind || primary.kind === 'passthrough');
    return [kind, speaks ? primary.name : kind] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry for every kind
  return Object.fromEntries(chosen) as Record<EndpointKind, string>;
}
