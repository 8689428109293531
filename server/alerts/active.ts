/** The currently firing alerts, for the dashboard. */
import { alertText } from './evaluate.ts';
import type { AlertResult } from './evaluate.ts';

export interface ActiveAlert {
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly since: string | null;
  /** Description with the measured value and the limit. */
  readonly text: string;
}

export type ActiveAlerts = ReturnType<typeof createActiveAlerts>;

/** Creates the list, which is empty until the first evaluation. */
export function createActiveAlerts() {
  let active: readonly ActiveAlert[] = [];
  return {
    list: (): readonly ActiveAlert[] => active,
    /** Replaces the list with the results of an evaluation. */
    update(results: readonly AlertResult[]): void {
      active = results
        .filter(({ isFiring }) => isFiring)
        .map((result) => ({
          name: result.rule.name,
          since: result.sinceMs === null ? null : new Date(result.sinceMs).toISOString(),
          text: alertText(result),
        }));
    },
  };
}
