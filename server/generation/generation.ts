/**
 * A generation is one configuration with the plan compiled from it. A run keeps the generation that
 * it started with, so a reload does not affect running requests.
 */
import type { RecipeSet } from '../../stages/model/pass.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import type { Provider } from '../../stages/providers/provider.ts';
import type { Config } from '../config/config.ts';
import type { Cors } from '../http/cors.ts';
import type { InterceptedHosts } from '../forward-proxy/intercepted-hosts.ts';
import type { Gate } from '../gate/gate.ts';
import type { LoadedPlugin } from '../../plugins/load-plugins.ts';
import type { Plans } from './plans.ts';
import type { CustomProviders } from './plugins.ts';

export interface Generation extends Plans {
  readonly number: number;
  readonly config: Config;
  /** All usable providers, by name. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** The code providers among them, and the faults of unusable ones. */
  readonly custom: CustomProviders;
  /** The plugins that added stages. */
  readonly plugins: readonly LoadedPlugin[];
  /** Recipes that compression runs; undefined if there are none. */
  readonly recipes: RecipeSet | undefined;
  /** The macros of the configuration, by their ids. */
  readonly macros: readonly string[];
  /** Token prices, including the user's own. */
  readonly prices: Prices;
  readonly gate: Gate;
  readonly cors: Cors;
  /** Hosts that forward mode opens, if an authority vouches for them. */
  readonly intercepted: InterceptedHosts;
  /**
   * Applies this configuration's values to shared state (limits, keys, routing rules, log level).
   */
  activate(): void;
}

/** True if a plugin has a stage in the graph, which may be there to block something. */
export function isGuarded({ plugins }: Pick<Generation, 'plugins'>): boolean {
  return plugins.some(({ insertions }) => insertions.length > 0);
}

export type Generations = ReturnType<typeof createGenerations>;

/** Starts with `first`, which it activates. */
export function createGenerations(first: Generation) {
  let current = first;
  first.activate();
  return {
    get current(): Generation {
      return current;
    },
    /** Activates `next` and makes it current. */
    swap(next: Generation): void {
      next.activate();
      current = next;
    },
  };
}
