/** The alerts that fire now, as the dashboard shows them. */
import { alertText } from './evaluate.ts';
import type { AlertResult } from './evaluate.ts';

export interface ActiveAlert {
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly since: string | null;
  /** In words, with what was measured and the limit. */
  readonly text: string;
}

export type ActiveAlerts = ReturnType<typeof createActiveAlerts>;

/** None until the first evaluation. */
export function createActiveAlerts() {
  let active: readonly ActiveAlert[] = [];
  return {
    list: (): readonly ActiveAlert[] => active,
    /** Takes the results of an evaluation. */
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
