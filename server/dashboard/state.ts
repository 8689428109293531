/** The present state as open dashboards see it: what `/health` and `/cache-stats` answer, and the providers. */
import type { cacheStatsJson, sessionJson } from '../../stages/ledger/report.ts';
import type { ActiveAlert } from '../alerts/active.ts';
import type { statesJson } from '../facts/provider-states.ts';
import type { LimitJson } from '../facts/limits.ts';
import type { HealthJson } from '../routes/status.ts';

export interface LiveState {
  /** As `/health` answers. */
  readonly health: HealthJson;
  /** As `/stats` answers under `session`. */
  readonly session: ReturnType<typeof sessionJson>;
  /** As `/cache-stats` answers. */
  readonly caches: ReturnType<typeof cacheStatsJson>;
  /** As `svc provider-status --json` prints them. */
  readonly providers: ReturnType<typeof statesJson>['providers'];
  /** What compression saw of each class of text since the start, in tokens of the fixed estimator. */
  readonly classes: readonly {
    readonly class: string;
    readonly tokens_before: number;
    readonly tokens_after: number;
  }[];
  /** As `/limits` answers: plans first, the fullest first; not all of very many. A proxy of an older version says nothing. */
  readonly limits?: readonly LimitJson[];
  /** Proxied requests that run now. */
  readonly running: number;
  /** Alerts that fire now. */
  readonly alerts: readonly ActiveAlert[];
}
