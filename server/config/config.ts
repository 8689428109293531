/**
 * The configuration: every slice, and the values the program gets from it. Names are in camel case,
 * with units; null means "none" or "no limit". Deeply frozen; a reload makes a new one.
 */
import { plugins, customProviders } from '../../plugins/settings.ts';
import { cache } from '../../stages/answers/settings.ts';
import { audit } from '../../stages/audit/settings.ts';
import { budget } from '../../stages/budget/settings.ts';
import { capture } from '../../stages/captures/settings.ts';
import { compression } from '../../stages/compress/settings.ts';
import { caching } from '../../stages/forward/settings.ts';
import { inject } from '../../stages/inject/settings.ts';
import { attribution, fleet, ledger, metrics } from '../../stages/ledger/settings.ts';
import { macros } from '../../stages/macros/settings.ts';
import { keys, providers } from '../../stages/providers/settings.ts';
import { routing } from '../../stages/route/settings.ts';
import { build, slice } from '../../stages/settings/slice.ts';
import type { SectionOf, FinalValues } from '../../stages/settings/slice.ts';
import { vault } from '../../stages/vault/settings.ts';
import { alerts } from '../alerts/settings.ts';
import { limits } from './slices/limits.ts';
import { logging, telemetry } from './slices/logging.ts';
import { security } from './slices/security.ts';
import { forwardProxy, outbound, server } from './slices/server.ts';
import { shared } from './slices/shared.ts';
import { streaming } from './slices/streaming.ts';

export type { ConfiguredKey, ProviderConfig } from '../../stages/providers/settings.ts';

/** Every setting, in display order. */
export const configuration = slice(
  {
    server,
    compression,
    cache,
    vault,
    inject,
    logging,
    metrics,
    attribution,
    audit,
    alerts,
    security,
    caching,
    ledger,
    fleet,
    keys,
    routing,
    providers,
    customProviders,
    plugins,
    macros,
    limits,
    streaming,
    telemetry,
    capture,
    budget,
    shared,
    outbound,
    forwardProxy,
  },
  (all, { home }) => ({
    ...all,
    /** `$SVC_HOME`, absolute. */
    home,
    inject: {
      ...all.inject,
      enabled: all.vault.enabled,
      capsules: all.compression.enabled && all.inject.capsules,
    },
  }),
);

/** The whole configuration. */
export type Config = SectionOf<typeof configuration>;

/** Builds the configuration from valid values. */
export function toConfig(settled: FinalValues): Config {
  return deepFreeze(build(configuration, settled));
}

/** Freezes a value and everything in it. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
