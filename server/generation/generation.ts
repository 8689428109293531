/**
 * A generation is one configuration with the plan made from it. A run keeps the
 * generation that it began with, so a reload changes nothing under way; the
 * last run to leave an old generation closes it.
 */
import type { Plan } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import type { RecipeSet } from '../../stages/compress/recipe/recipe.ts';
import type { Prices } from '../../stages/ledger/prices.ts';
import type { Provider } from '../../stages/providers/provider.ts';
import type { Config } from '../config/config.ts';
import type { Cors } from '../http/cors.ts';
import type { Gate } from '../gate/gate.ts';
import type { LoadedPlugin } from '../../plugins/load-plugins.ts';
import type { CustomProviders } from './plugins.ts';

export interface Generation {
  readonly number: number;
  readonly config: Config;
  readonly plan: Plan<ProxyFrame>;
  /** Every provider that can be asked, by name. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Those of them that are code, and what is wrong with the others. */
  readonly custom: CustomProviders;
  /** What brought stages of its own. */
  readonly plugins: readonly LoadedPlugin[];
  /** The recipes that compression runs; undefined where it runs none. */
  readonly recipes: RecipeSet | undefined;
  /** What tokens cost, the user's own prices included. */
  readonly prices: Prices;
  readonly gate: Gate;
  readonly cors: Cors;
  /** Gives what generations share (limits, keys, routing rules, log level) this configuration's values. */
  activate(): void;
}

export interface Generations {
  readonly current: Generation;
  /** Keeps the current generation open until the returned function is called. */
  pin(): { generation: Generation; release: () => void };
  /** Activates `next` and makes it current; the former one closes with its last run. */
  swap(next: Generation): void;
}

/** Starts with `first`, which it activates; `onClosed` gets every generation that no run uses any more. */
export function createGenerations(
  first: Generation,
  onClosed: (generation: Generation) => void = () => undefined,
): Generations {
  let current: Pinned = { generation: first, pins: 0 };
  first.activate();

  function unpin(pinned: Pinned): void {
    pinned.pins -= 1;
    if (pinned.pins === 0 && pinned !== current) onClosed(pinned.generation);
  }

  return {
    get current() {
      return current.generation;
    },
    pin() {
      const pinned = current;
      pinned.pins += 1;
      return { generation: pinned.generation, release: () => unpin(pinned) };
    },
    swap(next) {
      next.activate();
      const former = current;
      current = { generation: next, pins: 0 };
      if (former.pins === 0) onClosed(former.generation);
    },
  };
}

interface Pinned {
  readonly generation: Generation;
  /** Runs that use it. */
  pins: number;
}
