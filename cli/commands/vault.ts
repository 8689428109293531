/**
 * `svc index|search|calibrate|vault-health|rebuild-vault-index`: the index of the user's own files.
 */
import { Option } from 'clipanion';
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { Config } from '../../server/config/config.ts';
import { MAX_WORKERS } from '../../stages/vault/read/read-pool.ts';
import { calibrate } from '../../stages/vault/indexing/calibrate.ts';
import { checkVault, rebuildVault } from '../../stages/vault/log/health.ts';
import { foreignFileError } from '../../stages/vault/log/owner.ts';
import type { RebuildReport } from '../../stages/vault/log/health.ts';
import { shortPath } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { toWhole } from '../parse/flags.ts';
import { counted, figure, writeLine } from '../screen/output.ts';
import { VaultCommand } from '../vault/command.ts';
import { Index } from '../vault/index-command.ts';
import { createProgressView } from '../screen/progress.ts';
import {
  calibrationJson,
  healthJson,
  healthRows,
  hitJson,
  hitLines,
  reportJson,
  reportRows,
} from '../vault/report.ts';
import { searchRunning } from '../vault/running-proxy.ts';
import type { HitView } from '../vault/running-proxy.ts';

class Search extends VaultCommand {
  static override paths = [['search']];
  static override usage = VaultCommand.Usage({
    category: 'Vault',
    description: 'Search the indexed files as a question would',
    details:
      'Scores are BM25: the scores that `SVC_INJECT_MIN_SCORE` is compared with. Exit code 5 when nothing is found.',
    examples: [
      ['Where something is', '$0 search circuit breaker half open'],
      ['Only the best three, for a script', '$0 search --top 3 --json retry after'],
      ['Also what is never sent to a provider', '$0 search --all password'],
    ],
  });

  words = Option.Rest({ name: 'query', required: 1 });
  top = Option.String('--top', '10', { description: 'Most hits, 1 to 1000' });
  all = Option.Boolean('--all', false, {
    description: 'Also blocks that are never sent: secret, generated, or marked so',
  });

  async execute() {
    const { context } = this;
    const query = this.words.join(' ');
    const top = toWhole(this.top, '--top', 1, 1000);
    const config = await this.settings();
    const search = { query, top, includeUnsafe: this.all };
    const hits: readonly HitView[] =
      (await searchRunning(config, search)) ??
      (await this.withVault(config, async (vault) => {
        const { available } = await vault.status();
        if (!available) throw this.noIndex(config);
        return vault.search(query, search);
      }));
    if (this.json) {
      this.printJson({ query, hits: hits.map(hitJson) });
    } else {
      // A file's text is shown unchanged, even if it mentions a command of ours.
      for (const [index, hit] of hits.entries()) {
        if (index > 0) writeLine(context.stdout, '');
        for (const line of hitLines(hit, context, this.colors)) writeLine(context.stdout, line);
      }
      if (hits.length === 0) this.note('Nothing found');
    }
    return hits.length > 0 ? 0 : exitCodes.not_found;
  }
}

class Calibrate extends VaultCommand {
  static override paths = [['calibrate']];
  static override usage = VaultCommand.Usage({
    category: 'Vault',
    description: 'Measure how many workers index fastest on this machine',
    details: 'The result is stored with the index, and `svc index` uses it.',
    examples: [['With the files of this folder', '$0 calibrate']],
  });

  directory = Option.String({ name: 'directory', required: false });
  maxWorkers = Option.String('--max-workers', `${MAX_WORKERS}`, {
    description: `Try no more than this, 1 to ${MAX_WORKERS}`,
  });

  async execute() {
    const maxWorkers = toWhole(this.maxWorkers, '--max-workers', 1, MAX_WORKERS);
    const config = await this.settings();
    const found = await this.interruptible((signal) =>
      calibrate({
        ...this.basics(config),
        root: resolve(this.context.cwd, this.directory ?? '.'),
        maxWorkers,
        signal,
        onTrial: ({ workers, filesPerSecond }) => {
          const rate = figure(Math.round(filesPerSecond));
          this.note(`${counted(workers, 'worker')}: ${rate} files/s`);
        },
      }),
    );
    if (this.json) this.printJson(calibrationJson(found));
    else this.print(`${counted(found.workers, 'worker')} will be used from now on`);
  }
}

