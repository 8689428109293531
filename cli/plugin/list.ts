/** What the configured modules provide, as a proxy would load them. */
import type { Clock } from '../../engine/index.ts';
import type { LoadedPlugin } from '../../plugins/load-plugins.ts';
import { loadProviders } from '../../plugins/load.ts';
import type { Config } from '../../server/config/config.ts';
import { configuredPlugins } from '../../server/generation/configured-plugins.ts';

export interface ListedPlugin {
  /** Null if the module does not state it. */
  readonly name: string | null;
  readonly module: string;
  /** Hash of the module's content; null if it could not be loaded. */
  readonly version: string | null;
  /** `stage footer after forward`, `provider acme (chat)`. */
  readonly brings: readonly string[];
  /** Why it cannot be loaded. */
  readonly fault: string | null;
}

export async function listPlugins(
  { plugins, customProviders }: Pick<Config, 'plugins' | 'customProviders'>,
  clock: Clock,
): Promise<readonly ListedPlugin[]> {
  const stages = await Promise.all(plugins.map((entry) => listProvided(entry, clock)));
  const { definitions, versions, faults } = await loadProviders(customProviders);
  const providers = customProviders.map(({ name, module }) => {
    const kind = definitions.get(name)?.kind;
    return {
      name,
      module,
      version: versions.get(name) ?? null,
      brings: kind === undefined ? [] : [`provider ${name} (${kind})`],
      fault: faults.find((fault) => fault.name === name)?.message ?? null,
    };
  });
  return [...stages, ...providers];
}

async function listProvided(entry: Config['plugins'][number], clock: Clock): Promise<ListedPlugin> {
  try {
    const [plugin] = await configuredPlugins({ plugins: [entry] }, clock);
    const { name = null, version = null } = plugin ?? {};
    const brings = plugin === undefined ? [] : providedBy(plugin);
    return { name, module: entry.module, version, brings, fault: null };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const [, why = message] = /\n {2}- ([\s\S]*)$/.exec(message) ?? [];
    return {
      name: null,
      module: entry.module,
      version: null,
      brings: [],
      fault: why.replaceAll('\n  - ', '; '),
    };
  }
}

function providedBy({ insertions, providers, recipes, macros }: LoadedPlugin): readonly string[] {
  return [
    ...insertions.map(({ stage, before, after }) =>
      before === undefined
        ? `stage ${stage.name} after ${after}`
        : `stage ${stage.name} before ${before}`,
    ),
    ...providers.map(({ name, kind }) => `provider ${name} (${kind})`),
    ...recipes.map(({ name }) => `recipe ${name}`),
    ...macros.map(({ name }) => `macro ${name}`),
  ];
}
