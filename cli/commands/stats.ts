/** `svc stats`, `svc models` and `svc usage`: traffic by time, model, provider and client. */
import { Command, Option } from 'clipanion';
import type { GroupTotals } from '../../stages/ledger/queries.ts';
import { averageLatencyMs } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import type { CliContext } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { LedgerCommand, SpanCommand, spanText } from '../ledger.ts';
import { counted, dollars, figure, percent } from '../screen/output.ts';
import { printTable } from '../screen/table.ts';
import { readOwn } from '../remote.ts';
import type { Json } from '../remote.ts';

class Stats extends LedgerCommand {
  static override paths = [['stats']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Requests, tokens, cost: session, today and all time',
    details:
      'The session is that of the running proxy; without one, its column is left out. Days are UTC days.',
    examples: [
      ['Look', '$0 stats'],
      ['For a script', '$0 stats --raw'],
    ],
  });

  async execute() {
    const { home } = this;
    const session =
      runningInstance(home) === undefined
        ? null
        : ((await readOwn(home, '/stats'))['session'] as Json);
    const { totalsJson } = await import('../../stages/ledger/report.ts');
    const [today, ever] = await this.ledger(async (reader, queries) => [
      totalsJson(await queries.totalsOfToday(reader, this.context.clock.wallMs())),
      totalsJson(await queries.totalsOf(reader)),
    ]);
    if (this.json) this.printJson({ session, today, ever });
    else this.show(session, today, ever);
  }

  private show(session: Json | null, today: Json, ever: Json) {
    const columns = session === null ? [today, ever] : [session, today, ever];
    this.printTable(
      ['', ...(session === null ? [] : ['>session']), '>today', '>all time'],
      STATS_ROWS.map(([title, value]) => [title, ...columns.map(value)]),
    );
  }
}

const STATS_ROWS: readonly (readonly [title: string, value: (json: Json) => string])[] = [
  ['requests', (json) => figure(json['requests'])],
  ['errors', (json) => figure(json['errors'])],
  ['input tokens', (json) => figure(json['input_tokens'])],
  ['sent to providers', (json) => figure(json['sent_input_tokens'])],
  ['saved by compression', (json) => figure(json['saved_tokens'])],
  ['added from your files', (json) => figure(json['tokens_added'])],
  ['output tokens', (json) => figure(json['output_tokens'])],
  ['answers from our cache', (json) => figure(json['cache_hits'])],
  ['cost', (json) => dollars(json['cost'])],
  ['cost saved', (json) => dollars(json['cost_saved'])],
  ['net saving', (json) => dollars(json['net_cost_saved'])],
  ['without a known price', (json) => figure(json['unpriced'])],
];

class Models extends SpanCommand {
  static override paths = [['models']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What each model was used for and cost',
    examples: [
      ['All of them', '$0 models'],
      ['Those with a word in their name, in detail', '$0 models --detail opus'],
    ],
  });

  detail = Option.String('--detail', {
    description: 'Models with this in their name, every figure',
  });

  async execute() {
    const { context, detail } = this;
    const span = await this.span();
    const { totalsJson } = await import('../../stages/ledger/report.ts');
    const groups = await this.ledger((reader, queries) => queries.totalsBy(reader, 'model', span));
    const wanted = groups.filter(
      ({ key }) =>
        detail === undefined || (key ?? 'unknown').toLowerCase().includes(detail.toLowerCase()),
    );
    if (this.json)
      return this.printJson({
        models: wanted.map((group) => ({ model: group.key, ...totalsJson(group) })),
      });
    if (wanted.length === 0) {
      const which =
        detail === undefined ? '' : ` by a model with ${JSON.stringify(detail)} in its name`;
      this.print(`No request was answered${which} (${spanText(span)})`);
    } else if (detail === undefined) await printGroups(context, 'model', wanted);
    else for (const group of wanted) this.printDetail(group);
  }

  private printDetail(group: GroupTotals): void {
    this.print(this.colors.bold(group.key ?? 'unknown'));
    this.printPairs(detailRows(group));
    this.print();
  }
}

function detailRows(totals: Totals): readonly (readonly [string, string])[] {
  const share = totals.inputTokens === 0 ? null : totals.savedTokens / totals.inputTokens;
  const millis = totals.timed === 0 ? '–' : `${Math.round(averageLatencyMs(totals) ?? 0)} ms`;
  return [
    ['Requests', `${counted(totals.requests, 'request')}, ${counted(totals.errors, 'error')}`],
    ['Input', `${figure(totals.inputTokens)} tokens, ${figure(totals.sentInputTokens)} sent`],
    ['Saved', `${figure(totals.savedTokens)} tokens (${percent(share)})`],
    ['Output', `${figure(totals.outputTokens)} tokens`],
    [
      'Provider’s cache',
      `${figure(totals.cacheReadTokens)} tokens read, ${figure(totals.cacheWriteTokens)} written`,
    ],
    ['Cost', costText(totals)],
    ['Mean latency', millis],
  ];
}

/** Returns a cost, with a note on what it leaves out. */
function costText({ priced, unpriced, costNanoUsd }: Totals): string {
  const known = priced === 0 && unpriced > 0 ? '–' : dollars(costNanoUsd / 1e9);
  return unpriced === 0 ? known : `${known}, ${counted(unpriced, 'request')} without a known price`;
}

class Usage extends SpanCommand {
  static override paths = [['usage']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Requests and cost by provider, client and model',
    examples: [
      ['Everything that was recorded', '$0 usage'],
      ['January', '$0 usage --since 2026-01-01 --until 2026-02-01'],
    ],
  });

  async execute() {
    const span = await this.span();
    const { totalsJson } = await import('../../stages/ledger/report.ts');
    const [totals, ...groups] = await this.ledger((reader, queries) =>
      Promise.all([
        queries.totalsOf(reader, span),
        queries.totalsBy(reader, 'provider', span),
        queries.totalsBy(reader, 'client', span),
        queries.totalsBy(reader, 'model', span),
      ]),
    );
    const names = ['provider', 'client', 'model'] as const;
    if (this.json) {
      const lists = groups.map((list, index) => [
        `by_${names[index]!}`,
        list.map((group) => ({ [names[index]!]: group.key, ...totalsJson(group) })),
      ]);
      return this.printJson({
        totals: totalsJson(totals),
        ...(Object.fromEntries(lists) as object),
      });
    }
    this.print(this.colors.bold(`Usage, ${spanText(span)}`));
    this.printPairs(detailRows(totals));
    for (const [index, list] of groups.entries()) {
      if (list.length === 0) continue;
      this.print();
      await printGroups(this.context, names[index]!, list);
    }
  }
}

/** Prints the sums of groups as a table. */
export async function printGroups(
  context: CliContext,
  title: string,
  groups: readonly GroupTotals[],
): Promise<void> {
  printTable(
    context,
    [title, '>requests', '>errors', '>input', '>saved', '>output', '>cost'],
    groups.map((group) => [
      group.key ?? 'unknown',
      figure(group.requests),
      figure(group.errors),
      figure(group.inputTokens),
      figure(group.savedTokens),
      figure(group.outputTokens),
      group.priced === 0 && group.unpriced > 0 ? '–' : dollars(group.costNanoUsd / 1e9),
    ]),
    { expendable: ['output', 'errors'] },
  );
}

export const commands = [Stats, Models, Usage];
