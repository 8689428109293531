/** `/limits`: how much of each credential's plan and rate limits is used. */
import type { PlanLimits } from '../../stages/limits/plan-limits.ts';
import { limitsJson } from '../facts/limits.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';

export function limitRoutes(planLimits: PlanLimits): Route[] {
  return [getJson('/limits', () => limitsJson(planLimits))];
}
