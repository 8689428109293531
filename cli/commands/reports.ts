/**
 * `svc compare`, `leaderboard`, `report` and `attribution`: what was saved, for whom, and where it
 * pays off.
 */
import { Command, Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import {
  costWithout,
  knownCost,
  knownNetSaving,
  savedPercent,
  toUsd,
} from '../../stages/ledger/figures.ts';
import type { GroupKey, GroupTotals } from '../../stages/ledger/queries.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { LedgerCommand, SpanCommand, spanText } from '../ledger.ts';
import { invalidOption, toOneOf, toWhole } from '../parse/flags.ts';
import { localMoment } from '../../server/dashboard/page/local-time.ts';
import { counted, dollars, figure, percent } from '../screen/output.ts';

const DAY_MS = 86_400_000;

class Compare extends LedgerCommand {
  static override paths = [['compare']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The last request as received and sent: tokens, cost',
    examples: [
      ['The newest request that was measured', '$0 compare'],
      ['A request named in `svc status`', '$0 compare TwLFV0'],
    ],
  });

  id = Option.String({ required: false, name: 'id' });

  async execute() {
    const { id } = this;
    const rows = await this.ledger((reader, queries) =>
      queries.newestRows(reader, { sinceMs: 0, ...(id !== undefined && { id }) }, 100),
    );
    const { pickRow } = await import('../../server/facts/find-request.ts');
    const measured = rows.filter(({ inputTokensRaw }) => inputTokensRaw !== null);
    const row = pickRow(id === undefined && measured.length > 0 ? measured : rows, id);
    const { rowCostWithout, rowSavingsJson } = await import('../../stages/ledger/request-json.ts');
    const savings = rowSavingsJson(row);
    const before = rowCostWithout(row);
    const json = {
      request_id: row.id,
      timestamp: new Date(row.startedMs).toISOString(),
      model: row.model ?? row.modelRequested,
      input_tokens_raw: row.inputTokensRaw,
      input_tokens_sent: row.inputTokensSent,
      tokens_saved: savings.tokens_saved,
      tokens_added: savings.tokens_added,
      output_tokens: row.outputTokens,
      cost: toUsd(row.costNanoUsd),
      cost_without: toUsd(before),
      cost_saved: savings.cost_saved,
      cost_added: savings.cost_added,
      provider_cache_read_tokens: row.cacheReadTokens,
    };
    if (this.json) this.printJson(json);
    else this.show(row, before);
  }

  private show(row: LedgerRow, before: number | null) {
    const at = localMoment(new Date(row.startedMs).toISOString());
    this.print(this.colors.bold(`${row.model ?? row.modelRequested ?? 'unknown model'}, ${at}`));
    const change = (from: number | null, to: number | null, show: (value: number) => string) =>
      from === null || to === null ? '–' : `${to > from ? '+' : ''}${show(to - from)}`;
    const share =
      row.inputTokensRaw === null || row.inputTokensSent === null || row.inputTokensRaw === 0
        ? ''
        : ` (${percent((row.inputTokensSent - row.inputTokensRaw) / row.inputTokensRaw)})`;
    this.printTable(
      ['', '>without svc', '>with svc', '>difference'],
      [
        [
          'input tokens',
          figure(row.inputTokensRaw),
          figure(row.inputTokensSent),
          change(row.inputTokensRaw, row.inputTokensSent, figure) + share,
        ],
        [
          'cost',
          dollars(toUsd(before)),
          dollars(toUsd(row.costNanoUsd)),
          change(toUsd(before), toUsd(row.costNanoUsd), dollars),
        ],
      ],
    );
    const notes: (readonly [string, string])[] = [['Request', row.id]];
    if (row.addedTokens !== null && row.addedTokens > 0)
      notes.push(['Added', `${figure(row.addedTokens)} tokens of your files`]);
    if (row.cacheReadTokens !== null && row.cacheReadTokens > 0)
      notes.push([
        'Provider’s cache',
        `${figure(row.cacheReadTokens)} tokens read, ${row.breakpoints === null ? 'not saved by svc' : 'at markers that svc set'}`,
      ]);
    this.print();
    this.printPairs(notes);
  }
}

class Leaderboard extends SpanCommand {
  static override paths = [['leaderboard']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Models ranked by what compression saves on them',
    details: 'By the share of input tokens saved; models without measured input come last.',
    examples: [['Look', '$0 leaderboard --since 2026-01-01']],
  });

  async execute() {
    const span = await this.span();
    const groups = await this.ledger((reader, queries) => queries.totalsBy(reader, 'model', span));
    const ranked = groups
      .map(toRank)
      .toSorted((a, b) => (b.saved_percent ?? -1) - (a.saved_percent ?? -1));
    if (this.json) this.printJson({ leaderboard: ranked });
    else if (ranked.length === 0) this.print(`No request was recorded (${spanText(span)})`);
    else {
      this.printTable(
        ['>#', 'model', '>requests', '>saved', '>share', '>cost / 1M in', '>out / s', '>errors'],
        ranked.map((rank, index) => [
          String(index + 1),
          rank.model ?? 'unknown',
          figure(rank.requests),
          figure(rank.saved_tokens),
          rank.saved_percent === null ? '–' : `${rank.saved_percent.toFixed(1)}%`,
          dollars(rank.cost_per_1m_input_tokens),
          rank.output_tokens_per_second === null ? '–' : rank.output_tokens_per_second.toFixed(1),
          percent(rank.error_rate),
        ]),
        { expendable: ['out / s', 'errors'] },
      );
    }
  }
}

