/** `svc route list|add|remove`: rules that send requests to a different model than they name. */
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import type { RouteCommand, RouteResult } from '../../server/generation/route-rules.ts';
import type { NewRule } from '../../stages/route/rules-store.ts';
import type { RouteRule } from '../../stages/route/rules.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { controlIfRunning } from '../remote.ts';

/** Result of a command, and whether a running proxy already uses it. */
interface Done extends RouteResult {
  readonly enabled: boolean;
  readonly isRunning: boolean;
}

/** Longest wait for a concurrent change of the rules. */
const RULES_LOCK = { timeoutMs: 10_000 };

abstract class RouteCommands extends SvcCommand {
  config = Option.String('--config', { description: 'Config file, used when no proxy is running' });
  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  /**
   * Runs the command in the running proxy, which applies the rules at once; without one, changes
   * the file.
   */
  protected async do(command: RouteCommand): Promise<Done> {
    const { context, home } = this;
    const changed = await controlIfRunning<Omit<Done, 'isRunning'>>(home, 'route', command);
    if (changed !== undefined) return { ...changed, isRunning: true };
    const [
      { config },
      { ensureHome },
      { configuredPlugins },
      { doRouteCommand, openRouteRules, routeRulesFile },
      { underLock },
    ] = await Promise.all([
      configInUse(this.config, context),
      import('../../server/config/home.ts'),
      import('../../server/generation/configured-plugins.ts'),
      import('../../server/generation/route-rules.ts'),
      import('../../stages/lock.ts'),
    ]);
    const plugins = await configuredPlugins(config, context.clock);
    const code = [...config.customProviders, ...plugins.flatMap(({ providers }) => providers)];
    const names = [...Object.keys(config.providers), ...code.map(({ name }) => name)];
    const store = openRouteRules(home, () => names);
    const routing = { enabled: config.routing.enabled, isRunning: false };
    if (command.do === 'list') return { ...doRouteCommand(store, command), ...routing };
    ensureHome(home);
    const alone = async () => doRouteCommand(store, command);
    return { ...(await underLock(`${routeRulesFile(home)}.lock`, alone, RULES_LOCK)), ...routing };
  }

  /** Reports the change of a rule, and when it takes effect. */
  protected report(verb: string, { changed, enabled, isRunning }: Done): void {
    if (this.json) this.printJson(changed === undefined ? null : ruleJson(changed));
    else if (changed !== undefined) this.print(`${verb} ${changed.id}: ${sentence(changed)}`);
    if (!enabled) this.note(ROUTER_OFF);
    else if (isRunning) this.note('The running proxy uses the change from now on.');
  }
}

const ROUTER_OFF = 'The router is off (`SVC_ROUTER_ENABLED`): no rule is applied.';

class RouteList extends RouteCommands {
  static override paths = [['route', 'list']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'The rules in the order in which they are tried',
    examples: [['Look', '$0 route list']],
  });

  async execute() {
    const { rules, leftAside, enabled } = await this.do({ do: 'list' });
    const sorted = rules.toSorted((a, b) => b.priority - a.priority);
    for (const { id, target } of leftAside) {
      const [provider] = target.split('/', 1);
      this.note(`! ${id} has no effect: there is no provider '${provider}'`);
    }
    if (this.json) return this.printJson({ enabled, rules: sorted.map(ruleJson) });
    if (sorted.length === 0) this.note('No rules. `svc route add --help` shows how to make one.');
    else {
      const rows = sorted.map((rule) => [
        rule.id,
        String(rule.priority),
        conditions(rule),
        rule.target,
      ]);
      this.printTable(['id', '>priority', 'requests', 'go to'], rows);
    }
    if (!enabled) this.note(ROUTER_OFF);
  }
}

