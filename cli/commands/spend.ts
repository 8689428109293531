/** `svc spend status|allow`: the spending guard of the running proxy. */
import { Command, Option } from 'clipanion';
import type { spendingJson } from '../../server/facts/spending.ts';
import { homeOf } from '../context.ts';
import type { CliCommand, CliContext } from '../context.ts';
import { counted, note, print, printJson, printPairs } from '../screen/output.ts';
import { control } from '../remote.ts';

type Spending = ReturnType<typeof spendingJson>;

class SpendStatus extends Command<CliContext> {
  static override paths = [['spend', 'status']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What today has cost, and how much of each limit is left',
    details:
      'The guard is off unless `budget.enabled` is true. Limits are `budget.per_request_usd`, `per_session_usd`, `per_day_usd` and `total_tokens` (a day). A request that would exceed one is answered with 402.',
    examples: [['Look', '$0 spend status']],
  });

  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  async execute() {
    const { context } = this;
    const spending = await control<Spending>(homeOf(context), 'spend', 'status');
    if (this.json) return printJson(context, spending);
    printPairs(context, rowsOf(spending));
    if (!spending.enabled) {
      note(context, 'The guard is off. `budget: { enabled: true, per_day_usd: 10 }` turns it on.');
    }
  }
}

class SpendAllow extends Command<CliContext> {
  static override paths = [['spend', 'allow']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Allow the next request that a spending limit would refuse',
    details: 'One request, within the next ten minutes.',
    examples: [['After a 402', '$0 spend allow']],
  });

  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  async execute() {
    const { context } = this;
    const spending = await control<Spending>(homeOf(context), 'spend', 'allow');
    if (this.json) printJson(context, spending);
    else print(context, 'The next request above a limit is allowed, once, within ten minutes.');
    if (!spending.enabled) note(context, 'The guard is off, so nothing is refused anyway.');
  }
}

function rowsOf(spending: Spending): (readonly [string, string])[] {
  const { limits } = spending;
  const left = spending.left_percent === null ? '' : `, ${spending.left_percent.toFixed(0)}% left`;
  return [
    ['guard', spending.enabled ? `on${left}` : 'off'],
    [
      'today',
      `${usd(spending.spent_usd)} (${spending.day} UTC${spending.enabled ? '' : ', since the proxy started'}), ${usd(spending.held_usd)} held`,
    ],
    ['tokens', spending.tokens.toLocaleString('en-US')],
    [
      'limits',
      `request ${usd(limits.per_request_usd)}, session ${usd(limits.per_session_usd)}, day ${usd(limits.per_day_usd)}, tokens a day ${limits.tokens_per_day?.toLocaleString('en-US') ?? 'none'}`,
    ],
    [
      'so far',
      `${counted(spending.blocked, 'request')} refused, ${spending.warned} warned, ${spending.allowed_once} allowed once, ${spending.unpriced} of unknown price`,
    ],
  ];
}

function usd(amount: number | null): string {
  if (amount === null) return 'none';
  return `$${amount.toFixed(amount !== 0 && amount < 0.01 ? 4 : 2)}`;
}

export const commands: readonly CliCommand[] = [SpendStatus, SpendAllow];
