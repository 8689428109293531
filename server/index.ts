/**
 * The server's public door: starts a proxy from a loaded configuration and gives
 * the handle that stops it again.
 */
import { randomBytes } from 'node:crypto';
import { SvcError, systemClock } from '../engine/index.ts';
import type { Clock, Insertion } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import { createApp } from './app.ts';
import type { App } from './app.ts';
import { askThrough } from './ask-provider.ts';
import { createKeyring } from './auth.ts';
import { buildGeneration } from './build.ts';
import type { Config } from './config/config.ts';
import type { Variables } from './config/env.ts';
import { ensurePrivateFolder } from './config/home.ts';
import type { LoadedConfig } from './config/load.ts';
import { openControl } from './control.ts';
import { controlCommands } from './control-commands.ts';
import { createGenerations } from './generation.ts';
import { askLedger } from './ledger-questions.ts';
import { createLifecycle } from './lifecycle.ts';
import { listen } from './listen.ts';
import type { Listener, ListenerHandlers } from './listen.ts';
import { openLog, retuneLog } from './open-log.ts';
import { createPluginWatch } from './plugin-watch.ts';
import type { PluginWatch } from './plugin-watch.ts';
import { loadCustomProviders, pluginReasons } from './plugins.ts';
import { fallbackWarnings } from './providers.ts';
import { createReload } from './reload.ts';
import { createRequestIds } from './request-id.ts';
import { createRouter } from './router.ts';
import { blockRoutes } from './routes/blocks.ts';
import { configRoutes } from './routes/config.ts';
import { docsRoutes } from './routes/docs.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { savingsRoutes } from './routes/savings.ts';
import { statsRoutes } from './routes/stats.ts';
import { statusRoutes } from './routes/status.ts';
import { traceRoutes } from './routes/traces.ts';
import { vaultRoutes } from './routes/vault.ts';
import { keysFile, refuseOpenBind } from './open-bind.ts';
import { openRouteRules } from './route-rules.ts';
import { keepHeapSmall } from './heap.ts';
import { createServices } from './services.ts';
import type { ServerServices } from './services.ts';
import { recallSpending, spentBefore } from './spending.ts';
import { createHomeFacts } from './home-facts.ts';
import { createVaultFacts } from './vault-facts.ts';
import { createSocketDoor } from './websocket.ts';

export interface StartOptions {
  readonly loaded: LoadedConfig;
  /** Reads the configuration again, for a reload. */
  readonly reload: () => Promise<LoadedConfig>;
  readonly version: string;
  readonly clock?: Clock;
  /** Where providers that are code find their keys; default: the process's environment. */
  readonly env?: Variables;
  /** Hears what is wrong with the ledger, besides the log: a damaged file that was put aside, a disk that refuses. */
  readonly onTrouble?: (error: SvcError) => void;
  /** Told by whoever hears what nobody caught; left out, such an error ends the process as ever. */
  readonly watch?: PluginWatch;
  /** Stages that stand in the graph beside the built-in ones; default none. */
  readonly insertions?: readonly Insertion<ProxyFrame>[];
  /** False opens no control socket, so that many proxies can share a home; default true. */
  readonly control?: boolean;
}

/** A proxy that runs. */
export interface RunningProxy {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly wsPort: number;
  readonly app: App;
  readonly services: ServerServices;
  reload(): Promise<unknown>;
  /** Drains and closes; `force`, or a second call, does not wait for running requests. */
  stop(force?: boolean): Promise<void>;
}

export { logFile } from './open-log.ts';
export { createPluginWatch } from './plugin-watch.ts';
export type { PluginWatch } from './plugin-watch.ts';

/**
 * Starts a proxy. Resolves when both ports listen; throws `config` with cause
 * and cure where it cannot start.
 */
