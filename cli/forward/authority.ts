/**
 * Finds or creates the local certificate authority: one that covers the configured hosts and does
 * not expire soon.
 */
import { makeAuthority, readAuthority } from '../../server/forward-proxy/ca/files.ts';
import type { StoredAuthority } from '../../server/forward-proxy/ca/files.ts';
import {
  interceptedHosts,
  tunnelledProviders,
} from '../../server/forward-proxy/intercepted-hosts.ts';
import type { TunnelledProvider } from '../../server/forward-proxy/intercepted-hosts.ts';
import type { Config } from '../../server/config/config.ts';
import type { Variables } from '../../server/config/env.ts';
import { byKind } from '../../server/generation/default-providers.ts';
import { toProviders } from '../../server/generation/providers.ts';
import { SvcError, isSvcError } from '../../engine/error.ts';
import { configOf } from '../parse/flags.ts';
import { runningInstance } from '../process/daemon.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';

import { renewLists } from './certificate-lists.ts';

export const DAY_MS = 24 * 3600 * 1000;
/** A client started now may run for days. */
const RENEW_BEFORE_MS = 10 * DAY_MS;

/** The configuration of forward mode. */
export interface ConfiguredHosts {
  /** Hosts to intercept, in order. */
  readonly hosts: readonly string[];
  /** Providers whose hosts are tunnelled without being decrypted. */
  readonly tunnelled: readonly TunnelledProvider[];
}

/**
 * Returns the hosts that are intercepted with this configuration.
 *
 * @throws SvcError `config` if there is none, or the configuration is invalid.
 */
export async function configuredHosts(context: CliContext): Promise<ConfiguredHosts> {
  const file = runningInstance(homeOf(context))?.flags.config;
  const { config } = await configOf(file, context);
  const found = await hostsOf(config, context.env);
  if (found.hosts.length > 0) return found;
  throw new SvcError('config', 'No provider has a host that forward mode could intercept', {
    cure: 'It intercepts hosts with a name that use https on port 443; see providers.<name>.base_url.',
  });
}

/**
 * Returns the hosts of a loaded configuration; providers that are code are loaded for it.
 *
 * @throws SvcError `config` as a start would.
 */
export async function hostsOf(config: Config, env: Variables): Promise<ConfiguredHosts> {
  const providers = toProviders(config, await codeOf(config, env));
  const intercepted = interceptedHosts(byKind(config, providers), providers);
  return {
    hosts: [...intercepted.keys()].toSorted(),
    tunnelled: tunnelledProviders(intercepted, providers),
  };
}

async function codeOf(config: Config, env: Variables) {
  if (config.customProviders.length === 0 && config.plugins.length === 0) return undefined;
  const { compiledGraph } = await import('../../server/generation/compile-only.ts');
  return (await compiledGraph(config, env)).custom.byName;
}

/** Returns a sentence on each provider that is not intercepted. */
export function tunnelledRemarks(tunnelled: readonly TunnelledProvider[]): readonly string[] {
  return tunnelled.map(
    ({ provider, host }) =>
      `${host} (provider ${provider}) is not intercepted: only the one provider of each kind of path is, see \`routing.primary\`. What a client sends there itself is tunnelled without being decrypted.`,
  );
}

export interface FittingAuthority {
  readonly authority: StoredAuthority;
  /** Why it was created now; undefined if the existing one fits. */
  readonly createdBecause?: 'first' | 'expires' | 'hosts' | 'unreadable';
}

/**
 * Returns an authority for `hosts` that stays valid for days: the one in the home, or a new one.
 */
export async function fittingAuthority(
  context: CliContext,
  hosts: readonly string[],
): Promise<FittingAuthority> {
  const home = homeOf(context);
  const nowMs = context.clock.wallMs();
  const found = await readAuthority(home).catch((thrown: unknown) => {
    if (isSvcError(thrown)) return 'unreadable' as const;
    throw thrown;
  });
  const make = async (
    createdBecause: NonNullable<FittingAuthority['createdBecause']>,
  ): Promise<FittingAuthority> => {
    const authority = await makeAuthority(home, hosts, nowMs);
    renewLists({ env: context.env, home, authorityPem: authority.certificatePem });
    return { authority, createdBecause };
  };
  if (found === undefined) return make('first');
  if (found === 'unreadable') return make('unreadable');
  if (found.expiresMs - nowMs < RENEW_BEFORE_MS) return make('expires');
  return hosts.every((host) => found.hosts.includes(host)) ? { authority: found } : make('hosts');
}
