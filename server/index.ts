/**
 * The public entry point of the server: starts a proxy from a loaded configuration and returns the
 * handle that stops it.
 */
import { randomBytes } from 'node:crypto';
import { SvcError, systemClock } from '../engine/index.ts';
import type { Clock, Insertion } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import { watchAlerts } from './alerts/watch.ts';
import { App } from './app.ts';
import { listModelsThroughProxy } from './control/provider-models.ts';
import { withAudit, auditModules } from './log/audit-trail.ts';
import { isPostgresUrl } from '../stages/ledger/address.ts';
import { createKeyring } from './auth/auth.ts';
import { createBrowserSessions } from './auth/browser-sessions.ts';
import { makeGeneration } from './generation/compile.ts';
import type { Variables } from './config/env.ts';
import { ensureHome } from './config/home.ts';
import type { LoadedConfig } from './config/load.ts';
import { openControl } from './control/control.ts';
import { controlCommands } from './control/control-commands.ts';
import { createGenerations } from './generation/generation.ts';
import type { Generation, Generations } from './generation/generation.ts';
import type { Resolve } from './forward-proxy/destinations.ts';
import { createForwardProxy } from './forward-proxy/forward-proxy.ts';
import { createLifecycle } from './run/lifecycle.ts';
import { monitorTarget } from './dashboard/page-routes.ts';
import { listen } from './http/listen.ts';
import type { Listener, ListenerHandlers } from './http/listen.ts';
import { openLog } from './log/open-log.ts';
import { createPluginWatch } from './generation/plugin-watch.ts';
import type { PluginWatch } from './generation/plugin-watch.ts';
import { loadCustomProviders, pluginReasons } from './generation/plugins.ts';
import type { CustomProviders } from './generation/plugins.ts';
import { fallbackWarnings, ownKeyWarnings, refuseLoops } from './generation/providers.ts';
import { createReload } from './generation/reload.ts';
import { createRequestIds } from './http/request-id.ts';
import { keepRetention } from './run/retention.ts';
import { createRouter } from './http/router.ts';
import { ownRoutes } from './routes/own.ts';
import type { StoredKey } from './auth/store.ts';
import { keysFile, refuseOpenBind } from './gate/open-bind.ts';
import { openRouteRules } from './generation/route-rules.ts';
import { createServices } from './services.ts';
import type { ServerServices } from './services.ts';
import { openShared } from './shared/open-shared.ts';
import { recallSpending } from './facts/spending.ts';
import { vaultCommands } from './control/vault-commands.ts';
import { openStatusline } from './statusline/publish.ts';
import { createSocketHandler } from './socket/websocket.ts';

export interface StartOptions {
  readonly loaded: LoadedConfig;
  /** Reads the configuration again, for a reload. */
  readonly reload: () => Promise<LoadedConfig>;
  readonly version: string;
  readonly clock?: Clock;
  /** Variables with the keys of code providers; default: the process's environment. */
  readonly env?: Variables;
  /**
   * Called with ledger problems, besides logging them: a damaged file that was moved aside, a
   * failing disk.
   */
  readonly onProblem?: (error: SvcError) => void;
  /**
   * Set by the process's handler of uncaught errors; without it, such an error ends the process as
   * usual.
   */
  readonly watch?: PluginWatch;
  /** Stages added to the graph besides the built-in ones; default none. */
  readonly insertions?: readonly Insertion<ProxyFrame>[];
  /** False opens no control socket, so that several proxies can share a home; default true. */
  readonly control?: boolean;
  /**
   * False starts no threads before a request needs them, so that starting many proxies is cheap;
   * default true.
   */
  readonly prepares?: boolean;
  /** Resolves the hosts of tunnels; default: the machine's resolver. */
  readonly resolve?: Resolve | undefined;
}

/** A running proxy. */
export interface RunningProxy {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly wsPort: number;
  readonly app: App;
  readonly services: ServerServices;
  reload(): Promise<unknown>;
  /**
   * Drains and closes; with `force`, or on a second call, it does not wait for running requests.
   */
  stop(force?: boolean): Promise<void>;
  /** Settles once everything is closed, by `stop` or by `svc stop` from outside. */
  readonly stopped: Promise<void>;
}

export { logFile } from './log/open-log.ts';
export { createPluginWatch } from './generation/plugin-watch.ts';
export type { PluginWatch } from './generation/plugin-watch.ts';

/**
 * Starts a proxy: opens its services, compiles the first generation, listens, and accepts commands.
 * Resolves when both ports listen; throws `config` with cause and cure if it cannot start.
 */
