/** `svc report --month`: a month in the terminal, or as one file to send to others. */
import { SvcError } from '../../engine/error.ts';
import { costWithout, knownCost, knownNetSaving, toUsd } from '../../stages/ledger/figures.ts';
import { totalsJson } from '../../stages/ledger/report.ts';
import type { CliContext } from '../context.ts';
import { withLedger } from '../ledger.ts';
import { invalidOption, toOneOf } from '../parse/flags.ts';
import { colorsFor, dollars, figure, print, printJson } from '../screen/output.ts';
import { printTable } from '../screen/table.ts';
import { monthCsv } from './month-csv.ts';
import { monthHtml } from './month-html.ts';
import { MONTH_KEY_NAMES, monthReport, monthSpan } from './month.ts';
import type { MonthReport, NamedTotals } from './month.ts';

export interface MonthOptions {
  readonly month: string;
  readonly by: string | undefined;
  readonly html: boolean;
  readonly csv: boolean;
  readonly json: boolean;
  readonly config: string | undefined;
}

/** Prints the month. Throws `usage` for an invalid or future month, or an unknown grouping. */
export async function printMonth(context: CliContext, options: MonthOptions): Promise<void> {
  const { month, html, csv, json, config } = options;
  const nowMs = context.clock.wallMs();
  const grouping =
    options.by === undefined ? undefined : toOneOf(options.by, '--by', MONTH_KEY_NAMES);
  if (Number(html) + Number(csv) + Number(json) > 1)
    throw new SvcError('usage', 'svc report prints one of --html, --csv and --json');
  const span = monthSpan(month);
  if (span === undefined) throw invalidOption('--month', month, 'a month such as 2026-01');
  if (span.sinceMs > nowMs) throw invalidOption('--month', month, 'a month that has begun');
  const report = await withLedger(context, config, (reader, queries) =>
    monthReport(reader, queries, { month, by: grouping, nowMs }),
  );
  if (html) context.stdout.write(monthHtml(report, context.version));
  else if (csv) context.stdout.write(monthCsv(report));
  else if (json) printJson(context, monthJson(report));
  else showMonth(context, report);
}

function monthJson({ month, by, isOver, untilMs, totals, byModel, byName, byDay }: MonthReport) {
  const named = (groups: readonly NamedTotals[], head: string) =>
    groups.map((group) => ({ [head]: group.name, ...totalsJson(group.totals) }));
  return {
    month,
    until: new Date(untilMs).toISOString(),
    over: isOver,
    totals: totalsJson(totals),
    by_model: named(byModel, 'model'),
    ...(by !== undefined && { [`by_${by}`]: named(byName, by) }),
    by_day: byDay.map((day) => ({ date: day.date, ...totalsJson(day.totals) })),
  };
}

function showMonth(context: CliContext, report: MonthReport): void {
  const { month, by, isOver, byModel, byName, totals } = report;
  const colors = colorsFor(context.stdout, context.env);
  print(context, colors.bold(`${month} (UTC)${isOver ? '' : ', which is not over'}`));
  const show = (head: string, groups: readonly NamedTotals[]) => {
    print(context);
    printTable(
      context,
      [head, '>requests', '>failed', '>saved tokens', '>cost', '>without svc', '>net saving'],
      [...groups, { name: 'total', totals }].map((group) => [
        group.name ?? 'unknown',
        figure(group.totals.requests),
        figure(group.totals.errors),
        figure(group.totals.savedTokens),
        dollars(toUsd(knownCost(group.totals))),
        dollars(toUsd(costWithout(knownCost(group.totals), knownNetSaving(group.totals)))),
        dollars(toUsd(knownNetSaving(group.totals))),
      ]),
      { expendable: ['failed', 'without svc'] },
    );
  };
  if (by !== undefined) show(by, byName);
  show('model', byModel);
}