function toRank(group: GroupTotals) {
  const cost = knownCost(group);
  return {
    model: group.key,
    requests: group.requests,
    input_tokens: group.inputTokens,
    saved_tokens: group.savedTokens,
    saved_percent: savedPercent(group),
    /** All costs, including output, per million input tokens from clients. */
    cost_per_1m_input_tokens:
      cost === null || group.inputTokens === 0 ? null : (toUsd(cost) * 1e6) / group.inputTokens,
    output_tokens_per_second:
      group.latencySumMs === 0 ? null : (group.outputTokens * 1000) / group.latencySumMs,
    error_rate: group.requests === 0 ? null : group.errors / group.requests,
  };
}

class Report extends LedgerCommand {
  static override paths = [['report']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What a day cost and saved, next to the day before',
    details:
      'With --month it covers a UTC month; --html and --csv write it as one file to pass on, without scripts, links or external content. The CSV has a line for each day and model, and for each value of --by.',
    examples: [
      ['Today', '$0 report'],
      ['Another day, as Markdown', '$0 report --date 2026-01-31 --markdown'],
      ['A month, to pass on', '$0 report --month 2026-01 --by project --html > january.html'],
      ['The same for a spreadsheet', '$0 report --month 2026-01 --by project --csv > january.csv'],
    ],
  });

  date = Option.String('--date', { description: 'A UTC day, as 2026-01-31; today if left out' });
  markdown = Option.Boolean('--markdown', false, { description: 'As Markdown' });
  month = Option.String('--month', { description: 'A UTC month, as 2026-01, in place of a day' });
  by = Option.String('--by', { description: 'Of a month: project, key, agent, provider or node' });
  html = Option.Boolean('--html', false, { description: 'Of a month: as one HTML page' });
  csv = Option.Boolean('--csv', false, { description: 'Of a month: as CSV' });

  async execute() {
    const { month, by, html, csv, json, config } = this;
    if (month !== undefined) {
      if (this.date !== undefined || this.markdown)
        throw new SvcError('usage', '--date and --markdown are for a day, --month is not one');
      const { printMonth } = await import('../report/month-command.ts');
      return printMonth(this.context, { month, by, html, csv, json, config });
    }
    if (by !== undefined || html || csv)
      throw new SvcError('usage', '--by, --html and --csv need a --month, such as 2026-01');
    const startMs = await this.#start();
    const day = { sinceMs: startMs, untilMs: startMs + DAY_MS };
    const { totalsJson } = await import('../../stages/ledger/report.ts');
    const [now, before, models, clients] = await this.ledger((reader, queries) =>
      Promise.all([
        queries.totalsOf(reader, day),
        queries.totalsOf(reader, { sinceMs: startMs - DAY_MS, untilMs: startMs }),
        queries.totalsBy(reader, 'model', day),
        queries.totalsBy(reader, 'client', day),
      ]),
    );
    const date = new Date(startMs).toISOString().slice(0, 10);
    if (this.json)
      return this.printJson({
        date,
        day: totalsJson(now),
        day_before: totalsJson(before),
        by_model: models.map((group) => ({ model: group.key, ...totalsJson(group) })),
        by_client: clients.map((group) => ({ client: group.key, ...totalsJson(group) })),
      });
    if (this.markdown)
      for (const line of markdownReport(date, now, before, models)) this.print(line);
    else await this.show(date, now, before, models);
  }

  async #start(): Promise<number> {
    if (this.date !== undefined) {
      const { parseIsoDate } = await import('../../server/routes/iso-date.ts');
      const isDay = /^\d{4}-\d{2}-\d{2}$/.test(this.date);
      const startMs = isDay ? parseIsoDate(this.date) : undefined;
      if (startMs === undefined)
        throw invalidOption('--date', this.date, 'a day such as 2026-01-31');
      return startMs;
    }
    return Math.floor(this.context.clock.wallMs() / DAY_MS) * DAY_MS;
  }

  private async show(date: string, now: Totals, before: Totals, models: readonly GroupTotals[]) {
    const { printGroups } = await import('./stats.ts');
    this.print(this.colors.bold(`${date} (UTC)`));
    this.printTable(
      ['', '>this day', '>day before'],
      REPORT_ROWS.map(([title, value]) => [title, value(now), value(before)]),
    );
    if (models.length === 0) return;
    this.print();
    await printGroups(this.context, 'model', models);
  }
}

