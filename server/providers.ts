/** From the configuration's providers to those that the stages use. */
import { SvcError } from '../engine/index.ts';
import type { Provider } from '../stages/providers/provider.ts';
import type { Config, ProviderConfig } from './config/config.ts';

function toProvider(config: ProviderConfig, baseUrl: string): Provider {
  const url = new URL(baseUrl);
  return Object.freeze({
    name: config.name,
    kind: config.kind,
    baseUrl,
    origin: url.origin,
    pathPrefix: url.pathname.replace(/\/+$/, ''),
    keys: config.keys.map(({ scheme, secret }, index) => ({
      scheme: scheme === 'bearer' ? ('bearer' as const) : ('key' as const),
      secret,
      label: `key ${index + 1}`,
    })),
    needsKey: config.auth !== 'none',
    headTimeoutMs: config.requestTimeoutMs ?? 0,
    idleTimeoutMs: config.idleTimeoutMs ?? 0,
    supportsStreaming: config.supportsStreaming,
    modelAliases: new Map(Object.entries(config.modelAliases)),
    headers: Object.entries(config.headers).flat(),
    extraBody: new Map(Object.entries(config.extraBody)),
  });
}

/** All providers by name; those without an address are left out. */
export function toProviders(config: Config): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  for (const provider of Object.values(config.providers)) {
    if (provider.baseUrl === null) continue;
    providers.set(provider.name, toProvider(provider, provider.baseUrl));
  }
  return providers;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]']);

/** Throws `config` where a provider points at one of our own listeners: every request would come back to us for ever. */
export function refuseLoops(
  providers: ReadonlyMap<string, Provider>,
  host: string,
  ports: readonly number[],
): void {
  for (const provider of providers.values()) {
    const url = new URL(provider.origin);
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    const ours = LOOPBACK.has(url.hostname) || url.hostname === host;
    if (!ours || !ports.includes(port)) continue;
    throw new SvcError(
      'config',
      `Provider '${provider.name}' points at this proxy itself (${provider.origin})`,
      {
        code: 'CONFIG_002',
        cure: `Set providers.${provider.name}.base_url to the provider's own address.`,
      },
    );
  }
}
