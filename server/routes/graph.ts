/** `/graph`: the compiled graph that requests and responses currently pass through. */
import { describePlan } from '../../engine/index.ts';
import type { Generations } from '../generation/generation.ts';
import { graphJson } from '../graph/json.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';

export function graphRoutes(generations: Pick<Generations, 'current'>): Route[] {
  return [
    getJson('/graph', () => {
      const { plan, plugins } = generations.current;
      return graphJson(describePlan(plan), plugins);
    }),
  ];
}