const REPORT_ROWS: readonly (readonly [title: string, value: (totals: Totals) => string])[] = [
  ['requests', (t) => figure(t.requests)],
  ['errors', (t) => figure(t.errors)],
  ['input tokens', (t) => figure(t.inputTokens)],
  ['saved tokens', (t) => figure(t.savedTokens)],
  ['output tokens', (t) => figure(t.outputTokens)],
  ['cost', (t) => dollars(toUsd(knownCost(t)))],
  ['without svc', (t) => dollars(toUsd(costWithout(knownCost(t), knownNetSaving(t))))],
  ['net saving', (t) => dollars(toUsd(knownNetSaving(t)))],
];

function markdownReport(
  date: string,
  now: Totals,
  before: Totals,
  models: readonly GroupTotals[],
): string[] {
  // Clients choose model names: no tag, image or link in them may become active.
  const cell = (text: string) =>
    text.replaceAll(/[\\`*_[\]<>|&~]/g, String.raw`\$&`).replaceAll(/[\r\n]+/g, ' ');
  return [
    `# svc, ${date} (UTC)`,
    '',
    '| | this day | day before |',
    '|---|---:|---:|',
    ...REPORT_ROWS.map(([title, value]) => `| ${title} | ${value(now)} | ${value(before)} |`),
    ...(models.length === 0
      ? []
      : ['', '| model | requests | saved tokens | cost |', '|---|---:|---:|---:|']),
    ...models.map(
      (group) =>
        `| ${cell(group.key ?? 'unknown')} | ${figure(group.requests)} | ${figure(group.savedTokens)} | ${dollars(toUsd(knownCost(group)))} |`,
    ),
  ];
}

class Attribution extends SpanCommand {
  static override paths = [['attribution']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Cost and savings by key, project, agent, model or tool',
    details:
      'The agent is identified by its user agent or its own headers, the skill by `x-svc-skill`, the key by its label (`svc auth`), the project by `x-svc-project`, the key, or the working directory that known agents name; otherwise it is `unknown`. By `tool`, or `mcp` for the servers of tools named `mcp__server__tool`, it shows calls, the tokens of their results as they came and as they were sent, and what the definitions of tools cost: of each request the price of its first input tokens, which are the definitions, cached ones first. Each result counts once, in the request that first carries it; spans are whole UTC days.',
    examples: [
      ['The last week', '$0 attribution --days 7'],
      ['Who spends, and on what', '$0 attribution --by key,project'],
      ['Tokens used by the tools of each project', '$0 attribution --by tool,project'],
    ],
  });

  days = Option.String('--days', { description: 'The last days, today included' });
  by = Option.Array('--by', {
    description: 'agent, skill, model, session, provider, node, key, project, tool, mcp',
  });

  async execute() {
    const typed = (this.by ?? ['agent', 'skill', 'model']).flatMap((text) => text.split(','));
    const groupings = [...new Set(typed)].map((name) => toOneOf(name, '--by', GROUPINGS));
    const nowMs = this.context.clock.wallMs();
    const sinceMs =
      this.days === undefined
        ? 0
        : (Math.floor(nowMs / DAY_MS) - toWhole(this.days, '--days', 1, 3650) + 1) * DAY_MS;
    const span = await this.span(sinceMs);
    const { isOfTools, printTools, toolKeys } = await import('../report/tools.ts');
    if (isOfTools(groupings)) {
      const keys = toolKeys(groupings);
      const tools = await this.ledger((reader, queries) => queries.toolSums(reader, keys, span));
      return printTools(this.context, tools, {
        by: groupings,
        json: this.json,
        span: spanText(span),
      });
    }
    const keys = groupings.map((name) => KEYS[name as keyof typeof KEYS]);
    const groups = await this.ledger((reader, queries) => queries.totalsByAll(reader, keys, span));
    const named = groups.map((group) => ({
      names: keys.map((key) => group[key] ?? null),
      totals: group,
    }));
    if (this.json) {
      const { totalsJson } = await import('../../stages/ledger/report.ts');
      this.printJson({
        attribution: named.map(({ names, totals }) => ({
          ...Object.fromEntries(names.map((name, index) => [groupings[index]!, name])),
          ...totalsJson(totals),
        })),
      });
    } else if (named.length === 0) this.print(`No request was recorded (${spanText(span)})`);
    else {
      this.printTable(
        [...groupings, '>requests', '>saved', '>net saving', '>cost'],
        named.map(({ names, totals }) => [
          ...names.map((name) => name ?? 'unknown'),
          figure(totals.requests),
          figure(totals.savedTokens),
          dollars(toUsd(knownNetSaving(totals))),
          dollars(toUsd(knownCost(totals))),
        ]),
        { expendable: ['saved', 'requests'] },
      );
      this.print();
      this.print(counted(named.length, 'group'));
    }
  }
}

const KEYS = {
  agent: 'client',
  skill: 'skill',
  model: 'model',
  session: 'sessionId',
  provider: 'provider',
  node: 'node',
  key: 'keyLabel',
  project: 'project',
} as const satisfies Record<string, GroupKey>;
const GROUPINGS = [...Object.keys(KEYS), 'tool', 'mcp'];

export const commands = [Compare, Leaderboard, Report, Attribution];
