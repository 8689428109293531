/** Every path that the proxy answers itself. */
import { emptyTotals } from '../../stages/ledger/figures.ts';
import { cacheStatsJson, sessionJson } from '../../stages/ledger/report.ts';
import type { SpeedCacheFigures } from '../../stages/ledger/report.ts';
import type { BrowserSessions } from '../auth/browser-sessions.ts';
import type { App } from '../app.ts';
import type { Generations } from '../generation/generation.ts';
import { statesJson } from '../facts/provider-states.ts';
import { pluginReasons } from '../generation/plugins.ts';
import type { Route } from '../http/router.ts';
import type { ServerServices } from '../services.ts';
import { createHomeFacts } from '../facts/home-facts.ts';
import { createVaultFacts } from '../facts/vault-facts.ts';
import { blockRoutes } from './blocks.ts';
import type { Config } from '../config/config.ts';
import type { LedgerQuestions } from '../control/ledger-questions.ts';
import { createFeed } from '../dashboard/feed.ts';
import { configRoutes } from './config.ts';
import type { ReloadReport } from './config.ts';
import { dashboardRoutes } from './dashboard.ts';
import { docsRoutes } from './docs.ts';
import { loginRoutes } from './login.ts';
import { metricsRoutes } from './metrics.ts';
import { savingsRoutes } from './savings.ts';
import { statsRoutes } from './stats.ts';
import { createHealthBody, statusRoutes } from './status.ts';
import { traceRoutes } from './traces.ts';
import { vaultRoutes } from './vault.ts';

export interface OwnRouteOptions {
  readonly version: string;
  readonly services: ServerServices;
  readonly sessions: BrowserSessions;
  readonly generations: Generations;
  readonly reload: () => Promise<ReloadReport>;
  /** The app that these routes become part of. */
  readonly app: () => App;
}

export function ownRoutes(options: OwnRouteOptions): Route[] {
  const { version, services, generations, app } = options;
  const { clock, window, startedMs, questions, ledgerFile } = services;
  const config = () => generations.current.config;
  const vault = createVaultFacts(services.vault, clock, config().vault.indexPath);
  const files = createHomeFacts({
    clock,
    home: config().home,
    ledger: ledgerFile,
    ledgerFile: config().ledger.db,
  });
  /** Asks the file once the newest rows are in it. */
  const ask: LedgerQuestions['ask'] = async (work) => {
    await ledgerFile.flush();
    return questions.ask(work);
  };
  const healthBody = createHealthBody({
    version,
    config,
    clock,
    startedMs,
    ledger: ledgerFile,
    audit: services.audit,
    window,
    paused: () => app().paused,
    draining: () => app().isDraining,
    vault,
    files,
    router: services.router,
    states: services.states,
    spending: services.spending,
    plugins: () => pluginReasons(generations.current.custom),
    afterwardsFaults: () => services.afterwardsFaults.count,
  });
  const caches = () =>
    cacheStatsJson(window, services.compressor.figures(), responseCache(services, config()));
  return [
    ...statusRoutes({ version, healthBody }),
    ...statsRoutes({
      vault,
      config,
      clock,
      window,
      // A file that cannot be read is reported by `/health`.
      today: () =>
        ask((reader, queries) => queries.totalsOfToday(reader, clock.wallMs())).catch(emptyTotals),
    }),
    ...savingsRoutes({
      caches,
      savings: (sinceMs) =>
        ask((reader, queries) => queries.savingsReport(reader, clock.wallMs(), sinceMs)),
    }),
    ...metricsRoutes({
      version,
      clock,
      startedMs,
      metrics: services.metrics,
      window,
      ledger: ledgerFile,
      states: services.states,
      router: services.router,
      running: () => app().running.size,
      lastDay: (nowMs) => ask((reader, queries) => queries.lastDayReport(reader, nowMs)),
    }),
    ...traceRoutes(services.traces),
    ...blockRoutes(services.lost),
    ...vaultRoutes(services.vault),
    ...configRoutes(options.reload),
    ...docsRoutes(version),
    ...loginRoutes(options.sessions),
    ...dashboardRoutes({
      feed: createFeed({
        clock,
        live: services.live,
        log: services.log,
        async state() {
          const health = await healthBody();
          const rest = JSON.stringify({
            session: sessionJson(window),
            caches: caches(),
            providers: statesJson(services.states).providers,
            classes: services.lost
              .byKind()
              .map(({ kind, tokensBefore: tokens_before, tokensAfter: tokens_after }) => ({
                class: kind,
                tokens_before,
                tokens_after,
              })),
            running: app().running.size,
            alerts: services.activeAlerts.list(),
          });
          return `{"health":${health},${rest.slice(1)}`;
        },
      }),
      ask,
      clock,
      trace: (id) => services.traces.get(id),
    }),
  ];
}

/** The response cache as it stands; null while it is off. */
function responseCache({ answers }: ServerServices, { cache }: Config): SpeedCacheFigures | null {
  if (!cache.enabled) return null;
  const { bytes: sizeBytes, ...figures } = answers.store.stats();
  return { ...figures, sizeBytes };
}