/** Shared by the commands that rebuild. */
abstract class RebuildingCommand extends VaultCommand {
  async rebuild(config: Config): Promise<number> {
    const view = createProgressView(this.context);
    const report = await this.interruptible((signal) =>
      rebuildVault({
        ...this.basics(config),
        signal,
        onProgress: (progress) => view.show(progress),
        onWait: () => this.note('Another process is indexing; waiting for it to end…'),
      }).finally(() => view.clear()),
    );
    if (report === undefined) throw this.noIndex(config);
    let health = await checkVault(config.vault.indexPath);
    const isOurs = health.inTheWay.length === 0;
    if (health.status === 'broken' && isOurs && report.pending.length === 0) {
      // Opening the SQLite backend replaces a damaged database.
      await this.withVault(config, (vault) => vault.status(), 'sqlite');
      health = await checkVault(config.vault.indexPath);
    }
    this.printRebuilt(report, health.status);
    if (report.pending.length > 0) return exitCodes.cancelled;
    for (const path of health.inTheWay) throw foreignFileError(path);
    return health.status === 'ok' ? 0 : exitCodes.internal;
  }

  private printRebuilt(report: RebuildReport, status: string): void {
    const { context } = this;
    if (this.json)
      return this.printJson({
        status,
        moved_to: report.movedTo ?? null,
        folders: report.reports.map(reportJson),
        unreadable: report.unreadable,
        pending: report.pending,
      });
    for (const one of report.reports) {
      const stopped = one.complete ? '' : ' in part';
      this.print(`Rebuilt ${shortPath(one.root, context)}${stopped}`);
      this.printPairs(reportRows(one));
    }
    if ([...report.reports, ...report.unreadable, ...report.pending].length === 0)
      this.print('No folder is indexed; what was ingested at run time is kept');
    for (const root of report.unreadable) {
      this.note(`! ${shortPath(root, context)} cannot be read; what was indexed before is kept`);
    }
    for (const root of report.pending) {
      const path = shortPath(root, context);
      this.note(`! ${path} has not been read again yet: \`svc index ${path}\` goes on`);
    }
    if (report.movedTo === undefined) return;
    this.print(`The old index is ${shortPath(report.movedTo, context)} (may be deleted)`);
  }
}

class VaultHealthCommand extends RebuildingCommand {
  static override paths = [['vault-health']];
  static override usage = VaultCommand.Usage({
    category: 'Vault',
    description: 'Check every record of the index, or rebuild it',
    details: 'Exit code 0 when all is well, 5 when there is no index, 1 when it is broken.',
    examples: [
      ['Check', '$0 vault-health'],
      ['Move what is damaged aside and read all files again', '$0 vault-health repair'],
    ],
  });

  what = Option.String({ name: 'repair', required: false });

  async execute() {
    const { context, what } = this;
    if (what !== undefined && what !== 'repair') {
      throw new SvcError('usage', `svc vault-health takes repair or nothing, not '${what}'`);
    }
    const config = await this.settings();
    if (what === 'repair') return this.rebuild(config);
    const health = await checkVault(config.vault.indexPath);
    if (this.json) {
      this.printJson(healthJson(health));
    } else if (health.status === 'missing') {
      throw this.noIndex(config);
    } else {
      const { colors } = this;
      const good = health.status === 'ok';
      this.print(good ? 'The index is intact' : colors.red('The index is broken'));
      for (const reason of health.reasons) this.print(`  ${colors.yellow('!')} ${reason}`);
      this.printPairs(healthRows(health, context));
      for (const path of health.inTheWay) this.note(foreignFileError(path).cure ?? '');
      if (health.reasons.length > health.inTheWay.length) {
        this.note('`svc vault-health repair` rebuilds it.');
      }
    }
    if (health.status === 'missing') return exitCodes.not_found;
    return health.status === 'ok' ? 0 : exitCodes.internal;
  }
}

class RebuildVaultIndex extends RebuildingCommand {
  static override paths = [['rebuild-vault-index']];
  static override usage = VaultCommand.Usage({
    category: 'Vault',
    description: 'Read every file of all indexed folders again',
    details:
      'Each file replaces what the index held of it; what was ingested at run time is kept. A damaged index is rebuilt, and the old one is kept under another name.',
    examples: [['After changes that `svc index` did not see', '$0 rebuild-vault-index']],
  });

  async execute() {
    return this.rebuild(await this.settings());
  }
}

export const commands = [Index, Search, Calibrate, VaultHealthCommand, RebuildVaultIndex];
