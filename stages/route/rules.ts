/**
 * Rules that send a request to another model than the one it names: `svc route add`, and
 * the smart router's conditions on size, tools, thinking and the budget that is left.
 * Without rules nothing is changed.
 */

/** A rule. All conditions that it states must hold; one that states none matches every request. */
export interface RouteRule {
  /** Unique among the rules; letters, digits, `_` and `-`, at most 64. */
  readonly id: string;
  /** The model that the request names, with `*` for any text and `?` for one character. Case does not matter. */
  readonly model?: string;
  /** What the model's name begins with, taken as it stands. Case does not matter. */
  readonly prefix?: string;
  /** Input tokens as estimated for the whole request, both ends included. */
  readonly minTokens?: number;
  readonly maxTokens?: number;
  readonly hasTools?: boolean;
  readonly hasThinking?: boolean;
  /** Holds while less than this percentage of the day's budget is left; never without such a budget. */
  readonly budgetBelowPercent?: number;
  /** The rule with the highest number is tried first; of equal ones the older. Default 0. */
  readonly priority: number;
  /** `provider/model`; the model may hold slashes itself. */
  readonly target: string;
}

/** Where a rule sends a request. */
export interface RuleTarget {
  readonly provider: string;
  readonly model: string;
}

/** What rules look at. */
export interface RouteFacts {
  /** The model that the request names; undefined matches no rule on models. */
  readonly model: string | undefined;
  /** May be a getter: it is read only for rules on size. */
  readonly inputTokens: number;
  readonly hasTools: boolean;
  readonly hasThinking: boolean;
  /** How much of the day's budget is left, 0 to 100; `null` without one. */
  readonly budgetLeftPercent: number | null;
}

/** Rules in the order in which they are tried, ready to be asked. */
export type RuleSet = ReturnType<typeof toRuleSet>;

/** The rules sorted by priority, older ones first among equals. */
export function toRuleSet(rules: readonly RouteRule[]) {
  const sorted = Object.freeze(rules.toSorted((a, b) => b.priority - a.priority));
  const byId = new Map(sorted.map((rule) => [rule.id, rule]));
  return {
    /** The first rule that matches. A few tens of nanoseconds a rule. */
    match: (facts: RouteFacts): RouteRule | undefined =>
      sorted.find((rule) => isMatch(rule, facts)),
    /** The rule with this id, if it is in the set. */
    get: (id: string): RouteRule | undefined => byId.get(id),
    rules: sorted,
  };
}

/** The two parts of `provider/model`, or undefined if one of them is missing. */
export function parseTarget(target: string): RuleTarget | undefined {
  const slash = target.indexOf('/');
  if (slash <= 0 || slash === target.length - 1) return undefined;
  return { provider: target.slice(0, slash), model: target.slice(slash + 1) };
}

/**
 * True if `text` is what `glob` describes: `*` stands for any text, `?` for one character,
 * all else for itself. Takes at most the product of both lengths, whatever the glob.
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
      // Let the last star swallow one more character, and go on from there.
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

/** Last, and only where a rule speaks of size: the estimate is the one fact that takes work. */
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
