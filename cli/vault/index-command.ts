/** `svc index`: brings the vault up to date with a folder, once or continuously. */
import { Option } from 'clipanion';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { Config } from '../../server/config/config.ts';
import { decisionsFile } from '../../server/config/home.ts';
import { DEFAULT_WORKERS, MAX_WORKERS } from '../../stages/vault/read/read-pool.ts';
import { calibrate, readCalibration } from '../../stages/vault/indexing/calibrate.ts';
import { forgetFolder } from '../../stages/vault/indexing/forget.ts';
import { indexFolder } from '../../stages/vault/indexing/indexer.ts';
import { isIndexing } from '../../stages/vault/log/health.ts';
import { watchFolder } from '../../stages/vault/indexing/watch.ts';
import type { IndexReport } from '../../stages/vault/indexing/index-run.ts';
import { shortPath } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { toWhole } from '../parse/flags.ts';
import { counted, figure, printError } from '../screen/output.ts';
import { VaultCommand } from './command.ts';
import { createProgressView, spanOf } from '../screen/progress.ts';
import { reportJson, reportRows } from './report.ts';
import { statusOfRunning } from './running-proxy.ts';

export class Index extends VaultCommand {
  static override paths = [['index']];
  static override usage = VaultCommand.Usage({
    category: 'Vault',
    description: 'Index a folder, so that requests can use its files',
    details:
      'Only changed files are read again. Ignored, binary, large and secret files are skipped and counted. It can be interrupted at any time: what was read is kept. A running proxy uses the new index at once.',
    examples: [
      ['This folder', '$0 index'],
      ['Another folder, and keep its index up to date', '$0 index ~/notes --watch'],
      ['What is indexed', '$0 index --status'],
      ['Take a folder out of the index, even a deleted one', '$0 index ~/notes --forget'],
      ['Measure first how many workers are best', '$0 index --recalibrate'],
    ],
  });

  directory = Option.String({ name: 'directory', required: false });
  status = Option.Boolean('--status', false, { description: 'Only show what is indexed' });
  forget = Option.Boolean('--forget', false, {
    description: 'Take the folder out of the index; its files are not touched',
  });
  workers = Option.String('-w,--workers', {
    description: `Threads that read files, 1 to ${MAX_WORKERS}; default: as calibrated, else ${DEFAULT_WORKERS}`,
  });
  maxWorkers = Option.String('--max-workers', `${MAX_WORKERS}`, {
    description: `Never more threads than this; above ${MAX_WORKERS} counts as ${MAX_WORKERS}`,
  });
  watch = Option.Boolean('--watch', false, { description: 'Keep running, and index every change' });
  recalibrate = Option.Boolean('--recalibrate', false, {
    description: 'Measure the best number of workers first',
  });

  async execute() {
    const config = await this.settings();
    if (this.status) return this.showStatus(config);
    if (this.forget) return this.forgetOne(config);
    const root = resolve(this.context.cwd, this.directory ?? '.');
    return this.interruptible(async (signal) => {
      const workers = await this.workerCount(config, root, signal);
      const report = await this.indexOnce(config, root, workers, signal);
      await this.compareWithProxy(config);
      if (!report.complete || signal.aborted) return exitCodes.cancelled;
      if (this.watch) await this.follow(config, root, workers, signal);
      return 0;
    });
  }

  private async forgetOne(config: Config): Promise<void> {
    const { context, directory } = this;
    if (directory === undefined) {
      throw new SvcError('usage', 'svc index --forget needs the folder to take out');
    }
    if (!existsSync(config.vault.indexPath)) throw this.noIndex(config);
    const root = resolve(context.cwd, directory);
    const { roots, files, remaining } = await this.interruptible((signal) =>
      forgetFolder({
        ...this.basics(config),
        root,
        signal,
        onWait: () => this.note('Another process is indexing; waiting for it to end…'),
      }),
    );
    const sent = decisionsFile(config.home);
    const copies = [...remaining, ...(existsSync(sent) ? [sent] : [])];
    if (this.json) this.printJson({ roots, files, remaining: copies });
    else this.print(`Took ${counted(files, 'file')} of ${shortPath(root, context)} out`);
    if (copies.length > 0 && !this.json) {
      this.note('These may still hold some of its text, and may be deleted:');
      for (const path of copies) this.note(`  ${shortPath(path, context)}`);
    }
  }

