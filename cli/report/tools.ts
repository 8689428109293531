/**
 * `svc attribution --by tool` and `--by mcp`: what tools returned, and what their definitions cost.
 */
import { SvcError } from '../../engine/error.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import type { ToolGroup, ToolKey } from '../../stages/ledger/tools/tool-sums.ts';
import { knownDefinitionCost, toolTotalsJson } from '../../stages/ledger/tools/tool-totals.ts';
import type { CliContext } from '../context.ts';
import { counted, dollars, figure, print, printJson } from '../screen/output.ts';
import { printTable } from '../screen/table.ts';

/** Groupings of sums by tool. */
const KEYS: Readonly<Record<string, ToolKey>> = {
  tool: 'tool',
  mcp: 'mcp',
  agent: 'client',
  skill: 'skill',
  model: 'model',
  provider: 'provider',
  node: 'node',
  key: 'keyLabel',
  project: 'project',
};

/** True if these groupings are about tools. */
export function isOfTools(by: readonly string[]): boolean {
  return by.includes('tool') || by.includes('mcp');
}

/** Returns the keys with these names. Throws `usage` for one that sums of tools do not have. */
export function toolKeys(by: readonly string[]): readonly ToolKey[] {
  return by.map((name) => {
    const key = KEYS[name];
    if (key !== undefined) return key;
    throw new SvcError('usage', `--by: sums by tool are not recorded by ${name}`, {
      cure: `Name ${Object.keys(KEYS).join(', ')}.`,
    });
  });
}

export interface ToolsShown {
  readonly by: readonly string[];
  readonly json: boolean;
  /** Description of the period. */
  readonly span: string;
}

export function printTools(
  context: CliContext,
  groups: readonly ToolGroup[],
  { by, json, span }: ToolsShown,
): void {
  if (json)
    return printJson(context, {
      attribution: groups.map(({ keys, totals }) => ({
        ...Object.fromEntries(keys.map((name, at) => [by[at]!, name])),
        ...toolTotalsJson(totals),
      })),
    });
  if (groups.length === 0) return print(context, `No tool was recorded (${span})`);
  printTable(
    context,
    [...by, '>calls', '>failed', '>results', '>sent', '>definitions', '>cost'],
    groups.map(({ keys, totals }) => [
      ...keys.map((name, at) => name ?? (by[at] === 'mcp' ? 'no server' : 'unknown')),
      figure(totals.calls),
      figure(totals.failedCalls),
      figure(totals.resultTokens),
      figure(totals.sentResultTokens),
      figure(totals.definitionTokens),
      dollars(toUsd(knownDefinitionCost(totals))),
    ]),
    { expendable: ['failed', 'definitions', 'sent'] },
  );
  print(context);
  const count = counted(groups.length, 'group');
  print(context, `${count}; results and definitions in tokens, cost is that of the definitions`);
}
