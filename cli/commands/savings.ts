/** `svc savings|cache-stats|cache-clear`: what was saved, and by which part. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { MissReportJson } from '../../stages/ledger/miss-json.ts';
import type { CliContext } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { spanOf, withLedger } from '../ledger.ts';
import { counted, dollars, figure, percent } from '../screen/output.ts';
import { printPromptCache } from '../screen/prompt-cache.ts';
import { control, readOwn } from '../remote.ts';
import type { Json } from '../remote.ts';

class Savings extends JsonCommand {
  static override paths = [['savings']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What svc saved, by source, by model and by day',
    details:
      'From the running proxy, or from the ledger when none is running. Nothing is counted twice. What providers cached without being asked by svc is shown, but is not a saving of svc.',
    examples: [
      ['Everything that was recorded', '$0 savings'],
      ['This month', '$0 savings --since 2026-01-01'],
      ['What svc would have saved on the sessions on this machine', '$0 savings --estimate'],
      ['The same for a folder of them', '$0 savings --estimate ~/.claude/projects'],
      ['Tools that were never called, and what they cost', '$0 savings --prefix'],
      ['What missing the providers’ prompt caches cost, and why', '$0 savings --misses'],
    ],
  });

  config = Option.String('--config', { description: 'Config file, used when no proxy is running' });
  since = Option.String('--since', { description: 'From this ISO 8601 date or time on' });
  estimate = Option.Boolean('--estimate', false, {
    description:
      'What svc would have saved on session files of Claude Code, Codex, Gemini CLI and OpenCode; nothing is sent',
  });
  prefix = Option.Boolean('--prefix', false, {
    description:
      'Tools that requests define: what they cost in 30 days, or from --since on, and which were never called',
  });
  misses = Option.Boolean('--misses', false, {
    description:
      'What was lost because providers’ prompt caches were missed: by cause, with what helps against each',
  });
  mode = Option.String('--mode', {
    description: 'With --estimate: compression mode, in place of the configured one',
  });
  seconds = Option.String('--seconds', {
    description: 'With --estimate and --prefix: begin no further file after these seconds (120)',
  });
  folder = Option.String({ required: false, name: 'folder' });

  async execute() {
    const { context } = this;
    this.checkOptions();
    const { folder, config, mode, seconds, json, since } = this;
    if (this.estimate) {
      const { estimate } = await import('../estimate/estimate.ts');
      return estimate({ folder, config, mode, seconds, json }, context);
    }
    if (this.prefix) {
      const { prefix } = await import('../estimate/prefix.ts');
      const sinceMs = since === undefined ? undefined : (await spanOf(since, undefined)).sinceMs;
      return prefix({ folder, config, seconds, json, sinceMs }, context);
    }
    if (this.misses) {
      const report = await this.readMisses();
      if (json) return this.printJson(report);
      const { printMisses } = await import('../screen/misses.ts');
      return printMisses(context, report, since);
    }
    const report = await this.read();
    if (json) this.printJson(report);
    else await this.show(report, since);
  }

  /** An option without effect is a mistake. Throws `usage`. */
  private checkOptions(): void {
    const { estimate, prefix, misses, folder, mode, seconds, since } = this;
    const refuse = (message: string): never => {
      throw new SvcError('usage', message);
    };
    if ([estimate, prefix, misses].filter(Boolean).length > 1)
      refuse('--estimate, --prefix and --misses exclude each other');
    if (estimate && since !== undefined)
      refuse('--since cannot be combined with --estimate, which reads whole sessions');
    if (!estimate && mode !== undefined) refuse('--mode needs --estimate');
    if (!estimate && !prefix && (folder ?? seconds) !== undefined)
      refuse('A folder and --seconds need --estimate or --prefix');
  }

  private async read(): Promise<Json> {
    const { context, since } = this;
    const { sinceMs } = await spanOf(since, undefined);
    const { home } = this;
    if (runningInstance(home) === undefined) return fromLedger(context, this.config, sinceMs);
    return readOwn(
      home,
      since === undefined ? '/savings' : `/savings?since=${encodeURIComponent(since)}`,
    );
  }

  private async readMisses(): Promise<MissReportJson> {
    const { context, home, since } = this;
    const { sinceMs } = await spanOf(since, undefined);
    if (runningInstance(home) !== undefined) {
      const path = '/savings/misses';
      const target = since === undefined ? path : `${path}?since=${encodeURIComponent(since)}`;
      return readOwn<MissReportJson>(home, target);
    }
    const { missReportJson } = await import('../../stages/ledger/miss-json.ts');
    return withLedger(context, this.config, async (reader, queries) =>
      missReportJson(await queries.missReport(reader, { sinceMs })),
    );
  }

  private async show(report: Json, since: string | undefined): Promise<void> {
    const span = since === undefined ? '' : ` since ${since}`;
    this.print(this.colors.bold(`Saved${span}`));
    this.print();
    const rows = [
      ['Requests', figure(report['total_requests'])],
      ['Saved', `${figure(report['total_tokens_saved'])} input tokens`],
      ['Worth', savingsValue(report)],
      ...addedRows(report),
    ] as const;
    this.printPairs(rows);
    const { laneTable } = await import('../screen/lanes.ts');
    this.print();
    const { header: laneHeader, rows: laneRows } = laneTable((report['lanes'] ?? {}) as Json);
    this.printTable(laneHeader, laneRows);
    const header = ['>requests', '>tokens saved', '>worth'];
    for (const [title, name] of [
      ['model', 'savings_by_model'],
      ['day (UTC)', 'savings_by_date_7d'],
    ] as const) {
      const groups = Object.entries((report[name] ?? {}) as Record<string, Json>);
      if (groups.length === 0) continue;
      this.print();
      this.printTable(
        [title, ...header],
        groups.map(([key, group]) => [
          key,
          figure(group['requests']),
          figure(group['tokens_saved']),
          dollars(group['cost_saved_usd']),
        ]),
      );
    }
  }
}

