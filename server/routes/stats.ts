/** `/stats`, `/stats/last`, `/stats/session` and `/recent`. */
import { isPostgresUrl } from '../../stages/ledger/address.ts';
import { emptyTotals } from '../../stages/ledger/figures.ts';
import {
  byNameJson,
  lastJson,
  sessionJson,
  sessionSummaryJson,
  todayJson,
} from '../../stages/ledger/report.ts';
import { recentJson } from '../../stages/ledger/request-json.ts';
import { byServer, byToolJson } from '../../stages/ledger/tools/tool-totals.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';
import type { RouteSources } from './sources.ts';

export function statsRoutes(sources: RouteSources): Route[] {
  const { window, clock } = sources.services;
  // The ledger that is open: after a reload, a new address takes effect at the next start.
  const isShared = isPostgresUrl(sources.generations.current.config.ledger.db);
  return [
    getJson('/stats', () => stats(sources, isShared)),
    getJson('/stats/last', () => lastJson(window)),
    getJson('/stats/session', () => sessionSummaryJson(window, clock.wallMs())),
    getJson('/recent', () => ({ recent: window.recent().map(recentJson) })),
  ];
}

async function stats({ services, generations, ask, vault }: RouteSources, isShared: boolean) {
  const { window, clock, node } = services;
  const { compression, routing } = generations.current.config;
  // All zero if the ledger cannot be read, which `/health` reports.
  const { today, ofNode } = await ask(async (reader, queries) => ({
    today: await queries.totalsOfToday(reader, clock.wallMs()),
    ofNode: isShared ? await queries.totalsOfNodeToday(reader, clock.wallMs(), node) : undefined,
  })).catch(() => ({ today: emptyTotals(), ofNode: isShared ? emptyTotals() : undefined }));
  return {
    session: sessionJson(window),
    compilation_mode: compression.mode,
    vault_index: (await vault()).index,
    router: { enabled: routing.enabled },
    today: todayJson(today),
    /** Of this machine alone, if others share its ledger. */
    ...(ofNode !== undefined && { today_of_node: todayJson(ofNode) }),
    by_model: byNameJson(window.byModel()),
    /** Of the requests whose caller or project is known. */
    by_key: byNameJson(window.byKey()),
    by_project: byNameJson(window.byProject()),
    by_tool: byToolJson(window.byTool()),
    by_mcp_server: byToolJson(byServer(window.byTool())),
    recent: window.recent().map(recentJson),
  };
}