  private async workerCount(config: Config, root: string, signal: AbortSignal): Promise<number> {
    const max = Math.min(toWhole(this.maxWorkers, '--max-workers', 1, 1024), MAX_WORKERS);
    const options =
      this.workers === undefined ? undefined : toWhole(this.workers, '--workers', 1, MAX_WORKERS);
    const found = this.recalibrate
      ? await calibrate({ ...this.basics(config), root, maxWorkers: max, signal })
      : readCalibration(config.vault.indexPath);
    if (this.recalibrate && found !== undefined) {
      this.note(`${counted(found.workers, 'worker')} index fastest here`);
    }
    return Math.min(options ?? found?.workers ?? DEFAULT_WORKERS, max);
  }

  private async indexOnce(config: Config, root: string, workers: number, signal: AbortSignal) {
    const view = createProgressView(this.context);
    let last = { done: 0, total: 0 };
    const report = await indexFolder({
      ...this.basics(config),
      root,
      workers,
      signal,
      onWait: () => this.note('Another process is indexing; waiting for it to end…'),
      onProgress(progress) {
        last = progress;
        view.show(progress);
      },
    }).finally(() => view.clear());
    if (this.json) this.printRun(report);
    else this.printReport(report, config);
    if (!report.complete) this.printStopped(last, root);
    await this.updateDatabase(config, signal);
    return report;
  }

  /** So that the first request does not have to wait for it. */
  private async updateDatabase(config: Config, signal: AbortSignal): Promise<void> {
    if (config.vault.backend !== 'sqlite' || signal.aborted) return;
    await this.withVault(config, (vault) => vault.status());
  }

  private printRun(report: IndexReport): void {
    // One line per run, so that a watcher's output can be read line by line.
    if (this.watch) this.context.stdout.write(`${JSON.stringify(reportJson(report))}\n`);
    else this.printJson(reportJson(report));
  }

  private printReport(report: IndexReport, config: Config): void {
    const [from, to] = [report.root, config.vault.indexPath].map((path) =>
      shortPath(path, this.context),
    );
    this.print(`${report.complete ? 'Indexed' : 'Indexed in part:'} ${from} → ${to}`);
    this.printPairs(reportRows(report));
  }

  private printStopped(last: { done: number; total: number }, root: string): void {
    const how = last.total === 0 ? '' : ` ${figure(last.done)} of ${figure(last.total)} files are`;
    this.note(`Stopped.${how === '' ? ' What was read is' : how} in the index and kept.`);
    this.note(`\`svc index ${shortPath(root, this.context)}\` continues from there.`);
  }

  private async follow(config: Config, root: string, workers: number, signal: AbortSignal) {
    const { context } = this;
    let isFirst = true;
    const watch = await watchFolder({
      ...this.basics(config),
      root,
      workers,
      signal,
      onError: (error) => printError(context, error),
      onIndexed: (report) => {
        const isQuiet = report.indexed === 0 && report.removed === 0;
        if (!(isFirst && isQuiet) && report.complete) this.printChange(report);
        isFirst = false;
      },
    });
    this.note(`Watching ${shortPath(root, context)}; Ctrl-C ends it.`);
    // The timer keeps the process alive if the watcher does not.
    const alive = setInterval(() => undefined, 60_000);
    await new Promise<void>((done) => {
      if (signal.aborted) done();
      else signal.addEventListener('abort', () => done(), { once: true });
    });
    clearInterval(alive);
    await watch.close();
  }

  private printChange(report: IndexReport): void {
    if (this.json) return this.printRun(report);
    const { indexed, removed, durationMs } = report;
    this.print(`${counted(indexed, 'file')} read, ${figure(removed)} gone (${spanOf(durationMs)})`);
  }

  private async showStatus(config: Config): Promise<number | void> {
    const { context } = this;
    const status =
      (await statusOfRunning(config)) ?? (await this.withVault(config, (vault) => vault.status()));
    const calibrated = readCalibration(config.vault.indexPath)?.workers;
    const indexing = isIndexing(config.vault.indexPath);
    if (this.json) {
      const { rebuilding: _, ...fields } = status;
      this.printJson({ ...fields, indexing, calibrated_workers: calibrated ?? null });
      return status.available ? 0 : exitCodes.not_found;
    }
    if (!status.available) throw this.noIndex(config);
    const rows: (readonly [string, string])[] = [
      ['index', `${shortPath(status.path, context)} (${status.backend})`],
      ['folders', status.roots.map((root) => shortPath(root, context)).join(', ') || 'none'],
      ['files', figure(status.files)],
      ['blocks', `${figure(status.blocks)}, ${figure(status.tokens)} tokens`],
      ['workers', calibrated === undefined ? 'not calibrated' : `${calibrated}, calibrated`],
      ...(indexing ? [['now', 'another process is indexing'] as const] : []),
    ];
    this.printPairs(rows);
  }
}
