/** `svc aggregate`: the ledgers of several machines added up. */
import { Command, Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import { addTotals, knownCost, knownCostSaved, toUsd } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import type { TimeSpan } from '../../stages/ledger/queries.ts';
import type { LedgerSummary } from '../../stages/ledger/summary.ts';
import { SpanCommand, spanText } from '../ledger.ts';
import { counted, dollars, figure } from '../screen/output.ts';
import type { Gathered, Part } from './sources.ts';

/** Newest days listed on a screen. */
const MAX_DAYS = 31;

class Aggregate extends SpanCommand {
  static override paths = [['aggregate']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Sums over several machines, by machine, model, day',
    details:
      'Without arguments: this machine and all members of its fleet (`svc fleet add`), which are queried over HTTP. With files, or folders of them: ledgers copied from other machines, which are only read. A request in several ledgers is counted once, and so is a ledger named twice; the output mentions both. If a machine does not answer, the exit code is 3, and the total says that it is missing.',
    examples: [
      ['The whole fleet, this month', '$0 aggregate --since 2026-01-01'],
      ['Copied ledgers', '$0 aggregate desk.db attic.db'],
      ['All ledgers in a folder, for a script', '$0 aggregate ledgers --json'],
    ],
  });

  ledgers = Option.Rest({ name: 'ledger|folder' });

  async execute() {
    const { context, ledgers } = this;
    const span = await this.span();
    if (ledgers.length > 0 && this.config !== undefined)
      throw new SvcError(
        'usage',
        '--config says which ledger is this machine’s: name files without it',
      );
    const { fromFiles, fromFleet } = await import('./sources.ts');
    const gathered =
      ledgers.length > 0
        ? await fromFiles(ledgers, span, context)
        : await fromFleet(span, this.config, context);
    const { addSummaries } = await import('../../stages/ledger/summary.ts');
    const all = addSummaries(gathered.parts.map(({ summary }) => summary));
    if (this.json) this.printJson(await aggregateJson(gathered, all, span));
    else this.show(gathered, all, span);
    const { missing } = gathered;
    if (missing.length === 0) return;
    const refused = missing.every(({ error }) =>
      ['unauthorized', 'forbidden'].includes(error.kind),
    );
    const names = missing.map(({ node, error }) => `${node}: ${error.message}`).join('; ');
    throw new SvcError(refused ? 'unauthorized' : 'bad_gateway', `Not counted: ${names}`);
  }

  private show(
    { parts, repeated, missing }: Gathered,
    { byModel, byDay }: LedgerSummary,
    span: TimeSpan,
  ): void {
    const { bold } = this.colors;
    const all = addTotals(byModel);
    const without = missing.map(({ node }) => node).join(', ');
    const machines = machinesOf(parts);
    this.print(bold(`${counted(machines.length, 'machine')}, ${spanText(span)}`));
    this.print();
    this.printTable(
      ['node', ...FIGURES],
      [
        ...machines.map((one) => [one.node ?? one.sources.join(', '), ...figures(one.totals)]),
        ...missing.map(({ node }) => [node, ...FIGURES.map(() => '–')]),
        [without === '' ? 'together' : `together without ${without}`, ...figures(all)],
      ],
    );
    const shown = byDay.slice(-MAX_DAYS);
    const tables = [
      ['model', byModel.map((one) => [one.key ?? 'unknown', ...figures(one)])],
      ['day (UTC)', shown.map((one) => [one.date, ...figures(one)])],
    ] as const;
    for (const [title, rows] of tables) {
      if (rows.length === 0) continue;
      this.print();
      this.printTable([title, ...FIGURES], rows);
    }
    if (machines.length + missing.length === 1 && parts[0]?.source === 'this machine')
      this.note('There are no other machines: `svc fleet add` adds one.');
    if (shown.length < byDay.length)
      this.note(`The newest ${shown.length} of ${byDay.length} days; --json has all.`);
    if (all.unpriced > 0)
      this.note(
        `Cost and worth exclude ${counted(all.unpriced, 'request')} without a known price.`,
      );
    for (const { source, of, requests } of repeated)
      this.note(
        of === null
          ? `${source}: ${counted(requests ?? 0, 'request')} were already in an earlier ledger, and are counted once`
          : `${source} is the same ledger as ${of}, and is counted once`,
      );
  }
}

/** Sums of one machine, from any source. */
interface Machine {
  readonly node: string | null;
  readonly sources: readonly string[];
  readonly totals: Totals;
}

/** Groups the parts by machine name; unnamed ones by source. */
function machinesOf(parts: readonly Part[]): readonly Machine[] {
  const byName = new Map<string, Part[]>();
  for (const part of parts) {
    const id = JSON.stringify(part.node === null ? [part.source] : part.node);
    byName.set(id, [...(byName.get(id) ?? []), part]);
  }
  return [...byName.values()].map((some) => ({
    node: some[0]?.node ?? null,
    sources: some.map(({ source }) => source),
    totals: addTotals(some.flatMap(({ summary }) => summary.byModel)),
  }));
}

async function aggregateJson(
  { parts, repeated, missing }: Gathered,
  { byModel, byDay }: LedgerSummary,
  { sinceMs, untilMs }: TimeSpan,
) {
  const { totalsJson } = await import('../../stages/ledger/report.ts');
  return {
    since: sinceMs === 0 ? null : new Date(sinceMs).toISOString(),
    until: untilMs === undefined ? null : new Date(untilMs).toISOString(),
    complete: missing.length === 0,
    missing: missing.map(({ node, source, error }) => ({ node, source, error: error.message })),
    repeated,
    totals: totalsJson(addTotals(byModel)),
    by_node: machinesOf(parts).map(({ node, sources, totals }) => ({
      node,
      sources,
      ...totalsJson(totals),
    })),
    by_model: byModel.map((group) => ({ model: group.key, ...totalsJson(group) })),
    by_day: byDay.map((day) => ({ date: day.date, ...totalsJson(day) })),
  };
}

const FIGURES = ['>requests', '>errors', '>in', '>sent', '>saved', '>output', '>cost', '>worth'];

function figures(totals: Totals): readonly string[] {
  return [
    figure(totals.requests),
    figure(totals.errors),
    figure(totals.inputTokens),
    figure(totals.sentInputTokens),
    figure(totals.savedTokens),
    figure(totals.outputTokens),
    dollars(toUsd(knownCost(totals))),
    dollars(toUsd(knownCostSaved(totals))),
  ];
}

export const commands = [Aggregate];
