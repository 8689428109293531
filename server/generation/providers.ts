/** Converts the configuration's providers to those that the stages use. */
import { join } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import type { OverlayPrice } from '../../stages/ledger/prices/price-overlay.ts';
import {
  MAX_OWN_BYTES,
  OWN_PRICES,
  faultOfRates,
  readOwnPrices,
  toRates,
} from '../../stages/ledger/prices/own-prices.ts';
import type { PriceOverride } from '../../stages/ledger/prices/prices.ts';
import { toAddress } from '../../stages/providers/address.ts';
import type { Provider } from '../../stages/providers/provider.ts';
import { readConfigFile } from '../config/read-file.ts';
import { PUBLIC_BASE_URLS } from '../../stages/providers/settings.ts';
import type { KeyCheck } from '../auth/auth.ts';
import { looksLikeOurs } from '../auth/keys-in-request.ts';
import type { Config, ProviderConfig } from '../config/config.ts';
import { placeOf } from '../shared/key-names.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import type { CustomProvider, CustomProviders } from './plugins.ts';

type ProviderSettings = Omit<ProviderConfig, 'baseUrl' | 'allowInsecure' | 'pricing'>;

function toProvider(
  config: ProviderSettings,
  baseUrl: string,
  machine: string | undefined,
  isCode = false,
): Provider {
  return Object.freeze({
    name: config.name,
    kind: config.kind,
    baseUrl,
    place: machine === undefined ? baseUrl : placeOf(baseUrl, machine),
    ...toAddress(config.kind, baseUrl, isCode),
    keys: config.keys.map(({ scheme, secret, label }) => ({
      scheme: scheme === 'bearer' ? ('bearer' as const) : ('key' as const),
      secret,
      label,
    })),
    needsKey: config.auth !== 'none',
    headTimeoutMs: config.requestTimeoutMs ?? 0,
    idleTimeoutMs: config.idleTimeoutMs ?? 0,
    supportsStreaming: config.supportsStreaming,
    ...(config.fallbackAtPercent !== null && { fallbackAtPercent: config.fallbackAtPercent }),
    promptCache: config.promptCache,
    modelAliases: new Map(Object.entries(config.modelAliases)),
    headers: Object.entries(config.headers).flat(),
    extraBody: new Map(Object.entries(config.extraBody)),
  });
}

/** Converts a code provider. Undefined parts come from the built-in provider of its kind. */
function toCustom(
  name: string,
  custom: CustomProvider,
  config: Config,
  machine: string | undefined,
): Provider {
  const { definition, secret, version } = custom;
  const { auth, request, response, event } = definition;
  const builtIn = config.providers[definition.kind];
  const baseUrl = definition.baseUrl.replace(/(?<!\/)\/+$/, '');
  const scheme = typeof auth === 'object' && auth.scheme === 'bearer' ? 'bearer' : 'api-key';
  const label = typeof auth === 'object' ? auth.env : name;
  const { timeoutSeconds, idleTimeoutSeconds } = definition;
  const settings = {
    name,
    kind: definition.kind,
    auth: auth === 'none' ? ('none' as const) : ('key' as const),
    keys: secret === undefined ? [] : [{ scheme, secret, label } as const],
    requestTimeoutMs: inMs(timeoutSeconds) ?? builtIn?.requestTimeoutMs ?? null,
    idleTimeoutMs: inMs(idleTimeoutSeconds) ?? builtIn?.idleTimeoutMs ?? null,
    supportsStreaming: definition.supportsStreaming ?? true,
    fallbackAtPercent: null,
    promptCache: 'auto' as const,
    headers: definition.headers ?? {},
    extraBody: definition.extraBody ?? {},
    modelAliases: definition.modelAliases ?? {},
  };
  const hooks = {
    ...(request && { request }),
    ...(response && { response }),
    ...(event && { event }),
  };
  return Object.freeze({
    ...toProvider(settings, baseUrl, machine, request !== undefined),
    ...(Object.keys(hooks).length > 0 && { hooks: { ...hooks, version } }),
  });
}

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/**
 * Returns all providers by name, code providers last, without those that have no address. `machine`
 * distinguishes this machine from others with which state is shared; undefined if none is. A key of
 * this proxy, known to `keyring`, is not a provider's key and is left out.
 */
export function toProviders(
  config: Config,
  custom: CustomProviders['byName'] = new Map(),
  machine?: string,
  keyring?: KeyCheck,
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  for (const provider of Object.values(config.providers)) {
    if (provider.baseUrl === null) continue;
    const keys = provider.keys.filter(({ secret }) => !isOurs(secret, provider, keyring));
    providers.set(provider.name, toProvider({ ...provider, keys }, provider.baseUrl, machine));
  }
  for (const [name, each] of custom) providers.set(name, toCustom(name, each, config, machine));
  return providers;
}

/**
 * True for a proxy key where a provider's key belongs: a client's `ANTHROPIC_API_KEY` may hold one,
 * and the shell that starts the proxy has it too. Another svc proxy as provider needs its own keys.
 */
function isOurs(
  secret: string,
  { kind, baseUrl }: ProviderConfig,
  keyring: KeyCheck | undefined,
): boolean {
  if (!looksLikeOurs(secret)) return false;
  return baseUrl === PUBLIC_BASE_URLS[kind] || (keyring?.check(secret) ?? 'unknown') !== 'unknown';
}

/** Returns warnings for proxy keys configured as providers' keys. */
export function ownKeyWarnings(config: Config, providers: ReadonlyMap<string, Provider>): string[] {
  return Object.values(config.providers).flatMap(({ name, keys }) => {
    const used = providers.get(name)?.keys ?? keys;
    return keys
      .filter(({ secret }) => !used.some((key) => key.secret === secret))
      .map(
        ({ label }) =>
          `provider ${name}: the key of ${label} is a key of this proxy, which is sent to no provider: it is not used`,
      );
  });
}

