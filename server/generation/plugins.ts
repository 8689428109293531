/** The code providers, with the keys that they name. */
import { SvcError } from '../../engine/index.ts';
import type { ProviderDefinition } from '../../plugins/index.ts';
import type { LoadedPlugin } from '../../plugins/load-plugins.ts';
import { loadProviders } from '../../plugins/load.ts';
import type { PluginFault } from '../../plugins/load.ts';
import type { Config } from '../config/config.ts';
import type { Variables } from '../config/env.ts';
import { createPluginWatch } from './plugin-watch.ts';
import type { PluginCode, PluginWatch } from './plugin-watch.ts';

/** A code provider, and its key if it names one. */
export interface CustomProvider {
  readonly definition: ProviderDefinition;
  readonly secret: string | undefined;
  /** Changes with the module's content. */
  readonly version: string;
  /** The plugin that defines it; undefined for one of `custom_providers`. */
  readonly plugin?: string;
}

export interface CustomProviders {
  readonly byName: ReadonlyMap<string, CustomProvider>;
  /** Unusable providers, and why. */
  readonly faults: readonly PluginFault[];
}

/** Loads the `custom_providers`. Never rejects: a fault only disables its own provider. */
export async function loadCustomProviders(
  { customProviders }: Pick<Config, 'customProviders'>,
  env: Variables,
  watch: PluginWatch = createPluginWatch(),
): Promise<CustomProviders> {
  const { definitions, versions, faults } = await loadProviders(
    customProviders,
    ({ name, version, url }, work) => watch.importing({ name, version }, url, work),
  );
  const byName = new Map<string, CustomProvider>();
  const all = [...faults];
  for (const [name, definition] of definitions) {
    const module =
      customProviders.find((customProvider) => customProvider.name === name)?.module ?? '';
    const version = versions.get(name) ?? '';
    const defined = withSecret({ name, definition, version, module }, env, watch);
    if ('message' in defined) all.push(defined);
    else byName.set(name, defined);
  }
  return { byName, faults: all };
}

interface DefinedProvider {
  readonly name: string;
  readonly definition: ProviderDefinition;
  readonly version: string;
  readonly module: string;
}

/** Returns the provider with its key and watched hooks, or why it is unusable. */
function withSecret(
  { name, definition, version, module }: DefinedProvider,
  env: Variables,
  watch: PluginWatch,
): CustomProvider | PluginFault {
  const { auth } = definition;
  const variable = typeof auth === 'object' ? auth.env : undefined;
  const secret = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && (secret === undefined || secret === ''))
    return {
      name,
      module,
      message: `${module}: the variable ${variable} with its key is not set`,
    };
  return { definition: watchedHooks({ name, version }, definition, watch), secret, version };
}

/**
 * Adds the providers defined by plugins. A provider whose key is not set is left out, as in
 * `custom_providers`. Throws `config` (CONFIG_002) for a name that is taken.
 */
export function withPluginProviders(
  custom: CustomProviders,
  plugins: readonly LoadedPlugin[],
  { providers }: Pick<Config, 'providers'>,
  env: Variables,
  watch: PluginWatch = createPluginWatch(),
): CustomProviders {
  const byName = new Map(custom.byName);
  const faults = [...custom.faults];
  const taken = new Set([
    ...Object.keys(providers),
    ...byName.keys(),
    ...faults.map(({ name }) => name),
  ]);
  for (const { name: plugin, module, version, providers: brought } of plugins)
    for (const definition of brought) {
      const { name } = definition;
      if (taken.has(name))
        throw new SvcError(
          'config',
          `Plugins that cannot be used:\n  - ${module}: providers: plugin ${plugin} brings ${name}, and there is a provider of that name already`,
          { code: 'CONFIG_002', cure: 'Rename one of the two.' },
        );
      const defined = withSecret({ name, definition, version, module }, env, watch);
      if ('message' in defined) faults.push({ ...defined, name: `${name} of plugin ${plugin}` });
      else byName.set(name, { ...defined, plugin });
    }
  return { byName, faults };
}

/** Wraps the hooks so that whatever they leave running is attributed to them. */
function watchedHooks(
  code: PluginCode,
  definition: ProviderDefinition,
  watch: PluginWatch,
): ProviderDefinition {
  const { request, response, event } = definition;
  return {
    ...definition,
    ...(request && { request: (given) => watch.as(code, () => request.call(definition, given)) }),
    ...(response && {
      response: (given) => watch.as(code, () => response.call(definition, given)),
    }),
    ...(event && { event: (given) => watch.as(code, () => event.call(definition, given)) }),
  };
}

/** Returns the names of `custom_providers` whose code differs from `before`. */
export function changedCode(before: CustomProviders, now: CustomProviders): string[] {
  return [...now.byName]
    .filter(
      ([name, { version, plugin }]) =>
        plugin === undefined && before.byName.get(name)?.version !== version,
    )
    .map(([name]) => name);
}

/** Returns one line per fault, for `/health`, the log and `svc config validate`. */
export function pluginReasons({ faults }: CustomProviders): string[] {
  return faults.map(({ name, message }) => `custom provider ${name}: ${message}`);
}
