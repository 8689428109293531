/**
 * A generation is one configuration with the plan made from it. A run keeps the
 * generation that it began with, so a reload changes nothing under way.
 */
import type { RecipeSet } from '../../stages/model/pass.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import type { Provider } from '../../stages/providers/provider.ts';
import type { Config } from '../config/config.ts';
import type { Cors } from '../http/cors.ts';
import type { OpenedHosts } from '../forward-proxy/opened-hosts.ts';
import type { Gate } from '../gate/gate.ts';
import type { LoadedPlugin } from '../../plugins/load-plugins.ts';
import type { Plans } from './plans.ts';
import type { CustomProviders } from './plugins.ts';

export interface Generation extends Plans {
  readonly number: number;
  readonly config: Config;
  /** Every provider that can be asked, by name. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Those of them that are code, and what is wrong with the others. */
  readonly custom: CustomProviders;
  /** What brought stages of its own. */
  readonly plugins: readonly LoadedPlugin[];
  /** The recipes that compression runs; undefined where it runs none. */
  readonly recipes: RecipeSet | undefined;
  /** The macros of the configuration, by their ids. */
  readonly macros: readonly string[];
  /** What tokens cost, the user's own prices included. */
  readonly prices: Prices;
  readonly gate: Gate;
  readonly cors: Cors;
  /** The hosts that forward mode opens, if an authority vouches for them. */
  readonly opened: OpenedHosts;
  /** Gives what generations share (limits, keys, routing rules, log level) this configuration's values. */
  activate(): void;
}

/** True if a plugin has a stage in the graph: it may be there to hold something back. */
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
