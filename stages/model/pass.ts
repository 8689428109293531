/**
 * The slot by which stages before `compress` take part in its single pass over a conversation: they
 * add rules and settings to the request as data, and `compress` runs all of them together, so that
 * references, budget and memory exist once.
 */

/** Recipes that run together, in their order, before the built-in rules. */
export interface RecipeSet {
  /** Differs whenever the effect of any of them differs. */
  readonly id: string;
  /** `Recipe[]` as JSON: cheap to send to a thread. */
  readonly source: string;
  /**
   * True if they include patterns written by a user or a plugin: those never run on the event loop.
   */
  readonly isOwn: boolean;
}

/** Rule settings that can override the configured ones for some requests. */
export interface RuleSettings {
  readonly mode?: 'strict' | 'hybrid' | 'aggressive';
  readonly maxChars?: number;
  readonly thresholdTokens?: number;
  readonly logBudgetTokens?: number;
  readonly userProse?: boolean;
  readonly longResultsTokens?: number;
  readonly tools?: 'off' | 'trim';
}

/** What one stage adds to the pass. */
export interface PassPart {
  /** They run before those of later parts; of two with the same name, the first runs. */
  readonly recipes?: RecipeSet;
  /** They override those of earlier parts and of the configuration. */
  readonly settings?: RuleSettings;
  /**
   * Present if the request itself asked for the part: it then applies from this request on, even in
   * a conversation that began without it. Differs whenever the part does.
   */
  readonly requestedAs?: string;
}

/** What stages have added, in the order of the graph. */
export type Pass = readonly PassPart[];

export const NO_PASS: Pass = Object.freeze([]);