class RouteAdd extends RouteCommands {
  static override paths = [['route', 'add']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Send matching requests to another model',
    details:
      'All conditions that are given must hold; without any, every request matches. Of the rules that match, the one with the highest priority wins, of equal ones the older. A conversation stays where a rule put it until another rule matches. Requests that must be sent unchanged (`x-svc-bypass`, `svc pause`) follow no rule; a subscription’s follow one to any provider but their own.',
    examples: [
      [
        'A cheaper model for small requests',
        '$0 route add --model "claude-*" --max-tokens 2000 --target messages/claude-haiku-4-5',
      ],
      [
        'A local model where no tools are needed',
        '$0 route add --no-tools --target local/llama-3.3',
      ],
      [
        'Save money at the end of the day’s budget',
        '$0 route add --budget-below 20 --priority 10 --target messages/claude-haiku-4-5',
      ],
    ],
  });

  target = Option.String('--target', { required: true, description: 'Where to: provider/model' });
  model = Option.String('--model', { description: 'The requested model; * and ? are wildcards' });
  prefix = Option.String('--prefix', { description: 'How the name of the requested model begins' });
  minTokens = Option.String('--min-tokens', {
    description: 'At least this many input tokens (estimate)',
  });
  maxTokens = Option.String('--max-tokens', {
    description: 'At most this many input tokens (estimate)',
  });
  tools = Option.Boolean('--tools', { description: 'Only with tools; --no-tools only without' });
  thinking = Option.Boolean('--thinking', {
    description: 'Only with thinking; --no-thinking only without',
  });
  budgetBelow = Option.String('--budget-below', {
    description: 'While less than this percentage of the day’s budget is left',
  });
  priority = Option.String('--priority', {
    description: 'The highest is tried first (0)',
  });
  id = Option.String('--id', { description: 'Name of the rule; r1, r2, … by default' });

  async execute() {
    return this.report('Added', await this.do({ do: 'add', rule: this.rule() }));
  }

  /** Returns the rule as typed. It may be invalid: the store reports all its faults at once. */
  private rule(): NewRule {
    const typed = {
      id: this.id,
      model: this.model,
      prefix: this.prefix,
      minTokens: toNumber(this.minTokens),
      maxTokens: toNumber(this.maxTokens),
      hasTools: this.tools,
      hasThinking: this.thinking,
      budgetBelowPercent: toNumber(this.budgetBelow),
      priority: toNumber(this.priority),
      target: this.target,
    };
    const stated = Object.entries(typed).filter(([, value]) => value !== undefined);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store checks every part of it
    return Object.fromEntries(stated) as unknown as NewRule;
  }
}

class RouteRemove extends RouteCommands {
  static override paths = [['route', 'remove']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Remove a rule',
    examples: [['By its id', '$0 route remove r1']],
  });

  id = Option.String();

  async execute() {
    return this.report('Removed', await this.do({ do: 'remove', id: this.id }));
  }
}

/** Returns a number if one was typed; otherwise the text, which the validation rejects. */
function toNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function sentence(rule: RouteRule): string {
  return `${conditions(rule)} → ${rule.target}`;
}

/** Describes a rule's conditions in words. */
function conditions(rule: RouteRule): string {
  const { model, prefix, minTokens, maxTokens, hasTools, hasThinking, budgetBelowPercent } = rule;
  const words = [
    model === undefined ? [] : `for ${model}`,
    prefix === undefined ? [] : `for ${prefix}…`,
    minTokens === undefined ? [] : `from ${minTokens.toLocaleString('en-US')} tokens`,
    maxTokens === undefined ? [] : `up to ${maxTokens.toLocaleString('en-US')} tokens`,
    hasTools === undefined ? [] : `${hasTools ? 'with' : 'without'} tools`,
    hasThinking === undefined ? [] : `${hasThinking ? 'with' : 'without'} thinking`,
    budgetBelowPercent === undefined ? [] : `below ${budgetBelowPercent}% of the day’s budget`,
  ].flat();
  return words.length === 0 ? 'all' : words.join(', ');
}

function ruleJson(rule: RouteRule) {
  return {
    id: rule.id,
    priority: rule.priority,
    model: rule.model ?? null,
    prefix: rule.prefix ?? null,
    min_tokens: rule.minTokens ?? null,
    max_tokens: rule.maxTokens ?? null,
    has_tools: rule.hasTools ?? null,
    has_thinking: rule.hasThinking ?? null,
    budget_below_percent: rule.budgetBelowPercent ?? null,
    target: rule.target,
  };
}

export const commands = [RouteList, RouteAdd, RouteRemove];
