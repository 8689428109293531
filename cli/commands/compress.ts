/** `svc preview` and `svc diff`: what compression would take away, and what it took. */
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { toLoadOptions, toWhole } from '../flags.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { colorsFor, counted, note, pairs, print, printJson, writeLine } from '../output.ts';
import type { LostRequest } from '../preview/lost.ts';
import type { Preview } from '../preview/preview.ts';
import type { CliCommand } from '../registry.ts';

class PreviewFile extends Command<CliContext> {
  static override paths = [['preview']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What compression would do to a request or a text, block by block',
    details:
      'A request body of the messages, chat or responses kind is taken as the first of its conversation; any other file as what a tool read. Nothing is sent, and no proxy is needed.',
    examples: [
      ['A request body', '$0 preview request.json'],
      ['A log, and its lines before and after', '$0 preview build.log --show 0'],
      ['In another mode', '$0 preview request.json --mode aggressive'],
    ],
  });

  file = Option.String({ name: 'file' });
  config = Option.String('--config', {
    description: 'Config file, in place of ./proxy.yaml and ~/.svc/config.yaml',
  });
  mode = Option.String('--mode', {
    description: 'strict, hybrid or aggressive, in place of the configured one',
  });
  threshold = Option.String('--threshold', {
    description: 'Tokens before the first compressed block; 0 for a file that is no request',
  });
  ask = Option.String('--ask', '', {
    description: 'What the user wants to know of a file that is no request',
  });
  model = Option.String('--model', { description: 'Count tokens as this model does' });
  show = Option.String('--show', { description: 'The lines of this block, before and after' });
  full = Option.Boolean('--full', false, { description: 'With --show: every line' });
  all = Option.Boolean('--all', false, { description: 'Blocks that are never touched, too' });
  json = Option.Boolean('--json', false, { description: 'As JSON' });

  async execute() {
    const { context } = this;
    const preview = await this.preview();
    const last = preview.blocks.length - 1;
    const shown = this.show === undefined ? undefined : toWhole(this.show, '--show', 0, last);
    const view = await import('../preview/preview.ts');
    if (this.json) {
      printJson(context, view.previewJson(preview, this.file, shown));
      return 0;
    }
    const colors = colorsFor(context.stdout, context.env);
    print(context, view.previewHeading(preview, basename(this.file), colors));
    print(context);
    const rows = view.previewRows(preview, this.all, colors);
    if (rows.length > 0) {
      const { printTable } = await import('../table.ts');
      printTable(context, view.previewHead, rows);
      print(context);
    }
    const untouched = this.all ? undefined : view.untouchedLine(preview);
    if (untouched !== undefined) print(context, `${untouched} (--all lists them)`);
    if (view.isHeldByThreshold(preview))
      note(context, '--threshold 0 shows what the same blocks lose further on in a conversation');
    for (const line of pairs(colors, view.totalPairs(preview.total))) print(context, line);
    if (shown !== undefined) await this.showBlock(preview, shown);
    return 0;
  }

  private async preview(): Promise<Preview> {
    const { context } = this;
    const [{ toRequestFile }, { previewOf }, { loadConfig }, { openLearned }] = await Promise.all([
      import('../preview/request-file.ts'),
      import('../preview/preview.ts'),
      import('../../server/config/load.ts'),
      import('../../stages/learned/learned.ts'),
    ]);
    const file = toRequestFile(readText(resolve(context.cwd, this.file)), this.file, this.ask);
    const { config } = await loadConfig(
      toLoadOptions(this.config === undefined ? {} : { config: this.config }, context),
    );
    const { mode, maxChars, logBudgetTokens, thresholdTokens, userProse } = config.compression;
    const learned = await openLearned({
      file: join(config.home, 'learned.json'),
      clock: context.clock,
      onTrouble: (error) => note(context, error.message),
    });
    const threshold = file.as === 'text' ? 0 : thresholdTokens;
    const options = {
      mode: await this.modeOr(mode),
      maxChars,
      logBudgetTokens,
      userProse,
      thresholdTokens:
        this.threshold === undefined
          ? threshold
          : toWhole(this.threshold, '--threshold', 0, Number.MAX_SAFE_INTEGER),
      ...(learned.applied === undefined ? {} : { applied: learned.applied }),
    };
    return previewOf(file, options, this.model);
  }

  private async modeOr(configured: Preview['mode']): Promise<Preview['mode']> {
    const { isMode } = await import('../../stages/compress/settings.ts');
    if (this.mode === undefined) return configured;
    if (isMode(this.mode)) return this.mode;
    throw new SvcError('usage', `--mode: ${JSON.stringify(this.mode)} is no mode`, {
      cure: 'The modes are strict, hybrid and aggressive.',
    });
  }

  private async showBlock(preview: Preview, shown: number): Promise<void> {
    const { context } = this;
    const block = preview.blocks[shown];
    if (block === undefined) return;
    const { lineDiff } = await import('../preview/line-diff.ts');
    const colors = colorsFor(context.stdout, context.env);
    print(context);
    if (!block.changed) print(context, `Block ${shown} would go out as it is.`);
    // Texts of users are shown as they are: nothing in them is ours to rewrite for the screen.
    for (const line of lineDiff(block.before, block.after, { colors, full: this.full }))
      writeLine(context.stdout, line);
  }
}

class Diff extends Command<CliContext> {
  static override paths = [['diff']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What compression removed from a request, with the original at hand',
    details:
      'Without an id, the last request that lost something. Removed lines have a minus, what stands for them a plus. The proxy keeps the newest 32 MB of changed blocks in memory.',
    examples: [
      ['The last request', '$0 diff'],
      ['A request named in `svc status`, with every line', '$0 diff req_3f2a --full'],
    ],
  });

  requestId = Option.String({ name: 'request-id', required: false });
  full = Option.Boolean('--full', false, { description: 'Every line' });
  json = Option.Boolean('--json', false, { description: 'As JSON' });

  async execute() {
    const { context } = this;
    const { readLost } = await import('../preview/lost.ts');
    const lost = await readLost(homeOf(context), this.requestId);
    if (this.json) {
      const { requestId, ...rest } = lost;
      printJson(context, { request_id: requestId, ...rest });
    } else await this.print(lost);
    return 0;
  }

  private async print(lost: LostRequest): Promise<void> {
    const { context } = this;
    const [{ lostHead, lostRows, blockTitle }, { totalPairs }, { lineDiff }, { printTable }] =
      await Promise.all([
        import('../preview/lost.ts'),
        import('../preview/preview.ts'),
        import('../preview/line-diff.ts'),
        import('../table.ts'),
      ]);
    const colors = colorsFor(context.stdout, context.env);
    const model = lost.model === null ? '' : ` to ${lost.model}`;
    const changed = counted(lost.blocks.length, 'changed block');
    print(
      context,
      `${colors.bold(lost.requestId)}${model}: ${changed}${colors.dim(`, tokens counted by ${lost.tokenizer}`)}`,
    );
    print(context);
    printTable(context, lostHead, lostRows(lost, colors));
    print(context);
    for (const line of pairs(colors, totalPairs(lost.total))) print(context, line);
    for (const block of lost.blocks) {
      writeLine(context.stdout, '');
      writeLine(context.stdout, blockTitle(block, colors));
      for (const line of lineDiff(block.before, block.after, { colors, full: this.full }))
        writeLine(context.stdout, line);
    }
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new SvcError('not_found', `There is no file ${path}`, { cause });
    throw new SvcError('bad_request', `${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

export const compressCommands: readonly CliCommand[] = [PreviewFile, Diff];
