/**
 * Decides by rules where a request goes, and keeps a conversation where it is: a change of
 * model in the middle of one throws its provider's prompt cache away.
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
import type { RouteFacts, RouteRule, RuleTarget, RuleSet } from './rules.ts';
import { parseTarget } from './rules.ts';

/** Where a request is sent, and why. */
export interface RuleDecision {
  readonly target: RuleTarget;
  readonly ruleId: string;
  /** True if the conversation was there already and no rule matched this time. */
  readonly isKept: boolean;
}

/** The decision for one request, from the table above; pure. `knownId` is the rule that last placed the conversation. */
function decideByRules(
  rules: RuleSet,
  facts: RouteFacts,
  knownId: string | undefined,
): RuleDecision | undefined {
  const matched = rules.match(facts);
  const rule = matched ?? (knownId === undefined ? undefined : rules.get(knownId));
  const target = rule && parseTarget(rule.target);
  if (rule === undefined || target === undefined) return undefined;
  return { target, ruleId: rule.id, isKept: matched === undefined };
}

export type RuleRouter = ReturnType<typeof createRuleRouter>;

export interface RouterStats {
  readonly rules: number;
  readonly requests: number;
  readonly routed: number;
  /** Routed by requests, 0 to 1; `null` before the first: the dashboard's `smart_routing_hit_rate`. */
  readonly hitRate: number | null;
}

/** Conversations and counts. They outlive the rules, which a reload exchanges. */
export type RouterMemory = ReturnType<typeof createRouterMemory>;

/** Conversations remembered at least; at most twice as many are held. */
const MOST_CONVERSATIONS = 5_000;

/** A memory of no conversation. The least recently used half is forgotten when it is full. */
export function createRouterMemory(most = MOST_CONVERSATIONS) {
  let young = new Map<string, string>();
  let old = new Map<string, string>();
  let requests = 0;
  let routed = 0;
  return {
    /** The rule that last placed a conversation. */
    recall: (conversation: string): string | undefined =>
      young.get(conversation) ?? old.get(conversation),
    remember(conversation: string, ruleId: string): void {
      if (young.size >= most && !young.has(conversation)) {
        old = young;
        young = new Map();
      }
      young.set(conversation, ruleId);
    },
    count(isRouted: boolean): void {
      requests += 1;
      if (isRouted) routed += 1;
    },
    get requests(): number {
      return requests;
    },
    get routed(): number {
      return routed;
    },
  };
}

/** A router over `rules` (see `usableRules`), with a memory that may have served other rules before. */
export function createRuleRouter(rules: RuleSet, memory: RouterMemory) {
  return {
    /** Decides and remembers; undefined where the request stays with what it names. */
    decide(facts: RouteFacts, conversation: string | undefined): RuleDecision | undefined {
      if (rules.rules.length === 0) {
        memory.count(false);
        return undefined;
      }
      const key = conversation && `${conversation}\0${facts.model ?? ''}`;
      const known = key === undefined ? undefined : memory.recall(key);
      const decision = decideByRules(rules, facts, known);
      if (key !== undefined && decision !== undefined) {
        memory.remember(key, decision.ruleId);
      }
      memory.count(decision !== undefined);
      return decision;
    },
    /** How often it was asked and how often a rule decided, since the start. */
    stats: (): RouterStats => ({
      rules: rules.rules.length,
      requests: memory.requests,
      routed: memory.routed,
      hitRate: memory.requests === 0 ? null : memory.routed / memory.requests,
    }),
  };
}

/** The rules whose provider exists: what is handed to `toRuleSet`. */
export function usableRules(
  rules: readonly RouteRule[],
  providers: ReadonlySet<string>,
): RouteRule[] {
  return rules.filter((rule) => providers.has(parseTarget(rule.target)?.provider ?? ''));
}
