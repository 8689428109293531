/** Providers: condition, circuit breaker, keys with their cooldowns, and the traffic of each. */
import { KEY_COLUMNS } from '../../server/dashboard/page/requests/columns.ts';
import { providerFacts } from '../../server/dashboard/page/conditions.ts';
import { conditionOf } from '../../server/words/problems.ts';
import type { Colors } from '../screen/colors.ts';
import { facts, grid, withoutControls, paintOf } from './grid.ts';
import type { Model } from './model.ts';

export function providersView({ live, report }: Model, width: number, colors: Colors): string[] {
  if (live === undefined) return ['Loading…'];
  return Object.entries(live.providers).flatMap(([name, provider]) => {
    const [word, tone] = conditionOf(provider);
    const sums = report?.by_provider.find((group) => group.name === name);
    const keys =
      provider.keys.length === 0 ? [] : grid(KEY_COLUMNS, provider.keys, width - 2, colors);
    return [
      `${colors.bold(withoutControls(name))}  ${paintOf(tone, colors)(word)}`,
      ...facts(
        providerFacts(provider, sums).map(([what, value]) => [`  ${what}`, value]),
        colors,
      ),
      ...keys.map((line) => `  ${line}`),
      '',
    ];
  });
}