/** Returns user-defined prices by provider. Throws `config` for an unknown unit. */
export function priceOverrides(
  config: Config,
  custom: CustomProviders['byName'],
): Map<string, PriceOverride> {
  const prices = new Map(
    Object.values(config.providers).map(({ name, pricing }) => [name, toOverride(name, pricing)]),
  );
  for (const [name, { definition }] of custom) {
    const { inputUsdPer1m = null, outputUsdPer1m = null } = definition.pricing ?? {};
    prices.set(name, ofTokens(inputUsdPer1m, outputUsdPer1m));
  }
  return prices;
}

function ofTokens(input: number | null, output: number | null): PriceOverride {
  return {
    ...(input !== null && { input_cost_per_1m_tokens: input }),
    ...(output !== null && { output_cost_per_1m_tokens: output }),
  };
}

function toOverride(name: string, pricing: ProviderConfig['pricing']): PriceOverride {
  const { inputUsdPerMTok, outputUsdPerMTok, ratesUsd, longContextUsd: long, terms } = pricing;
  const key = `providers.${name}.pricing`;
  const refuse = (part: string, what: string | undefined): void => {
    if (what !== undefined)
      throw new SvcError('config', `${key}.${part}: ${what}`, { code: 'CONFIG_001' });
  };
  refuse('rates', faultOfRates(ratesUsd));
  refuse('long_context', faultOfRates(long, ['above']));
  const usd = {
    ...(inputUsdPerMTok !== null && { input: inputUsdPerMTok }),
    ...(outputUsdPerMTok !== null && { output: outputUsdPerMTok }),
    ...ratesUsd,
  };
  const lone = Object.keys(long).find((unit) => unit !== 'above' && !(unit in usd));
  refuse('long_context', lone && `'${lone}' has no price below it`);
  const { input, output, ...others } = toRates(usd, long);
  const isTiered = [input, output].some((rate) => rate !== undefined && rate.tiers.length > 0);
  const rates = isTiered ? toRates(usd, long) : others;
  return {
    ...ofTokens(inputUsdPerMTok, outputUsdPerMTok),
    ...(Object.keys(rates).length > 0 && { rates }),
    ...(Object.keys(terms).length > 0 && { terms }),
  };
}

/**
 * Reads the prices in `$SVC_HOME/prices.json`; none if there is no such file. Throws `config` for
 * an invalid one.
 */
export function ownPrices({ home }: Pick<Config, 'home'>): readonly OverlayPrice[] {
  const file = join(home, OWN_PRICES);
  const found = readConfigFile(file, MAX_OWN_BYTES);
  return found === undefined ? [] : readOwnPrices(found.text, file);
}

/** Returns warnings for fallbacks without a key. */
export function fallbackWarnings(
  { routing }: Config,
  providers: ReadonlyMap<string, Provider>,
): string[] {
  return routing.fallback.flatMap((target) => {
    const provider = providers.get(target.split('/', 1)[0]!);
    if (provider === undefined || !provider.needsKey || provider.keys.length > 0) return [];
    return [
      `fallback ${provider.name} has no key (providers.${provider.name}.api_key): it is used only for clients that send one for it, on its own paths`,
    ];
  });
}

/**
 * Throws `config` (CONFIG_002) for configured names of providers that do not exist, counting those
 * of plugins.
 */
export function refuseUnknown(config: Config, { byName, faults }: CustomProviders): void {
  const { routing } = config;
  const known = [
    ...Object.keys(config.providers),
    ...byName.keys(),
    // Unusable providers are reported elsewhere.
    ...faults.map(({ name }) => name.split(' ', 1)[0]!),
  ];
  const named: readonly (readonly [key: string, name: string | null])[] = [
    ['routing.primary', routing.primary],
    ...routing.fallback.map((target) => ['routing.fallback', target.split('/', 1)[0]!] as const),
    ...Object.entries(routing.models).map(
      ([alias, { provider }]) => [`models.${alias}.provider`, provider] as const,
    ),
    ...Object.keys(routing.rpm).map((name) => [`rate_limiting.${name}`, name] as const),
  ];
  const faulty = named.flatMap(([key, name]) =>
    name === null || known.includes(name)
      ? []
      : [
          `  - ${key}: there is no provider '${name}'${didYouMean(name, known) || `; known are ${known.join(', ')}`}`,
        ],
  );
  if (faulty.length === 0) return;
  throw new SvcError('config', `Config validation failed:\n${faulty.join('\n')}`, {
    code: 'CONFIG_002',
  });
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]']);

/**
 * Throws `config` if a provider or the outbound proxy is one of our own listeners: requests would
 * loop forever.
 */
export function refuseLoops(
  providers: ReadonlyMap<string, Provider>,
  { server: { host }, outbound }: Pick<Config, 'server' | 'outbound'>,
  ports: readonly number[],
): void {
  const isOwnListener = (address: string): boolean => {
    const url = new URL(address);
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    return (LOOPBACK.has(url.hostname) || url.hostname === host) && ports.includes(port);
  };
  for (const proxyUrl of [outbound.httpsProxy, outbound.httpProxy]) {
    if (proxyUrl === null || !isOwnListener(proxyUrl)) continue;
    throw new SvcError(
      'config',
      'HTTPS_PROXY is this proxy itself, as `svc run --forward` sets it',
      {
        code: 'CONFIG_002',
        cure: 'Start svc in a shell where HTTPS_PROXY and HTTP_PROXY are unset, or name the proxy of your network.',
      },
    );
  }
  for (const provider of providers.values()) {
    if (!isOwnListener(provider.origin)) continue;
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
