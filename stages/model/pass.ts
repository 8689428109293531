/**
 * The slot by which stages before `compress` take part in its one pass over a conversation: they
 * add rules and settings to the request as data, and `compress` runs all of them together, so that
 * references, budget and memory exist once.
 */

/** Recipes that run together, in their order, before the built-in rules. */
export interface RecipeSet {
  /** Differs where what any of them does differs. */
  readonly id: string;
  /** `Recipe[]` as JSON: cheap to hand to a thread. */
  readonly source: string;
  /** True where patterns that a user or a plugin wrote are among them: those never run on the event loop. */
  readonly isOwn: boolean;
}

/** Settings of the rules that can hold for some requests in place of the configured ones. */
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
  /** They run before those of later parts; where two have one name, the first of them runs. */
  readonly recipes?: RecipeSet;
  /** They hold in place of those of earlier parts and of the configuration. */
  readonly settings?: RuleSettings;
  /**
   * Present where the request itself asked for the part: then it holds from this request on, also in
   * a conversation that began without it. Differs where the part does.
   */
  readonly requestedAs?: string;
}

/** What stages have added, in the order of the graph. */
export type Pass = readonly PassPart[];

export const NO_PASS: Pass = Object.freeze([]);
