/**
 * The router that a running proxy asks: it lives as long as the process, while the rules,
 * the providers and the switch change under it. What it remembers of conversations stays.
 */
import { createRouterMemory, createRuleRouter, usableRules } from './rules-router.ts';
import type { RouterStats, RuleDecision, RuleRouter } from './rules-router.ts';
import { toRuleSet } from './rules.ts';
import type { RouteFacts, RouteRule } from './rules.ts';

/** What is asked of the router; `facts` and `conversation` are worked out only if a rule can decide. */
export interface RouteQuestion {
  readonly facts: () => RouteFacts;
  readonly conversation: () => string | undefined;
}

export type LiveRouter = ReturnType<typeof createLiveRouter>;

export interface LiveRouterSettings {
  /** `SVC_ROUTER_ENABLED`: off, no rule decides anything. */
  readonly enabled: boolean;
  /** Names of the providers that are there. */
  readonly providers: ReadonlySet<string>;
  readonly rules: readonly RouteRule[];
}

/** What `/health` and the dashboard show. */
export interface RouterView extends RouterStats {
  readonly enabled: boolean;
  /** Rules that were read, those whose provider is missing included. */
  readonly loaded: number;
}

const NOTHING: LiveRouterSettings = { enabled: false, providers: new Set(), rules: [] };

/** A router without rules. */
export function createLiveRouter() {
  const memory = createRouterMemory();
  let settings = NOTHING;
  let router: RuleRouter = createRuleRouter(toRuleSet([]), memory);

  function configure(next: LiveRouterSettings): void {
    settings = next;
    const usable = next.enabled ? usableRules(next.rules, next.providers) : [];
    router = createRuleRouter(toRuleSet(usable), memory);
  }

  return {
    /** The decision for one request; undefined where it stays with what it names. */
    decide({ facts, conversation }: RouteQuestion): RuleDecision | undefined {
      if (router.stats().rules > 0) return router.decide(facts(), conversation());
      memory.count(false);
      return undefined;
    },
    /** Takes over rules; those of unknown providers wait until their provider is there. */
    configure,
    /** Exchanges the rules alone. */
    use: (rules: readonly RouteRule[]): void => configure({ ...settings, rules }),
    view: (): RouterView => ({
      ...router.stats(),
      enabled: settings.enabled,
      loaded: settings.rules.length,
    }),
  };
}
