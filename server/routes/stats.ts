/** `/stats`, `/stats/last`, `/stats/session` and `/recent`. */
import type { Clock } from '../../engine/index.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import {
  byModelJson,
  lastJson,
  sessionJson,
  sessionSummaryJson,
  todayJson,
} from '../../stages/ledger/report.ts';
import { recentJson } from '../../stages/ledger/request-json.ts';
import type { SessionWindow } from '../../stages/ledger/window.ts';
import type { Config } from '../config/config.ts';
import type { Route } from '../http/router.ts';
import type { VaultFacts } from '../facts/vault-facts.ts';

export interface StatsRouteOptions {
  readonly config: () => Config;
  readonly clock: Clock;
  readonly window: SessionWindow;
  /** The sums of the present UTC day over all sessions, from the ledger's file. */
  readonly today: () => Promise<Totals>;
  readonly vault: () => Promise<VaultFacts>;
}

export function statsRoutes(options: StatsRouteOptions): Route[] {
  const { window, clock } = options;
  return [
    { method: 'GET', path: '/stats', handle: async () => Response.json(await stats(options)) },
    { method: 'GET', path: '/stats/last', handle: () => Response.json(lastJson(window)) },
    {
      method: 'GET',
      path: '/stats/session',
      handle: () => Response.json(sessionSummaryJson(window, clock.wallMs())),
    },
    {
      method: 'GET',
      path: '/recent',
      handle: () => Response.json({ recent: window.recent().map(recentJson) }),
    },
  ];
}

async function stats({ config, window, today, vault }: StatsRouteOptions) {
  const { compression, routing } = config();
  return {
    session: sessionJson(window),
    compilation_mode: compression.mode,
    vault_index: (await vault()).index,
    router: { enabled: routing.enabled },
    today: todayJson(await today()),
    by_model: byModelJson(window.byModel()),
    recent: window.recent().map(recentJson),
  };
}
