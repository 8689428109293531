/**
 * `svc timeline`, `svc cost` and `svc cost-breakdown`: a chart of days, and where the money went.
 */
import { Command, Option } from 'clipanion';
import { costWithout, knownCost, knownNetSaving, toUsd } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import type { DayTotals } from '../../stages/ledger/queries.ts';
import { bar } from '../screen/chart.ts';
import { LedgerCommand, SpanCommand, spanText } from '../ledger.ts';
import { toOneOf, toWhole } from '../parse/flags.ts';
import { columnsOf, counted, dollars, figure } from '../screen/output.ts';

const MAX_DAYS = 366;

interface Metric {
  readonly title: string;
  readonly value: (day: Totals) => number | null;
  readonly show: (value: number | null) => string;
}

const METRICS: Readonly<Record<string, Metric>> = {
  requests: { title: 'requests', value: (day) => day.requests, show: figure },
  errors: { title: 'errors', value: (day) => day.errors, show: figure },
  tokens: { title: 'input tokens', value: (day) => day.inputTokens, show: figure },
  saved: { title: 'saved tokens', value: (day) => day.savedTokens, show: figure },
  output: { title: 'output tokens', value: (day) => day.outputTokens, show: figure },
  cost: { title: 'cost', value: (day) => toUsd(knownCost(day)), show: dollars },
  net: { title: 'net saving', value: (day) => toUsd(knownNetSaving(day)), show: dollars },
};

class Timeline extends LedgerCommand {
  static override paths = [['timeline']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The last days in a chart',
    details: `One bar a UTC day. \`--metric\` is one of ${Object.keys(METRICS).join(', ')}.`,
    examples: [
      ['A week of savings', '$0 timeline'],
      ['A month of costs', '$0 timeline --days 30 --metric cost'],
    ],
  });

  days = Option.String('--days', '7', { description: 'How many days, today included (7)' });
  metric = Option.String('--metric', 'saved', { description: 'Which figure to show (saved)' });

  async execute() {
    const count = toWhole(this.days, '--days', 1, MAX_DAYS);
    const metric = METRICS[toOneOf(this.metric, '--metric', Object.keys(METRICS))]!;
    const days = await this.ledger((reader, queries) =>
      queries.lastDays(reader, this.context.clock.wallMs(), count),
    );
    if (this.json) {
      const { totalsJson } = await import('../../stages/ledger/report.ts');
      this.printJson({ days: days.map((day) => ({ date: day.date, ...totalsJson(day) })) });
    } else this.draw(days, metric);
  }

  private draw(days: readonly DayTotals[], metric: Metric): void {
    const { bold, dim } = this.colors;
    const values = days.map(metric.value);
    const texts = values.map(metric.show);
    const width = Math.max(...texts.map((text) => text.length));
    const room = Math.max(
      10,
      Math.min(columnsOf(this.context.stdout), 100) - 'YYYY-MM-DD'.length - width - 4,
    );
    const max = Math.max(0, ...values.map((value) => value ?? 0));
    this.print(bold(`${metric.title}, ${counted(days.length, 'day')} (UTC)`));
    for (const [index, day] of days.entries()) {
      const line = `${dim(day.date)}  ${texts[index]!.padStart(width)}  ${bar(values[index] ?? 0, max, room)}`;
      this.print(line.trimEnd());
    }
  }
}

class Cost extends LedgerCommand {
  static override paths = [['cost']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What requests cost, day by day',
    examples: [
      ['Today', '$0 cost'],
      ['The last seven days', '$0 cost --week'],
      ['The last thirty days', '$0 cost --month'],
    ],
  });

  week = Option.Boolean('--week', false, { description: 'The last 7 UTC days' });
  month = Option.Boolean('--month', false, { description: 'The last 30 UTC days' });

  async execute() {
    const count = this.month ? 30 : this.week ? 7 : 1;
    const days = await this.ledger((reader, queries) =>
      queries.lastDays(reader, this.context.clock.wallMs(), count),
    );
    const { totalsJson } = await import('../../stages/ledger/report.ts');
    const { addTotals } = await import('../../stages/ledger/figures.ts');
    const total = addTotals(days);
    if (this.json)
      return this.printJson({
        days: days.map((day) => ({ date: day.date, ...totalsJson(day) })),
        total: totalsJson(total),
      });
    const row = (title: string, totals: Totals) => {
      const cost = knownCost(totals);
      const net = knownNetSaving(totals);
      return [
        title,
        figure(totals.requests),
        dollars(toUsd(cost)),
        dollars(toUsd(costWithout(cost, net))),
        dollars(toUsd(net)),
      ];
    };
    const rows = days.map((day) => row(day.date, day));
    if (days.length > 1) rows.push(row('together', total));
    this.printTable(['day (UTC)', '>requests', '>cost', '>without svc', '>net saving'], rows);
    if (total.unpriced > 0) {
      this.print();
      this.print(
        `${counted(total.unpriced, 'request')} without a known price not included; \`svc list-pricing\` shows the known prices.`,
      );
    }
  }
}

class CostBreakdown extends SpanCommand {
  static override paths = [['cost-breakdown']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What the money was spent on, by provider and model',
    examples: [['This month', '$0 cost-breakdown --since 2026-01-01']],
  });

  async execute() {
    const span = await this.span();
    const groups = await this.ledger((reader, queries) =>
      queries.totalsByAll(reader, ['provider', 'model'], span),
    );
    const byCost = groups.toSorted((a, b) => (knownCost(b) ?? -1) - (knownCost(a) ?? -1));
    const all = byCost.reduce((total, group) => total + (knownCost(group) ?? 0), 0);
    const share = (group: Totals) => {
      const cost = knownCost(group);
      return cost === null || all === 0 ? null : cost / all;
    };
    if (this.json) {
      const { totalsJson } = await import('../../stages/ledger/report.ts');
      return this.printJson({
        breakdown: byCost.map((group) => ({
          provider: group.provider ?? null,
          model: group.model ?? null,
          share: share(group),
          ...totalsJson(group),
        })),
        total_cost: toUsd(all),
      });
    }
    if (byCost.length === 0) return this.print(`No request was recorded (${spanText(span)})`);
    this.printTable(
      ['provider', 'model', '>sent', '>output', '>cache read', '>cost', '>share'],
      byCost.map((group) => {
        const part = share(group);
        return [
          group.provider ?? 'none',
          group.model ?? 'unknown',
          figure(group.sentInputTokens),
          figure(group.outputTokens),
          figure(group.cacheReadTokens),
          dollars(toUsd(knownCost(group))),
          part === null ? '–' : `${(100 * part).toFixed(1)}%`,
        ];
      }),
      { expendable: ['cache read', 'output'] },
    );
    this.print();
    this.print(`${dollars(toUsd(all))} in total, ${spanText(span)}`);
  }
}

export const commands = [Timeline, Cost, CostBreakdown];