export async function startProxy(options: StartOptions): Promise<RunningProxy> {
  const proxy = await openProxy(options);
  const { services } = proxy;
  try {
    proxy.refuseOpen();
    await services.ledgerFile.ready();
    const generations = createGenerations(await proxy.compile(options.loaded, 1, proxy.custom));
    const reload = createReload({
      first: options.loaded,
      load: options.reload,
      compile: proxy.recompile,
      generations,
      log: services.log,
      audit: services.audit,
      activated: (generation) => prepare(options, services, generation),
    });
    const front = openFront(options, proxy, generations, reload);
    await proxy.listen(front.handlers);
    // Only now are the ports known that a looping provider would point at.
    refuseLoops(generations.current.providers, generations.current.config, proxy.ports());
    return await takeCommands(options, proxy, front, generations, reload);
  } catch (thrown) {
    for (const listener of proxy.listeners) listener.destroy();
    proxy.sharedKeys?.close();
    await services.close();
    throw thrown;
  }
}

/** Opens everything except the listeners: home folder, code providers, log, services, keys. */
async function openProxy(options: StartOptions) {
  const { loaded, version, clock = systemClock, env = process.env } = options;
  const { config } = loaded;
  const watch = options.watch ?? createPluginWatch();
  refuseOpenBind(config, clock.wallMs());
  ensureHome(config.home);
  const custom = await loadCustomProviders(config, env, watch);
  const log = openLog(config, custom, clock);
  const { onProblem } = options;
  const shared = await openShared(config, log, clock);
  const services = await createServices({
    config,
    log,
    clock,
    version,
    shared,
    ...(onProblem && { onProblem }),
  }).catch((thrown: unknown) => {
    // An open connection would keep the process alive.
    shared?.link.close();
    throw thrown;
  });
  const keys = createKeyring({
    file: keysFile(config.home),
    configKey: config.security.apiKey ?? undefined,
    clock,
    onFault: (fault) => log.error(fault.message),
  });
  let known: readonly StoredKey[] | undefined;
  const sharedKeys = isPostgresUrl(config.ledger.db)
    ? await (
        await import('./auth/watch-shared-keys.ts')
      ).followSharedKeys({
        url: config.ledger.db,
        clock,
        onKeys: (all) => keys.setSharedKeys((known = all)),
        onFault: (fault) => log.error(fault.message),
      })
    : undefined;
  const sessions = createBrowserSessions({ keys, clock, random: randomBytes });
  const listeners: Listener[] = [];
  const ports = () => listeners.map((listener) => listener.port);
  const { host, port, wsPort } = config.server;
  const { insertions = [] } = options;
  const compile = (from: LoadedConfig, number: number, code: CustomProviders) =>
    makeGeneration({
      number,
      config: from.config,
      services,
      keys,
      sessions,
      ports,
      custom: code,
      env,
      watch,
      insertions,
    });
  return {
    services,
    sessions,
    sharedKeys,
    /** Checked again, now that the shared keys are known. */
    refuseOpen: () => refuseOpenBind(config, clock.wallMs(), known),
    watch,
    custom,
    host,
    listeners,
    ports,
    compile,
    /** Reloads the code of providers too: changed code is a new module. */
    recompile: async (from: LoadedConfig, number: number) =>
      compile(from, number, await loadCustomProviders(from.config, env, watch)),
    async listen(handlers: ListenerHandlers): Promise<void> {
      const main = await listen(host, port, handlers);
      listeners.push(main);
      const socketPort = wsPort ?? (port === 0 ? 0 : main.port + 1);
      listeners.push(await listen(host, socketPort, withMonitor(handlers)));
    },
  };
}

/** The WebSocket port serves the monitor as well. */
function withMonitor(handlers: ListenerHandlers): ListenerHandlers {
  return {
    ...handlers,
    connect: undefined,
    handle(request, response) {
      request.url = monitorTarget(request.url ?? '/', request.headers.accept);
      handlers.handle(request, response);
    },
  };
}

type OpenedProxy = Awaited<ReturnType<typeof openProxy>>;
type Reload = ReturnType<typeof createReload>;

