/** Every path that the proxy serves itself. */
import { sessionJson } from '../../stages/ledger/report.ts';
import type { BrowserSessions } from '../auth/browser-sessions.ts';
import { limitsJson } from '../facts/limits.ts';
import { statesJson } from '../facts/provider-states.ts';
import type { Route } from '../http/router.ts';
import { createVaultFacts } from '../facts/vault-facts.ts';
import { blockRoutes } from './blocks.ts';
import { Feed } from '../dashboard/feed.ts';
import { configRoutes } from './config.ts';
import type { ReloadReport } from './config.ts';
import { dashboardRoutes } from './dashboard.ts';
import { docsRoutes } from './docs.ts';
import { graphRoutes } from './graph.ts';
import { ledgerRoutes } from './ledger.ts';
import { limitRoutes } from './limits.ts';
import { loginRoutes } from './login.ts';
import { mcpRoutes } from './mcp.ts';
import { metricsRoutes } from './metrics.ts';
import { cachesJson, savingsRoutes } from './savings.ts';
import type { RouteSources } from './sources.ts';
import { statsRoutes } from './stats.ts';
import { createHealthBody, statusRoutes } from './status.ts';
import { traceRoutes } from './traces.ts';
import { vaultRoutes } from './vault.ts';
import { whyRoutes } from './why.ts';

/** Limit windows that open dashboards receive with every change. */
const MAX_LIMITS = 20;

export interface OwnRouteOptions extends Omit<RouteSources, 'ask' | 'vault'> {
  readonly sessions: BrowserSessions;
  readonly reload: () => Promise<ReloadReport>;
}

export function ownRoutes(options: OwnRouteOptions): Route[] {
  const { version, services, generations, app } = options;
  const { clock, ledgerFile, questions } = services;
  const sources: RouteSources = {
    version,
    services,
    generations,
    app,
    async ask(work) {
      await ledgerFile.flush();
      return questions.ask(work);
    },
    vault: createVaultFacts(services.vault, clock, generations.current.config.vault.indexPath),
  };
  const healthBody = createHealthBody(sources);
  const feed = new Feed({
    clock,
    live: services.live,
    log: services.log,
    async state() {
      const health = await healthBody();
      const stateJson = JSON.stringify({
        session: sessionJson(services.window),
        caches: cachesJson(sources),
        providers: statesJson(services.states).providers,
        classes: services.originals
          .byKind()
          .map(({ kind, tokensBefore: tokens_before, tokensAfter: tokens_after }) => ({
            class: kind,
            tokens_before,
            tokens_after,
          })),
        limits: limitsJson(services.planLimits).limits.slice(0, MAX_LIMITS),
        running: app().running.size,
        alerts: services.activeAlerts.list(),
      });
      return `{"health":${health},${stateJson.slice(1)}`;
    },
  });
  return [
    ...statusRoutes(version, healthBody),
    ...statsRoutes(sources),
    ...savingsRoutes(sources),
    ...ledgerRoutes(sources),
    ...metricsRoutes(sources),
    ...traceRoutes(services.traces),
    ...whyRoutes(sources),
    ...limitRoutes(services.planLimits),
    ...graphRoutes(generations),
    ...blockRoutes(services.originals),
    ...vaultRoutes(services.vault),
    ...configRoutes(options.reload),
    ...mcpRoutes(sources),
    ...docsRoutes(version),
    ...loginRoutes(options.sessions),
    ...dashboardRoutes(sources, feed),
  ];
}
