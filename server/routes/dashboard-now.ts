/**
 * `/dashboard/api/stages` and `/dashboard/api/recipes`: the work of stages and recipes since the
 * start, for the dashboard.
 */
import type { ChangeCount } from '../../stages/originals/change-counts.ts';
import { roundedMs } from '../../stages/ledger/figures.ts';
import type { Generation } from '../generation/generation.ts';
import { runningRecipes } from '../graph/recipes.ts';
import type { RunningRecipe } from '../graph/recipes.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';
import type { RouteSources } from './sources.ts';

/** Period over which the request rate is measured, from the traces still kept. */
const RATE_MS = 60_000;

/** `/dashboard/api/stages`. */
export type StagesJson = ReturnType<typeof stagesJson>;

/** `/dashboard/api/recipes`. */
export type RecipesJson = Awaited<ReturnType<typeof recipesJson>>;

type Sources = Pick<RouteSources, 'services' | 'generations'>;

export function dashboardNowRoutes({ services, generations }: Sources): Route[] {
  // The files are read once per configuration.
  let known: { readonly of: Generation; readonly recipes: readonly RunningRecipe[] } | undefined;
  const recipes = async () => {
    const { current } = generations;
    if (known?.of !== current)
      known = { of: current, recipes: await runningRecipes(current.config, current.plugins) };
    return recipesJson(known.recipes, services.originals.changes());
  };
  return [
    getJson('/dashboard/api/stages', () => stagesJson({ services })),
    getJson('/dashboard/api/recipes', recipes),
  ];
}

/** Returns the stages of the newest requests, whose traces are kept. */
function stagesJson({ services: { traces, clock } }: Pick<Sources, 'services'>) {
  const nowMs = clock.wallMs();
  const { runs, startsMs, stages } = traces.stageTimes();
  const recent = startsMs.filter((atMs) => atMs >= nowMs - RATE_MS);
  const oldestMs = Math.min(...recent);
  // If every kept trace is within the period, the rate is that of the kept traces.
  const spanMs = recent.length === runs && runs > 1 ? Math.max(nowMs - oldestMs, 1000) : RATE_MS;
  return {
    /** Number of requests behind the figures. */
    requests: runs,
    requests_per_second: (recent.length * 1000) / spanMs,
    stages: stages.map(({ node, within = null, runs: times, busyMs }) => ({
      node,
      /** The stage whose time includes this one's; null for most. */
      within,
      requests: times,
      /**
       * Time inside the stage, summed over requests; in `forward` that is mostly the provider's.
       */
      busy_ms: roundedMs(busyMs),
    })),
  };
}

async function recipesJson(recipes: readonly RunningRecipe[], changes: readonly ChangeCount[]) {
  const byName = new Map(changes.map((change) => [change.by, change]));
  const named = recipes.map((recipe) => ({
    ...recipe,
    ...figuresOf(byName.get(`recipe:${recipe.name}`)),
  }));
  const listed = new Set(recipes.map(({ name }) => `recipe:${name}`));
  const others = changes
    .filter(({ by }) => !listed.has(by))
    .map((recipe) => ({
      node: null,
      name: recipe.by,
      from: recipe.by.startsWith('recipe:') ? 'no longer runs' : 'built in',
      description: null,
      ...figuresOf(recipe),
    }));
  return { recipes: [...named, ...others] };
}

function figuresOf(count: ChangeCount | undefined) {
  const { requests, blocks, tokensBefore, tokensAfter, on } = count ?? NOTHING;
  return {
    requests,
    blocks,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    /** What was changed: tools and classes of text, most tokens saved first. */
    on: on.map((use) => ({
      name: use.name,
      blocks: use.blocks,
      tokens_before: use.tokensBefore,
      tokens_after: use.tokensAfter,
    })),
  };
}

const NOTHING: Omit<ChangeCount, 'by'> = {
  requests: 0,
  blocks: 0,
  tokensBefore: 0,
  tokensAfter: 0,
  on: [],
};
