/**
 * Compiles a generation from a configuration: plugins, providers, plan, gate. Shared state does not
 * change until the generation is activated, so that a failed reload leaves everything as it was.
 */
import { readFileSync } from 'node:fs';
import { SvcError, isSvcError } from '../../engine/index.ts';
import type { GraphFault, Insertion } from '../../engine/index.ts';
import { largestAnswer } from '../../stages/answers/answer.ts';
import { defaultGraph } from '../../stages/graph.ts';
import type { RecipeSet } from '../../stages/model/pass.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import { templateFolder } from '../../stages/templates/files.ts';
import { createPrices } from '../../stages/ledger/prices/prices.ts';
import type { Provider } from '../../stages/providers/provider.ts';
import type { Services } from '../../stages/services.ts';
import type { ProviderStateSettings } from '../../stages/providers/states.ts';
import type { FallbackTarget, ModelRoute } from '../../stages/providers/route-config.ts';
import type { BrowserSessions } from '../auth/browser-sessions.ts';
import type { Keyring } from '../auth/auth.ts';
import type { CaptureSettings } from '../capture/captures.ts';
import type { Config } from '../config/config.ts';
import type { Variables } from '../config/env.ts';
import { byKind } from './default-providers.ts';
import { interceptedHosts } from '../forward-proxy/intercepted-hosts.ts';
import { createCors } from '../http/cors.ts';
import { createGate } from '../gate/gate.ts';
import type { Generation } from './generation.ts';
import { updateLog, secretsOf } from '../log/open-log.ts';
import type { BundledPlugin } from '../../plugins/bundled/bundled.ts';
import { macrosPlugin } from '../../plugins/bundled/macros.ts';
import type { MacroStage } from '../../plugins/bundled/macros.ts';
import { providersPlugin } from '../../plugins/bundled/providers.ts';
import { recipesPlugin } from '../../plugins/bundled/recipes.ts';
import { loadPlugins } from '../../plugins/load-plugins.ts';
import type { LoadedPlugin } from '../../plugins/load-plugins.ts';
import { lineOfText } from '../../plugins/line-in-source.ts';
import { createView } from '../../plugins/view.ts';
import { createPluginWatch } from './plugin-watch.ts';
import type { PluginWatch } from './plugin-watch.ts';
import { withPluginProviders } from './plugins.ts';
import type { CustomProviders } from './plugins.ts';
import { ownPrices, priceOverrides, refuseLoops, refuseUnknown, toProviders } from './providers.ts';
import { openRouteRules } from './route-rules.ts';
import { recipesPhrase } from '../recipes/recipes.ts';
import { passSources } from './compress-additions.ts';
import type { StageMacros } from '../macros/stage-macros.ts';
import { createPlans } from './plans.ts';
import type { Plans } from './plans.ts';
import type { ServerServices } from '../services.ts';
import { spendingSettings } from '../facts/spending.ts';

export interface GenerationOptions {
  readonly number: number;
  readonly config: Config;
  readonly services: ServerServices;
  readonly keys: Keyring;
  /** Checks cookies for the gate; absent if nothing listens. */
  readonly sessions?: Pick<BrowserSessions, 'check'>;
  /** The providers of `custom_providers`. */
  readonly custom: CustomProviders;
  /** Variables with the keys of code providers. */
  readonly env: Variables;
  /** Tracks what the code of plugins and providers starts. */
  readonly watch?: PluginWatch;
  /** Stages added to the graph besides the built-in ones and those of plugins. */
  readonly insertions?: readonly Insertion<ProxyFrame>[];
  /** The home whose macros are used; default: the configuration's. */
  readonly macroHome?: string;
  /** The actual ports of the listeners. */
  readonly ports: () => readonly number[];
}

/**
 * Loads the plugins and recipes named by the configuration, and compiles it. Rejects with `config`
 * (CONFIG_002) and all faults, or CONFIG_001 for damaged route rules; nothing has changed then.
 */