export async function startProxy(options: StartOptions): Promise<RunningProxy> {
  const { loaded, clock = systemClock, env = process.env } = options;
  const watch = options.watch ?? createPluginWatch();
  const { config } = loaded;
  keepHeapSmall();
  refuseOpenBind(config, clock.wallMs());
  ensurePrivateFolder(config.home);
  let custom = await loadCustomProviders(config, env, watch);
  const log = openLog(config, custom, clock);
  const services = await createServices({
    config,
    log,
    clock,
    ...(options.onTrouble && { onTrouble: options.onTrouble }),
  });
  const keys = createKeyring({
    file: keysFile(config.home),
    configKey: config.security.apiKey ?? undefined,
    clock,
    onFault: (fault) => log.error(fault.message),
  });
  const listeners: Listener[] = [];
  const ports = () => listeners.map((listener) => listener.port);
  const build = (from: LoadedConfig, number: number) =>
    buildGeneration({
      number,
      config: from.config,
      services,
      keys,
      ports,
      custom,
      insertions: options.insertions ?? [],
    });
  const rebuild = async (from: LoadedConfig, number: number) => {
    const before = custom;
    custom = await loadCustomProviders(from.config, env, watch);
    try {
      return build(from, number);
    } catch (thrown) {
      custom = before;
      throw thrown;
    }
  };
  try {
    await services.ledger.ready();
    return await open();
  } catch (thrown) {
    for (const listener of listeners) listener.destroy();
    await services.close();
    throw thrown;
  }

  async function open(): Promise<RunningProxy> {
    const generations = createGenerations(build(loaded, 1), () => undefined);
    const questions = askLedger(config.ledger.db);
    const newId = createRequestIds({ wallMs: () => services.clock.wallMs(), randomBytes });
    const reload = createReload({
      first: loaded,
      load: options.reload,
      build: rebuild,
      generations,
      log,
      apply(next) {
        retuneLog(log, next.config, custom);
        keys.setConfigKey(next.config.security.apiKey ?? undefined);
        recallIfNeeded(next.config);
        prepareIfNeeded(next.config);
      },
    });
    const startedMs = clock.wallMs();
    services.spending.recallFrom(() => spentBefore(questions, clock, startedMs));
    /** What day and sessions have cost is only worth a look into the ledger where it is limited. */
    const recallIfNeeded = ({ budget }: Config): void => {
      if (budget.enabled) void recallSpending(services.spending, log);
    };
    const prepareIfNeeded = ({ compression: { enabled, mode } }: Config): void => {
      if (enabled && mode !== 'strict') services.compressor.prepare(mode);
    };
    const vault = createVaultFacts(services.vault, clock, config.vault.indexPath);
    const files = createHomeFacts({
      clock,
      home: config.home,
      ledger: services.ledger,
      ledgerFile: config.ledger.db,
    });
    const routes = [
      ...statusRoutes({
        version: options.version,
        config: () => generations.current.config,
        clock,
        startedMs,
        ledger: services.ledger,
        window: services.window,
        paused: () => app.paused,
        draining: () => app.isDraining,
        vault,
        files,
        router: services.router,
        states: services.states,
        spending: services.spending,
        plugins: () => pluginReasons(custom),
        afterwardsFaults: () => services.afterwardsFaults.count,
      }),
      ...statsRoutes({
        vault,
        config: () => generations.current.config,
        clock,
        window: services.window,
        async today() {
          await services.ledger.flush();
          return questions.today(clock.wallMs());
        },
      }),
      ...savingsRoutes({
        window: services.window,
        compressionCache: () => services.compressor.figures(),
        responseCache() {
          if (!generations.current.config.cache.enabled) return null;
          const { bytes: sizeBytes, ...figures } = services.answers.store.stats();
          return { ...figures, sizeBytes };
        },
        async savings(sinceMs) {
          await services.ledger.flush();
          return questions.savings(clock.wallMs(), sinceMs);
        },
      }),
      ...metricsRoutes({
        version: options.version,
        clock,
        startedMs,
        metrics: services.metrics,
        window: services.window,
        ledger: services.ledger,
        states: services.states,
        router: services.router,
        running: () => app.running.size,
        async lastDay(nowMs) {
          await services.ledger.flush();
          return questions.lastDay(nowMs);
        },
      }),
      ...traceRoutes(services.traces),
      ...blockRoutes(services.lost),
      ...vaultRoutes(services.vault),
      ...configRoutes(reload),
      ...docsRoutes(options.version),
    ];
    const app = createApp({ generations, services, router: createRouter(routes), newId });
    const door = createSocketDoor({
      generations,
      services,
      newId,
      paused: () => app.paused,
      draining: () => app.isDraining,
      running: app.running,
    });
    const handlers: ListenerHandlers = {
      turn: services.turn,
      handle: (request, response) => app.handle(request, response),
      upgrade: (request, socket, head) => door.upgrade(request, socket, head),
      newId,
    };
    const { host, port } = config.server;
    const main = await listen(host, port, handlers);
    listeners.push(main);
    const socketPort = config.server.wsPort ?? (port === 0 ? 0 : main.port + 1);
    const sockets = await listen(host, socketPort, handlers);
    listeners.push(sockets);
    // Now that the ports are known, a provider that points at one of them can be told apart.
    generations.swap(build(loaded, 1));
    watch.listen(({ code: { name, version }, why, thrown }) => {
      // What an earlier version left running is not the fault of the present one.
      if (custom.byName.get(name)?.version !== version) return;
      const message = `stopped, its code threw outside of its hooks: ${why}`;
      if (services.states.stop(name, message))
        log.error(`custom provider ${name}: ${message}`, { cause: thrown });
    });
    const commands = controlCommands({
      app,
      afterwards: services.afterwards,
      log,
      logDestination: config.logging.destination,
      learned: services.learned,
      router: services.router,
      routeRules: openRouteRules(config.home, () => [...services.states.view().keys()]),
      spending: services.spending,
      states: services.states,
      listModels: async (input) => ({
        models: await askThrough(services, generations.current.providers, input),
      }),
      reload,
      stop: () => lifecycle.stop(),
    });
    const control =
      options.control === false
        ? undefined
        : await openControl(config.home, commands, (request) => app.fetch(request));
    const lifecycle = createLifecycle({
      app,
      listeners,
      services,
      clock,
      async closeOthers() {
        door.close();
        await control?.close();
        await questions.close();
      },
    });
    log.info('listening', {
      host,
      port: main.port,
      wsPort: sockets.port,
      version: options.version,
    });
    const { providers } = generations.current;
    const warnings = [...loaded.warnings, ...fallbackWarnings(config, providers)];
    for (const warning of warnings) log.warning(warning);
    for (const reason of pluginReasons(custom)) log.error(reason);
    // In a thread of its own, so that nothing waits for it.
    prepareIfNeeded(config);
    clock.after(WARM_UP_MS, () => {
      services.prices.warm();
      services.vault.mayHaveBlocks();
    });
    recallIfNeeded(config);
    const shown = host.includes(':') ? `[${host}]` : host;
    return {
      url: `http://${shown}:${main.port}`,
      host,
      port: main.port,
      wsPort: sockets.port,
      app,
      services,
      reload,
      stop: (force) => lifecycle.stop(force),
    };
  }
}

/** The price list takes 100 ms to read, and so may the vault; the start should not wait for them. */
const WARM_UP_MS = 50;
