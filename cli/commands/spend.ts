/** `svc spend status|allow`: the spending guard of the running proxy. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import type { spendingJson } from '../../server/facts/spending.ts';
import { counted } from '../screen/output.ts';
import { toOneOf } from '../parse/flags.ts';
import { control } from '../remote.ts';
import { OWNERS, ownerSpending } from '../auth/owner-spending.ts';
import type { OwnerSpending } from '../auth/owner-spending.ts';

type Spending = ReturnType<typeof spendingJson>;

class SpendStatus extends JsonCommand {
  static override paths = [['spend', 'status']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What today has cost, and how much of each limit is left',
    details:
      'The guard is off unless `budget.enabled` is true. Limits are `budget.per_request_usd`, `per_session_usd`, `per_day_usd`, `per_month_usd`, `total_tokens` (a day) and `budget.projects`; keys have their own (`svc auth`), which hold always. A request that would exceed one is answered with 402.',
    examples: [
      ['Look', '$0 spend status'],
      ['Who has spent what of their limits', '$0 spend status --by key'],
    ],
  });

  by = Option.String('--by', {
    description: 'key or project: what each has spent today and this month, from the ledger',
  });
  config = Option.String('--config', { description: 'With --by: the config file' });

  async execute() {
    if (this.by !== undefined) {
      const grouping = toOneOf(this.by, '--by', OWNERS);
      const report = await ownerSpending(this.context, this.config, grouping);
      return this.json ? this.printJson(report) : this.#showOwners(report);
    }
    const spending = await control<Spending>(this.home, 'spend', 'status');
    if (this.json) return this.printJson(spending);
    this.printPairs(rowsOf(spending));
    if (!spending.enabled) {
      this.note('The guard is off. `budget: { enabled: true, per_day_usd: 10 }` turns it on.');
    }
  }

  #showOwners({ by, day, month, spending, guard }: OwnerSpending): void {
    if (spending.length === 0)
      return this.print(
        `No ${by} has spent anything this month (${month} UTC), and none has a limit.`,
      );
    this.printTable(
      [by, `>${day}`, '>limit a day', '>left', `>${month}`, '>limit a month', '>left'],
      spending.map((one) => [
        one.name,
        usd(one.day.spent_usd),
        usd(one.day.limit_usd),
        percent(one.day.left_percent),
        usd(one.month.spent_usd),
        usd(one.month.limit_usd),
        percent(one.month.left_percent),
      ]),
    );
    if (by === 'project' && guard === 'off')
      this.note('Limits of projects hold only while `budget.enabled` is true.');
  }
}

class SpendAllow extends JsonCommand {
  static override paths = [['spend', 'allow']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Allow the next request that a limit would refuse',
    details: 'One request, within the next ten minutes.',
    examples: [['After a 402', '$0 spend allow']],
  });

  async execute() {
    const spending = await control<Spending>(this.home, 'spend', 'allow');
    if (this.json) this.printJson(spending);
    else this.print('The next request above a limit is allowed, once, within ten minutes.');
    if (!spending.enabled) this.note('The guard is off, so nothing is refused anyway.');
  }
}

function rowsOf(spending: Spending): (readonly [string, string])[] {
  const { limits } = spending;
  // Earlier spending is read only if a limit needs it.
  const since = spending.enabled ? '' : ', since the proxy started';
  const left = spending.left_percent === null ? '' : `, ${spending.left_percent.toFixed(0)}% left`;
  return [
    ['guard', spending.enabled ? `on${left}` : 'off'],
    [
      'today',
      `${usd(spending.spent_usd)} (${spending.day} UTC${since}), ${usd(spending.held_usd)} held`,
    ],
    ['month', `${usd(spending.spent_month_usd)} (${spending.month} UTC${since})`],
    ['tokens', spending.tokens.toLocaleString('en-US')],
    [
      'limits',
      `request ${usd(limits.per_request_usd)}, session ${usd(limits.per_session_usd)}, day ${usd(limits.per_day_usd)}, month ${usd(limits.per_month_usd)}, tokens a day ${limits.tokens_per_day?.toLocaleString('en-US') ?? 'none'}`,
    ],
    [
      'so far',
      `${counted(spending.blocked, 'request')} refused, ${spending.warned} warned, ${spending.allowed_once} allowed once, ${spending.unpriced} of unknown price`,
    ],
  ];
}

function percent(left: number | null): string {
  if (left === null) return '–';
  return left <= 20 ? `${left.toFixed(0)}% !` : `${left.toFixed(0)}%`;
}

function usd(amount: number | null): string {
  if (amount === null) return 'none';
  return `$${amount.toFixed(amount !== 0 && amount < 0.01 ? 4 : 2)}`;
}

export const commands = [SpendStatus, SpendAllow];
