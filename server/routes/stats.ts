/** `/stats`, `/stats/last`, `/stats/session` and `/recent`. */
import { emptyTotals } from '../../stages/ledger/figures.ts';
import {
  byModelJson,
  lastJson,
  sessionJson,
  sessionSummaryJson,
  todayJson,
} from '../../stages/ledger/report.ts';
import { recentJson } from '../../stages/ledger/request-json.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';
import type { RouteSources } from './sources.ts';

export function statsRoutes(sources: RouteSources): Route[] {
  const { window, clock } = sources.services;
  return [
    getJson('/stats', () => stats(sources)),
    getJson('/stats/last', () => lastJson(window)),
    getJson('/stats/session', () => sessionSummaryJson(window, clock.wallMs())),
    getJson('/recent', () => ({ recent: window.recent().map(recentJson) })),
  ];
}

async function stats({ services, generations, ask, vault }: RouteSources) {
  const { window, clock } = services;
  const { compression, routing } = generations.current.config;
  // All zero where the file cannot be read, which `/health` reports.
  const today = await ask((reader, queries) => queries.totalsOfToday(reader, clock.wallMs())).catch(
    emptyTotals,
  );
  return {
    session: sessionJson(window),
    compilation_mode: compression.mode,
    vault_index: (await vault()).index,
    router: { enabled: routing.enabled },
    today: todayJson(today),
    by_model: byModelJson(window.byModel()),
    recent: window.recent().map(recentJson),
  };
}
