/**
 * The router that a running proxy asks: it lives as long as the process, while the rules, the
 * providers and the switch change under it. It decides by rules where a request goes, and keeps a
 * conversation where it is: a change of model in the middle of one throws its provider's prompt
 * cache away.
 *
 * | rule matches | conversation is known | then                                              |
 * |--------------|-----------------------|---------------------------------------------------|
 * | yes          | no                    | the rule's target, remembered                     |
 * | yes          | yes                   | the rule's target, remembered: the rule says so   |
 * | no           | yes                   | the target of the rule that placed it last        |
 * | no           | no                    | no change                                         |
 *
 * A conversation is known by its hash and the model that it names: a user who picks another
 * model has shown otherwise. One whose rule was removed, or whose provider is gone, is new;
 * one whose rule was changed follows the change.
 */
import { LRUCache } from 'lru-cache';
import { parseTarget, toRuleSet } from './rules.ts';
import type { RouteFacts, RouteRule, RuleTarget } from './rules.ts';

/** Where a request is sent, and why. */
export interface RuleDecision {
  readonly target: RuleTarget;
  readonly ruleId: string;
  /** True if the conversation was there already and no rule matched this time. */
  readonly isKept: boolean;
}

/** What is asked of the router; `facts` and `conversation` are worked out only if a rule can decide. */
export interface RouteQuestion {
  readonly facts: () => RouteFacts;
  readonly conversation: () => string | undefined;
}

export interface LiveRouterSettings {
  /** `SVC_ROUTER_ENABLED`: off, no rule decides anything. */
  readonly enabled: boolean;
  /** Names of the providers that are there. */
  readonly providers: ReadonlySet<string>;
  readonly rules: readonly RouteRule[];
}

const NOTHING: LiveRouterSettings = { enabled: false, providers: new Set(), rules: [] };

export type LiveRouter = ReturnType<typeof createLiveRouter>;

/** A router without rules, which remembers `most` conversations; those outlive the rules. */
export function createLiveRouter(most = 10_000) {
  /** The rule that last placed a conversation. Bounded by size: with `max`, room for all is taken at once. */
  const memory = new LRUCache<string, string>({ maxSize: most, sizeCalculation: () => 1 });
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
    /** The decision for one request, from the table above; undefined where it stays with what it names. */
    decide({ facts, conversation }: RouteQuestion): RuleDecision | undefined {
      requests += 1;
      const isAsked = rules.rules.length > 0;
      const decision = isAsked ? decideBy(facts(), conversation()) : undefined;
      if (decision !== undefined) routed += 1;
      return decision;
    },
    /** Takes over rules; those of unknown providers wait until their provider is there. */
    configure,
    /** Exchanges the rules alone. */
    use: (next: readonly RouteRule[]): void => configure({ ...settings, rules: next }),
    /** What `/health` and the dashboard show: how often it was asked since the start, and a rule decided. */
    view: () => ({
      enabled: settings.enabled,
      /** Rules that were read, those whose provider is missing included. */
      loaded: settings.rules.length,
      /** Those that may decide. */
      rules: rules.rules.length,
      requests,
      routed,
      /** Routed by requests, 0 to 1; `null` before the first: the dashboard's `smart_routing_hit_rate`. */
      hitRate: requests === 0 ? null : routed / requests,
    }),
  };
}

/** The rules whose provider exists. */
export function usableRules(
  rules: readonly RouteRule[],
  providers: ReadonlySet<string>,
): RouteRule[] {
  return rules.filter((rule) => providers.has(parseTarget(rule.target)?.provider ?? ''));
}
