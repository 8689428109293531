/** Loads the providers that are code. A fault disables only the provider that has it. */
import { checkDefinition } from './check.ts';
import type { ProviderDefinition } from './provider.ts';
import { importDefault } from './module.ts';
import type { ConfiguredModule, RunImport } from './module.ts';

/** Why a module gives no provider; `message` has one sentence per fault and names the file. */
export interface PluginFault {
  readonly name: string;
  readonly module: string;
  readonly message: string;
}

export interface LoadedPlugins {
  /** By the configured name, in the order of the configuration. */
  readonly definitions: ReadonlyMap<string, ProviderDefinition>;
  /** The hash of each module's content, under the same names. */
  readonly versions: ReadonlyMap<string, string>;
  readonly faults: readonly PluginFault[];
}

/** Loads every source. Never rejects. */
export async function loadProviders(
  modules: readonly ConfiguredModule[],
  runImport: RunImport = (_module, work) => work(),
): Promise<LoadedPlugins> {
  const definitions = new Map<string, ProviderDefinition>();
  const versions = new Map<string, string>();
  const faults: PluginFault[] = [];
  for (const configured of modules) {
    const { module, name } = configured;
    try {
      const { exported, version } = await importDefault(configured, runImport);
      const checked = checkDefinition(exported);
      if (!checked.ok) throw new Error(checked.faults.join('; '));
      definitions.set(name, checked.definition);
      versions.set(name, version);
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      faults.push({ name, module, message: `${module}: ${why}` });
    }
  }
  return { definitions, versions, faults };
}