class CacheStats extends JsonCommand {
  static override paths = [['cache-stats']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Hits of our caches and of the providers’, this session',
    examples: [['Look', '$0 cache-stats']],
  });

  async execute() {
    const { home } = this;
    if (runningInstance(home) === undefined) {
      const message = 'svc is not running, and its caches exist only while it runs';
      throw new SvcError('unavailable', message, { cure: '`svc start --background` starts it.' });
    }
    const stats = await readOwn(home, '/cache-stats');
    if (this.json) this.printJson(stats);
    else await this.show(stats);
  }

  private async show(stats: Json): Promise<void> {
    const cacheText = (cache: unknown): string => {
      if (typeof cache !== 'object' || cache === null) return 'not in use';
      const { hits, misses, hit_ratio: ratio, entries, bytes } = cache as Json;
      const kept = `${counted(Number(entries), 'entry', 'entries')}, ${(Number(bytes) / 1e6).toFixed(1)} MB`;
      return `${figure(hits)} of ${counted(Number(hits) + Number(misses), 'look-up')} found (${percent(ratio)}), ${kept}`;
    };
    const rows = [
      ['Responses', cacheText(stats['response_cache'])],
      ['Compression', cacheText(stats['compression_cache'])],
    ] as const;
    this.printPairs(rows);
    await printPromptCache(this.context, (stats['prompt_cache'] ?? {}) as Json);
  }
}

class CacheClear extends JsonCommand {
  static override paths = [['cache-clear']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Delete all answers in the response cache',
    details: 'The providers’ own prompt caches are not affected.',
    examples: [['After a prompt was corrected', '$0 cache-clear']],
  });

  async execute() {
    const result = await control(this.home, 'cache-clear');
    if (this.json) this.printJson(result);
    else
      this.print(
        `The response cache is empty; it held ${counted(Number(result['entries']), 'answer')}`,
      );
  }
}

async function fromLedger(
  context: CliContext,
  file: string | undefined,
  sinceMs: number,
): Promise<Json> {
  const { savingsJson } = await import('../../stages/ledger/report.ts');
  return withLedger(context, file, async (reader, queries) =>
    savingsJson(await queries.savingsReport(reader, context.clock.wallMs(), sinceMs)),
  );
}

/** Returns rows on the text added from the vault and the net saving; empty if nothing was added. */
function addedRows(report: Json): readonly (readonly [string, string])[] {
  if (!(Number(report['total_tokens_added']) > 0)) return [];
  const price = (name: string) => dollars(report[`total_${name}_usd`]);
  const tokens = (name: string) => figure(report[`total_${name}`]);
  return [
    ['Added', `${tokens('tokens_added')} tokens of your files, ${price('cost_added')}`],
    ['Net saving', `${tokens('net_tokens_saved')} tokens, ${price('net_cost_saved')}`],
  ];
}

/** Returns the known sum, with a note on requests without a known price. */
function savingsValue(report: Json): string {
  const known = dollars(report['total_cost_saved_usd']);
  const unpriced = Number(report['unpriced'] ?? 0);
  return unpriced === 0
    ? known
    : `${known}, and ${counted(unpriced, 'request')} without a known price`;
}

export const commands = [Savings, CacheStats, CacheClear];
