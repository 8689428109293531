/** The providers that are code, with the keys that they name. */
import type { ProviderDefinition } from '../../plugins/index.ts';
import { loadProviders } from '../../plugins/load.ts';
import type { PluginFault } from '../../plugins/load.ts';
import type { Config } from '../config/config.ts';
import type { Variables } from '../config/env.ts';
import { createPluginWatch } from './plugin-watch.ts';
import type { PluginCode, PluginWatch } from './plugin-watch.ts';

/** A provider that is code, and its key where it names one. */
export interface CustomProvider {
  readonly definition: ProviderDefinition;
  readonly secret: string | undefined;
  /** Differs where the module's content does. */
  readonly version: string;
}

export interface CustomProviders {
  readonly byName: ReadonlyMap<string, CustomProvider>;
  /** Those that are not there, and why. */
  readonly faults: readonly PluginFault[];
}

/** Loads what `custom_providers` names. Never rejects: what is wrong with one stops only that one. */
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
    const { auth } = definition;
    const variable = typeof auth === 'object' ? auth.env : undefined;
    const secret = variable === undefined ? undefined : env[variable];
    if (variable === undefined || (secret !== undefined && secret !== '')) {
      const version = versions.get(name) ?? '';
      const watched = watchedHooks({ name, version }, definition, watch);
      byName.set(name, { definition: watched, secret, version });
      continue;
    }
    const module = customProviders.find((one) => one.name === name)?.module ?? '';
    all.push({
      name,
      module,
      message: `${module}: the variable ${variable} with its key is not set`,
    });
  }
  return { byName, faults: all };
}

/** The same hooks, run so that what they leave running is known as theirs. */
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

/** The names of those whose code is another than `before`. */
export function changedCode(before: CustomProviders, now: CustomProviders): string[] {
  return [...now.byName]
    .filter(([name, { version }]) => before.byName.get(name)?.version !== version)
    .map(([name]) => name);
}

/** One line a fault, for `/health`, the log and `svc config validate`. */
export function pluginReasons({ faults }: CustomProviders): string[] {
  return faults.map(({ name, message }) => `custom provider ${name}: ${message}`);
}
