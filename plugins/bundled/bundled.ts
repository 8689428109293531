/**
 * Plugins that come with the program. They add to the graph what the configuration names and is not
 * a plugin module itself (recipes, macros, custom providers), in the same way as any plugin.
 */
import type { Insertion } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';

export interface BundledPlugin {
  readonly name: string;
  readonly insertions: readonly Insertion<ProxyFrame>[];
}

/**
 * Closest to `compress`: after every stage of other plugins placed before it. Macros come before
 * recipes, so that theirs run first; a macro named by a request is the last macro.
 */
export const ORDER = { macro: 1_000_000, requestedMacro: 2_000_000, recipes: 3_000_000 } as const;
