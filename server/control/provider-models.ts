/** Lists a provider's models: through the services of a running proxy, or without one. */
import { SvcError, createTurn, systemClock } from '../../engine/index.ts';
import { createPrices } from '../../stages/ledger/prices/prices.ts';
import type { Provider } from '../../stages/providers/provider.ts';
import type { Services } from '../../stages/services.ts';
import { createUpstream } from '../../stages/providers/undici-upstream.ts';
import type { Config } from '../config/config.ts';
import type { Variables } from '../config/env.ts';
import { listModels } from './list-models.ts';
import type { ProviderModel } from './list-models.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { configuredPlugins } from '../generation/configured-plugins.ts';
import { loadCustomProviders, withPluginProviders } from '../generation/plugins.ts';
import { ownPrices, priceOverrides, toProviders } from '../generation/providers.ts';

/** Uses a running proxy's services. `input` comes from the control socket. */
export async function listModelsThroughProxy(
  { upstream, prices, clock }: Pick<Services, 'upstream' | 'prices' | 'clock'>,
  providers: ReadonlyMap<string, Provider>,
  input: unknown,
): Promise<ProviderModel[]> {
  const isNamed = typeof input === 'object' && input !== null && 'provider' in input;
  const name = isNamed && typeof input.provider === 'string' ? input.provider : '';
  return listModels(find(providers, name), { upstream, prices, nowMs: clock.wallMs() });
}

/** Works without a proxy, with the first configured key or the one labelled `keyLabel`. */
export async function listModelsDirectly(
  config: Config,
  name: string,
  env: Variables,
  nowMs: number,
  keyLabel?: string,
): Promise<ProviderModel[]> {
  const custom = withPluginProviders(
    await loadCustomProviders(config, env),
    await configuredPlugins(config, systemClock),
    config,
    env,
  );
  const providers = toProviders(config, custom.byName);
  const upstream = createUpstream(createOutbound(config.outbound), createTurn());
  const prices = createPrices({
    overrides: priceOverrides(config, custom.byName),
    own: ownPrices(config),
  });
  try {
    const provider = find(providers, name);
    const keys =
      keyLabel === undefined
        ? provider.keys
        : provider.keys.filter(({ label }) => label === keyLabel);
    return await listModels({ ...provider, keys }, { upstream, prices, nowMs });
  } finally {
    await upstream.close();
  }
}

function find(providers: ReadonlyMap<string, Provider>, name: string): Provider {
  const provider = providers.get(name);
  if (provider !== undefined) return provider;
  const known = [...providers.keys()].join(', ');
  throw new SvcError('not_found', `There is no provider '${name}'; there are ${known}`);
}
