/**
 * Rules that send a request to a model other than the one it names: `svc route add`, and the smart
 * router's conditions on size, tools, thinking and remaining budget. Without rules nothing is
 * changed.
 */

/** A rule. All its conditions must hold; a rule without conditions matches every request. */
export interface RouteRule {
  /** Unique among the rules; letters, digits, `_` and `-`, at most 64. */
  readonly id: string;
  /**
   * The model that the request names, with `*` for any text and `?` for one character.
   * Case-insensitive.
   */
  readonly model?: string;
  /** Literal prefix of the model's name. Case-insensitive. */
  readonly prefix?: string;
  /** Estimated input tokens of the whole request, both bounds inclusive. */
  readonly minTokens?: number;
  readonly maxTokens?: number;
  readonly hasTools?: boolean;
  readonly hasThinking?: boolean;
  /**
   * Applies while less than this percentage of the day's budget is left; never without such a
   * budget.
   */
  readonly budgetBelowPercent?: number;
  /** The rule with the highest number is tried first; of equal ones the older. Default 0. */
  readonly priority: number;
  /** `provider/model`; the model may contain slashes. */
  readonly target: string;
}

/** Where a rule sends a request. */
export interface RuleTarget {
  readonly provider: string;
  readonly model: string;
}

/** The facts that rules check. */
export interface RouteFacts {
  /** The model that the request names; undefined matches no rule on models. */
  readonly model: string | undefined;
  /** May be a getter: it is only read for rules on size. */
  readonly inputTokens: number;
  readonly hasTools: boolean;
  readonly hasThinking: boolean;
  /** How much of the day's budget is left, 0 to 100; `null` without one. */
  readonly budgetLeftPercent: number | null;
}

/** Rules in the order in which they are tried. */
export type RuleSet = ReturnType<typeof toRuleSet>;

/** Sorts the rules by priority, older ones first among equals. */
export function toRuleSet(rules: readonly RouteRule[]) {
  const sorted = Object.freeze(rules.toSorted((a, b) => b.priority - a.priority));
  const byId = new Map(sorted.map((rule) => [rule.id, rule]));
  return {
    /** Returns the first rule that matches. A few tens of nanoseconds per rule. */
    match: (facts: RouteFacts): RouteRule | undefined =>
      sorted.find((rule) => isMatch(rule, facts)),
    /** Returns the rule with this id, if it is in the set. */
    get: (id: string): RouteRule | undefined => byId.get(id),
    rules: sorted,
  };
}

/** Returns the two parts of `provider/model`, or undefined if one of them is missing. */
export function parseTarget(target: string): RuleTarget | undefined {
  const slash = target.indexOf('/');
  if (slash <= 0 || slash === target.length - 1) return undefined;
  return { provider: target.slice(0, slash), model: target.slice(slash + 1) };
}

/**
 * Returns true if `text` matches `glob`: `*` matches any text, `?` one character, everything else
 * itself. Takes at most the product of both lengths, whatever the glob.
 */
export function isGlobMatch(glob: string, text: string): boolean {
  let star = -1;
  let resumeAt = 0;
  let g = 0;
  for (let t = 0; t < text.length;) {
    if (glob[g] === '*') {
      star = g;
      resumeAt = t;
      g += 1;
    } else if (g < glob.length && (glob[g] === '?' || glob[g] === text[t])) {
      g += 1;
      t += 1;
    } else if (star >= 0) {
      // Let the last star match one more character, and continue from there.
      resumeAt += 1;
      t = resumeAt;
      g = star + 1;
    } else return false;
  }
  while (glob[g] === '*') g += 1;
  return g === glob.length;
}

function isMatch(rule: RouteRule, facts: RouteFacts): boolean {
  const { budgetBelowPercent } = rule;
  if (!isModelMatch(rule, facts.model)) return false;
  if (rule.hasTools !== undefined && rule.hasTools !== facts.hasTools) return false;
  if (rule.hasThinking !== undefined && rule.hasThinking !== facts.hasThinking) return false;
  if (budgetBelowPercent !== undefined) {
    const { budgetLeftPercent } = facts;
    if (budgetLeftPercent === null || budgetLeftPercent >= budgetBelowPercent) return false;
  }
  return isSizeMatch(rule, facts);
}

/** Checked last, and only for rules on size: the estimate is the only expensive fact. */
function isSizeMatch({ minTokens, maxTokens }: RouteRule, facts: RouteFacts): boolean {
  if (minTokens === undefined && maxTokens === undefined) return true;
  const { inputTokens } = facts;
  return inputTokens >= (minTokens ?? 0) && inputTokens <= (maxTokens ?? Infinity);
}

function isModelMatch(rule: RouteRule, model: string | undefined): boolean {
  if (rule.model === undefined && rule.prefix === undefined) return true;
  if (model === undefined) return false;
  const name = model.toLowerCase();
  if (rule.prefix !== undefined && !name.startsWith(rule.prefix.toLowerCase())) return false;
  return rule.model === undefined || isGlobMatch(rule.model.toLowerCase(), name);
}
