/** The file of route rules in the home folder, and the commands that change it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import type { LiveRouter } from '../../stages/route/rules-router.ts';
import { createRuleStore } from '../../stages/route/rules-store.ts';
import type { NewRule, RuleStore } from '../../stages/route/rules-store.ts';
import type { RouteRule } from '../../stages/route/rules.ts';
import { writePrivateFile } from '../config/home.ts';
import { isObject } from '../../stages/dialect/json-kind.ts';

/** Returns the path of a home folder's rules. */
export function routeRulesFile(home: string): string {
  return join(home, 'routes.json');
}

/** Opens the rules of a home folder; `providers` returns the providers that a rule may target. */
export function openRouteRules(home: string, providers: () => readonly string[]): RuleStore {
  const path = routeRulesFile(home);
  return createRuleStore({
    file: { path, read: () => readIfThere(path), write: (text) => writePrivateFile(path, text) },
    providers,
  });
}

/** A command of `svc route`. */
export type RouteCommand =
  | { readonly do: 'list' }
  | { readonly do: 'add'; readonly rule: NewRule }
  | { readonly do: 'remove'; readonly id: string };

/** The current rules, and the one that was added or removed. */
export interface RouteResult {
  readonly rules: readonly RouteRule[];
  /** Rules whose provider no longer exists: they have no effect until it is back. */
  readonly leftAside: readonly RouteRule[];
  readonly changed?: RouteRule;
}

/**
 * Runs a route command on the file and, in a running proxy, applies the rules to `router` at once.
 * Throws `bad_request` with every fault of a rule, `not_found`, and CONFIG_001 for a damaged file.
 */
export function doRouteCommand(
  store: RuleStore,
  command: RouteCommand,
  router?: LiveRouter,
): RouteResult {
  const changed = change(store, command);
  const rules = store.list();
  router?.use(rules);
  const status = { rules, leftAside: store.ignoredRules(rules) };
  return changed === undefined ? status : { ...status, changed };
}

function change(store: RuleStore, command: RouteCommand): RouteRule | undefined {
  if (command.do === 'add') return store.add(command.rule);
  if (command.do === 'remove') return store.remove(command.id);
  return undefined;
}

/** Parses a command from the control socket. Throws `bad_request` for an invalid one. */
export function toRouteCommand(input: unknown): RouteCommand {
  if (typeof input === 'object' && input !== null && 'do' in input) {
    if (input.do === 'list') return { do: 'list' };
    if (input.do === 'add' && 'rule' in input && isObject(input.rule)) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store checks every part of it
      return { do: 'add', rule: input.rule as NewRule };
    }
    if (input.do === 'remove' && 'id' in input && typeof input.id === 'string') {
      return { do: 'remove', id: input.id };
    }
  }
  throw new SvcError('bad_request', 'route takes list, add with a rule, or remove with an id');
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SvcError('config', `Cannot read ${path}`, { code: 'CONFIG_001', cause });
  }
}
