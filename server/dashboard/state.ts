/**
 * The current state for open dashboards: the contents of `/health` and `/cache-stats`, and the
 * providers.
 */
import type { cacheStatsJson, sessionJson } from '../../stages/ledger/report.ts';
import type { ActiveAlert } from '../alerts/active.ts';
import type { statesJson } from '../facts/provider-states.ts';
import type { LimitJson } from '../facts/limits.ts';
import type { HealthJson } from '../routes/status.ts';

export interface LiveState {
  /** As in `/health`. */
  readonly health: HealthJson;
  /** As in `/stats` under `session`. */
  readonly session: ReturnType<typeof sessionJson>;
  /** As in `/cache-stats`. */
  readonly caches: ReturnType<typeof cacheStatsJson>;
  /** As in `svc provider-status --json`. */
  readonly providers: ReturnType<typeof statesJson>['providers'];
  /** Compression by class of text since the start, in tokens of the fixed estimator. */
  readonly classes: readonly {
    readonly class: string;
    readonly tokens_before: number;
    readonly tokens_after: number;
  }[];
  /**
   * As in `/limits`: plans first, fullest first; limited in number. Absent from older versions of
   * the proxy.
   */
  readonly limits?: readonly LimitJson[];
  /** Proxied requests in progress. */
  readonly running: number;
  /** Currently firing alerts. */
  readonly alerts: readonly ActiveAlert[];
}
