/**
 * Plugins that come with the program. What the configuration names that is no module of its own
 * (recipes, macros, providers that are code) is put into the graph by them, in the way of every plugin.
 */
import type { Insertion } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';

export interface BundledPlugin {
  readonly name: string;
  readonly insertions: readonly Insertion<ProxyFrame>[];
}

/**
 * Nearest to `compress`: behind every stage of other plugins that stands before it. Macros come
 * before recipes, so that theirs run first; one that a request names is the last of them.
 */
export const ORDER = { macro: 1_000_000, requestedMacro: 2_000_000, recipes: 3_000_000 } as const;
