/**
 * The router of a running proxy: it lives as long as the process, while rules, providers and the
 * switch change. It decides by rules where a request goes, and keeps a conversation where it is:
 * changing the model within one loses its provider's prompt cache.
 *
 * | rule matches | conversation is known | then                                              |
 * |--------------|-----------------------|---------------------------------------------------|
 * | yes          | no                    | the rule's target, remembered                     |
 * | yes          | yes                   | the rule's target, remembered: the rule says so   |
 * | no           | yes                   | the target of the rule that placed it last        |
 * | no           | no                    | no change                                         |
 *
 * A conversation is identified by its hash and the model that it names: picking another model is
 * the user's decision. One whose rule was removed, or whose provider is gone, is new; one whose
 * rule was changed follows the change.
 */
import { LRUCache } from 'lru-cache';
import { parseTarget, toRuleSet } from './rules.ts';
import type { RouteFacts, RouteRule, RuleTarget } from './rules.ts';

/** Where a request is sent, and why. */
export interface RuleDecision {
  readonly target: RuleTarget;
  readonly ruleId: string;
  /** True if the conversation is known and no rule matched this time. */
  readonly isKept: boolean;
}

/** Input of the router; `facts` and `conversation` are only computed if a rule can decide. */
export interface RouteQuestion {
  readonly facts: () => RouteFacts;
  readonly conversation: () => string | undefined;
}

export interface LiveRouterSettings {
  /** `SVC_ROUTER_ENABLED`: if off, no rule applies. */
  readonly enabled: boolean;
  /** Names of the existing providers. */
  readonly providers: ReadonlySet<string>;
  readonly rules: readonly RouteRule[];
}

const NOTHING: LiveRouterSettings = { enabled: false, providers: new Set(), rules: [] };

export type LiveRouter = ReturnType<typeof createLiveRouter>;

/**
 * Creates a router without rules, which remembers `max` conversations; those outlive the rules.
 */
export function createLiveRouter(max = 10_000) {
  /**
   * The rule that last placed a conversation. Bounded by size: with `max`, room for all is
   * allocated at once.
   */
  const memory = new LRUCache<string, string>({ maxSize: max, sizeCalculation: () => 1 });
  let settings = NOTHING;
  let rules = toRuleSet([]);
  let requests = 0;
  let routed = 0;

  function configure(next: LiveRouterSettings): void {
    settings = next;
    rules = toRuleSet(next.enabled ? usableRules(next.rules, next.providers) : []);
  }

  function decideBy(facts: RouteFacts, conversation: string | undefined): RuleDecision | undefined {
    const key = conversation && `${conversation}\0${facts.model ?? ''}`;
    const known = key === undefined ? undefined : memory.get(key);
    const matched = rules.match(facts);
    const rule = matched ?? (known === undefined ? undefined : rules.get(known));
    const target = rule && parseTarget(rule.target);
    if (rule === undefined || target === undefined) return undefined;
    if (key !== undefined) memory.set(key, rule.id);
    return { target, ruleId: rule.id, isKept: matched === undefined };
  }

  return {
    /**
     * Returns the decision for one request, from the table above; undefined if its own model stays.
     */
    decide({ facts, conversation }: RouteQuestion): RuleDecision | undefined {
      requests += 1;
      const isAsked = rules.rules.length > 0;
      const decision = isAsked ? decideBy(facts(), conversation()) : undefined;
      if (decision !== undefined) routed += 1;
      return decision;
    },
    /** Applies rules; those of unknown providers wait until their provider exists. */
    configure,
    /** Replaces only the rules. */
    use: (next: readonly RouteRule[]): void => configure({ ...settings, rules: next }),
    /**
     * Returns the state for `/health` and the dashboard: requests and routed requests since the
     * start.
     */
    view: () => ({
      enabled: settings.enabled,
      /** Rules that were read, including those whose provider is missing. */
      loaded: settings.rules.length,
      /** Rules that may apply. */
      rules: rules.rules.length,
      requests,
      routed,
      /**
       * Routed share of requests, 0 to 1; `null` before the first: the dashboard's
       * `smart_routing_hit_rate`.
       */
      hitRate: requests === 0 ? null : routed / requests,
    }),
  };
}

/** Returns the rules whose provider exists. */
export function usableRules(
  rules: readonly RouteRule[],
  providers: ReadonlySet<string>,
): RouteRule[] {
  return rules.filter((rule) => providers.has(parseTarget(rule.target)?.provider ?? ''));
}