/** Creates the handlers of the ports: our own paths, proxied requests, WebSockets. */
function openFront(
  { version, resolve }: StartOptions,
  { services, sessions }: OpenedProxy,
  generations: Generations,
  reload: Reload,
) {
  const { clock } = services;
  const newId = createRequestIds({ wallMs: () => clock.wallMs(), randomBytes });
  const routes = ownRoutes({ version, services, sessions, generations, reload, app: () => app });
  const forward = createForwardProxy({
    ...services,
    home: generations.current.config.home,
    generations,
    newId,
    draining: () => app.isDraining,
    converse: (...upgrade) => webSocket.upgrade(...upgrade),
    resolve,
  });
  const router = createRouter(routes);
  const app: App = new App({ generations, services, router, newId, pass: forward.pass });
  const webSocket = createSocketHandler({
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
    upgrade(request, socket, firstBytes) {
      const host = services.intercepted.hostOf(socket);
      if (host === undefined) webSocket.upgrade(request, socket, firstBytes);
      else forward.upgrade(request, socket, firstBytes, host);
    },
    connect: (request, socket, firstBytes, server) =>
      forward.connect(request, socket, firstBytes, server),
    newId,
  };
  return { app, webSocket, forward, handlers };
}

/** Opens the control socket, logs the state and prepares what the first request needs. */
async function takeCommands(
  options: StartOptions,
  { services, sessions, sharedKeys, watch, host, listeners, ports }: OpenedProxy,
  { app, webSocket, forward }: ReturnType<typeof openFront>,
  generations: Generations,
  reload: Reload,
): Promise<RunningProxy> {
  const { loaded, version, control: hasControl = true } = options;
  const { config } = loaded;
  const { log, clock, states } = services;
  watch.listen(({ code: { name, version: failed }, why, thrown }) => {
    const { custom, plugins } = generations.current;
    const plugin = plugins.find((one) => one.module === name);
    // A stage has no state to stop: its caller runs into its timeout.
    if (plugin !== undefined)
      log.error(`plugin ${plugin.name}: its code threw outside of its handlers: ${why}`, {
        cause: thrown,
      });
    // An earlier version's leftovers are not the fault of the current one.
    if (custom.byName.get(name)?.version !== failed) return;
    const message = `stopped, its code threw outside of its hooks: ${why}`;
    if (states.stop(name, message))
      log.error(`custom provider ${name}: ${message}`, { cause: thrown });
  });
  const currentConfig = () => generations.current.config;
  const alerts = watchAlerts({
    config: currentConfig,
    services,
    notifying: { env: options.env ?? process.env, random: randomBytes, version },
  });
  const endRetention = keepRetention({ config: currentConfig, services });
  const plainCommands = controlCommands({
    alerts,
    app,
    services,
    logDestination: config.logging.destination,
    routeRules: openRouteRules(config.home, () => [...states.view().keys()]),
    async listModels(input) {
      const { providers, prices } = generations.current;
      return { models: await listModelsThroughProxy({ ...services, prices }, providers, input) };
    },
    reload,
    stop: () => lifecycle.stop(),
    dashboardLink: () => sessions.newLink(),
    vault: vaultCommands(services.vault, config.vault),
  });
  const commands = withAudit(plainCommands, services.audit);
  const control = hasControl
    ? await openControl(config.home, commands, (request) => app.fetch(request))
    : undefined;
  const statusline = hasControl ? await watchForStatusline(config.home, services) : undefined;
  const lifecycle = createLifecycle({
    app,
    listeners,
    services,
    clock,
    async closeOthers() {
      alerts.stop();
      endRetention();
      sharedKeys?.close();
      webSocket.close();
      forward.close();
      await control?.close();
      await statusline?.close();
    },
  });
  const [port = 0, wsPort = 0] = ports();
  log.info('listening', { host, port, wsPort, version });
  const { current } = generations;
  services.audit.add({ kind: 'proxy', event: 'started', details: { version, host, port } });
  const own = [...current.custom.byName].filter(([, { plugin }]) => plugin === undefined);
  auditModules(
    services.audit,
    own.map(([name]) => name),
    current.plugins,
    current,
  );
  const warnings = [
    ...loaded.warnings,
    ...fallbackWarnings(config, current.providers),
    ...ownKeyWarnings(config, current.providers),
  ];
  for (const warning of warnings) log.warning(warning);
  for (const reason of pluginReasons(current.custom)) log.error(reason);
  prepare(options, services, current);
  clock.after(WARM_UP_MS, () => {
    services.priceList.load();
    services.vault.mayHaveBlocks();
  });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    host,
    port,
    wsPort,
    app,
    services,
    reload,
    stop: (force) => lifecycle.stop(force),
    stopped: lifecycle.stopped,
  };
}

/** Writes every request's figures to the file that `svc statusline` reads. */
async function watchForStatusline(home: string, services: ServerServices) {
  const { clock, log, live, planLimits } = services;
  const statusline = await openStatusline({
    home,
    clock,
    planLimits,
    onProblem: (cause) => log.error('what svc statusline shows cannot be written', { cause }),
  });
  const end = live.watch((row) => statusline.add(row));
  return {
    async close(): Promise<void> {
      services.deferredWork.flush();
      end();
      await statusline.close();
    },
  };
}

/** Preloads what a generation's first request would wait for, in separate threads or not at all. */
function prepare(
  { prepares = true }: StartOptions,
  services: ServerServices,
  { config, recipes }: Generation,
): void {
  const { enabled, mode } = config.compression;
  if (prepares && enabled && mode !== 'strict') services.compressor.prepare({ mode, recipes });
  // Earlier costs of the day and of sessions matter only if they are limited.
  if (config.budget.enabled) void recallSpending(services.spending, services.log);
}

/**
 * Reading the price list takes 100 ms, and the vault may take as long; the start should not wait
 * for them.
 */
const WARM_UP_MS = 50;