export async function makeGeneration(options: GenerationOptions): Promise<Generation> {
  const { config, services, env, watch = createPluginWatch(), insertions = [] } = options;
  const { clock, log } = services;
  const bound = createView(clock, log);
  const plugins = await loadPlugins(config.plugins, {
    clock,
    view: bound.view,
    report: (message, cause) => log.error(`plugin stage ${message}`, { cause }),
    runImport: (module, work) => watch.importing(module, module.url, work),
  });
  const { compression, home } = config;
  const sources = { compression, home: options.macroHome ?? home };
  const { running, recipes, macros } = await passSources(sources, plugins);
  const custom = withPluginProviders(options.custom, plugins, config, env, watch);
  const code = [...custom.byName].map(([name, { definition, plugin }]) => ({
    name,
    definition,
    plugin,
  }));
  const configured = configuredMacros(config, macros);
  const generation = compileGeneration({
    ...options,
    custom,
    configured,
    plugins,
    recipes,
    macros,
    bundled: [
      recipesPlugin(recipes, [recipesPhrase(running)]),
      macrosPlugin(configured),
      providersPlugin(code),
    ],
    insertions: [...insertions, ...plugins.flatMap((plugin) => plugin.insertions)],
  });
  bound.bind(generation);
  return generation;
}

/**
 * Returns the configured macros as stages. Throws `config` (CONFIG_002) with every macro that
 * cannot be a stage.
 */
function configuredMacros({ macros: names }: Config, macros: StageMacros): readonly MacroStage[] {
  const faults: string[] = [];
  const found = [...new Set(names)].flatMap((name) => {
    try {
      return macros.stage(name);
    } catch (thrown) {
      if (!isSvcError(thrown)) throw thrown;
      faults.push(thrown.message);
      return [];
    }
  });
  if (faults.length === 0) return found;
  const list = faults.map((fault) => `  - macros: ${fault}`).join('\n');
  throw new SvcError('config', `Macros that cannot be stages:\n${list}`, {
    code: 'CONFIG_002',
    cure: '`svc macro list` shows the macros; `svc macro show NAME` one of them.',
  });
}

interface CompileOptions extends GenerationOptions {
  readonly plugins: readonly LoadedPlugin[];
  readonly recipes: RecipeSet | undefined;
  readonly macros: StageMacros;
  readonly configured: readonly MacroStage[];
  readonly bundled: readonly BundledPlugin[];
  readonly insertions: readonly Insertion<ProxyFrame>[];
}

const DAY_MS = 24 * 3600 * 1000;

/** Parses fallbacks, named `provider` or `provider/model`. */
function toFallback(config: Config): FallbackTarget[] {
  return config.routing.fallback.map((name) => {
    const slash = name.indexOf('/');
    if (slash < 0) return { provider: name, model: undefined };
    return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
  });
}

function byModel(config: Config): ReadonlyMap<string, ModelRoute> {
  const routes = new Map<string, ModelRoute>();
  for (const [model, { provider, stream }] of Object.entries(config.routing.models)) {
    if (provider !== null) routes.set(model, { provider, stream });
  }
  return routes;
}

function toPlans(
  { config, plugins, bundled, insertions, macros }: CompileOptions,
  services: Services,
  aloneAs: string,
): Plans {
  const { providers } = services;
  // A passthrough without an address is not a provider: it only defines how requests reach the
  // providers of their paths.
  const named = config.routing.primary !== 'passthrough' || providers.has('passthrough');
  const { recipes: _ofTheirOwnStage, ...compress } = config.compression;
  const graph = defaultGraph(
    {
      template: { folder: templateFolder(config.home) },
      compress,
      inject: config.inject,
      route: {
        byKind: byKind(config, providers),
        primary: named ? (config.routing.primary ?? undefined) : undefined,
        verbatim: !named,
        byModel: byModel(config),
        fallback: toFallback(config),
      },
      lookup: { enabled: config.cache.enabled, proxyScope: aloneAs },
      spend: { enabled: config.budget.enabled },
      keep: { maxAnswerBytes: largestAnswer(config.cache.maxBytes) },
      forward: {
        streamingEnabled: config.streaming.enabled,
        setsBreakpoints: config.caching.setsBreakpoints,
        streams: (model) => model === undefined || (config.routing.models[model]?.stream ?? true),
      },
    },
    services,
  );
  return createPlans({
    graph,
    insertions: [...insertions, ...bundled.flatMap((plugin) => plugin.insertions)],
    macros,
    refuse(faults) {
      const list = faults.map((fault) => `  - ${fault.message}${pluginOf(fault, plugins)}`);
      const text = `The stage graph cannot be built:\n${list.join('\n')}`;
      return new SvcError('config', text, { code: 'CONFIG_002' });
    },
  });
}

/** Returns the file of the faulty plugin, or of the only plugin line that names the node. */
function pluginOf({ insertion }: GraphFault, plugins: readonly LoadedPlugin[]): string {
  const module = plugins.find(({ name }) => name === insertion?.plugin)?.module;
  if (module === undefined) return '';
  const line = lineOfText(readFileSync(module, 'utf8'), insertion?.target ?? '');
  return ` (${module}${line === undefined ? '' : `:${line}`})`;
}

/** Returns the settings that each provider's live state takes from the configuration. */
function stateSettings(config: Config, providers: ReadonlyMap<string, Provider>) {
  const settings = new Map<string, ProviderStateSettings>();
  for (const provider of providers.values()) {
    const rpm = config.routing.rpm[provider.name];
    settings.set(provider.name, {
      keys: {
        rotation: config.keys.rotation,
        keys: provider.keys,
        cooldown429Ms: config.keys.cooldown429Ms,
        cooldown401Ms: config.keys.cooldown401Ms,
      },
      pace: rpm === undefined ? undefined : { rpm },
      needsKey: provider.needsKey,
      identity: { kind: provider.kind, place: provider.place },
    });
  }
  return settings;
}

function captureSettings(config: Config, custom: CustomProviders): CaptureSettings {
  const { enabled, maxBytes, retentionDays } = config.capture;
  const secrets = secretsOf(config, custom);
  return { enabled, maxBytes, retentionMs: retentionDays * DAY_MS, secrets };
}

/**
 * Code may send data that no cache key covers, such as its own credential: its responses are for
 * this proxy only.
 */
function cacheScopeOf({ services, insertions, custom }: CompileOptions): string {
  const hasCode =
    insertions.length > 0 ||
    [...custom.byName.values()].some(({ definition }) => definition.request);
  return hasCode ? (services.shared?.proxyId ?? '') : '';
}

function compileGeneration(options: CompileOptions): Generation {
  const { config, services, keys, ports, custom } = options;
  refuseUnknown(config, custom);
  const providers = toProviders(config, custom.byName, services.shared?.machine, keys);
  refuseLoops(providers, config, ports());
  const names = new Set(providers.keys());
  const rules = openRouteRules(config.home, () => [...names]).list();
  const overrides = priceOverrides(config, custom.byName);
  const prices = createPrices({
    list: services.priceList,
    overrides,
    own: ownPrices(config),
  });
  const plans = toPlans(options, { ...services, providers, prices }, cacheScopeOf(options));
  const { security, limits } = config;
  return {
    number: options.number,
    config,
    ...plans,
    providers,
    prices,
    custom,
    plugins: options.plugins,
    recipes: options.recipes,
    macros: options.configured.map(({ id }) => id),
    gate: createGate({
      boundHost: config.server.host,
      ports,
      allowedHosts: config.server.allowedHosts,
      allowedOrigins: security.allowedOrigins,
      trustBrowserOrigins: security.trustBrowserOrigins,
      requireKey: security.requireApiKey,
      keys,
      interceptedHost: services.intercepted.hostOf,
      ...(options.sessions && { sessions: options.sessions }),
    }),
    cors: createCors(security.allowedOrigins),
    intercepted: interceptedHosts(byKind(config, providers), providers),
    activate() {
      updateLog(services.log, config, custom);
      services.audit.enable(config.audit.enabled);
      services.captures.configure(captureSettings(config, custom));
      keys.setConfigKey(security.apiKey ?? undefined);
      services.conversations.remember(config.compression.remember);
      services.router.configure({ enabled: config.routing.enabled, providers: names, rules });
      services.spending.configure(spendingSettings(config));
      services.answers.store.configure(config.cache);
      services.limiter.configure({
        perMinute: limits.requestsPerMinute ?? 0,
        perSecond: limits.rate?.perSecond,
        burst: limits.rate?.burst,
      });
      services.metrics.configure(config.metrics);
      services.streams.configure(config.streaming.maxConcurrentStreams);
      services.inFlight.configure(limits.maxBytesInFlight);
      services.states.configure(stateSettings(config, providers));
    },
  };
}
