/** `svc preview` and `svc diff`: what compression would remove, and what it removed. */
import { basename, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { readInput } from '../input-file.ts';
import { runningInstance } from '../process/daemon.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { toMode, toWhole } from '../parse/flags.ts';
import { counted, writeLine, isTerminal } from '../screen/output.ts';
import type { ChangedRequest } from '../preview/changed-blocks.ts';
import type { Preview } from '../preview/preview.ts';

/** Diff lines shown on a terminal by default. */
const MAX_LINES = 60;

class PreviewFile extends JsonCommand {
  static override paths = [['preview']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What compression would do to a request or a text',
    details:
      'A request body of the messages, chat, responses or generative kind is treated as the first of its conversation; any other file as the result of the tool that it looks like, or that --as names. Nothing is sent, and no proxy is needed.',
    examples: [
      ['A request body', '$0 preview request.json'],
      ['A log, and its lines before and after', '$0 preview build.log --show 0'],
      ['Output of a command', '$0 preview out.txt --as "Bash:npm test"'],
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
    description: 'Tokens before the first compressed block; 0 for a file that is not a request',
  });
  ask = Option.String('--ask', {
    description:
      'The user’s question about a file that is not a request; its title by default, none if empty',
  });
  as = Option.String('--as', {
    description: 'The tool whose result the file is, with its command: Bash:npm test',
  });
  model = Option.String('--model', { description: 'Count tokens as this model does' });
  show = Option.String('--show', { description: 'The lines of this block, before and after' });
  full = Option.Boolean('--full', false, { description: 'With --show: every line' });
  all = Option.Boolean('--all', false, { description: 'Also blocks that are never touched' });

  async execute() {
    const preview = await this.preview();
    const last = preview.blocks.at(-1)?.index ?? 0;
    const visible = this.show === undefined ? undefined : toWhole(this.show, '--show', 0, last);
    const view = await import('../preview/preview.ts');
    if (this.json) return this.printJson(view.previewJson(preview, this.file, visible));
    const { colors } = this;
    this.print(view.previewHeading(preview, basename(this.file), colors));
    if (preview.tool !== null && this.as === undefined)
      this.note(`Assumed from the file: ${preview.tool}. --as tool:command names another.`);
    if (this.ask === undefined && preview.tool !== null && view.isProse(preview))
      this.note(
        'Prose is shortened according to a question, here about its title. --ask names another.',
      );
    this.print();
    const rows = view.previewRows(preview, this.all, colors);
    if (rows.length > 0) {
      this.printTable(view.previewHeader, rows);
      this.print();
    }
    const untouched = this.all ? undefined : view.untouchedLine(preview);
    if (untouched !== undefined) this.print(`${untouched} (--all lists them)`);
    if (view.isHeldByThreshold(preview))
      this.note('--threshold 0 shows what the same blocks lose later in a conversation');
    this.printPairs(view.totalPairs(preview.total));
    if (visible !== undefined) await this.showBlock(preview, visible);
  }

  private async preview(): Promise<Preview> {
    const { context } = this;
    const [{ toRequestFile }, { previewOf }, { jobOptions }, { assumedQuestion }] =
      await Promise.all([
        import('../preview/request-file.ts'),
        import('../preview/preview.ts'),
        import('../preview/options.ts'),
        import('../preview/assumed-question.ts'),
      ]);
    const text = readInput(resolve(context.cwd, this.file)).toString();
    const ask = this.ask ?? assumedQuestion(text);
    const file = toRequestFile(text, this.file, ask, this.as);
    const { config } = await configInUse(this.config, context);
    const configured = await jobOptions(config, context);
    const threshold = file.as === 'text' ? 0 : configured.thresholdTokens;
    const options = {
      ...configured,
      // A disabled switch does not matter here: the question is what compression would do.
      mode: this.mode === undefined ? config.compression.mode : await toMode(this.mode),
      thresholdTokens:
        this.threshold === undefined
          ? threshold
          : toWhole(this.threshold, '--threshold', 0, Number.MAX_SAFE_INTEGER),
    };
    return previewOf(file, options, this.model);
  }

  private async showBlock(preview: Preview, visible: number): Promise<void> {
    const block = preview.blocks.find(({ index }) => index === visible);
    if (block === undefined) return;
    const { lineDiff } = await import('../preview/line-diff.ts');
    this.print();
    if (!block.changed) this.print(`Block ${visible} would be sent unchanged.`);
    // Users' texts are shown unchanged, without replacing command names for the screen.
    for (const line of lineDiff(block.before, block.after, {
      colors: this.colors,
      full: this.full,
    }))
      writeLine(this.context.stdout, line);
  }
}

class Diff extends JsonCommand {
  static override paths = [['diff']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What compression removed from a request',
    details:
      'Without an id, the last request that was changed. Removed lines have a minus, their replacements a plus. The proxy keeps the newest 32 MB of changed blocks in memory.',
    examples: [
      ['The last request', '$0 diff'],
      ['A request named in `svc status`, with every line', '$0 diff TwLFV0 --full'],
    ],
  });

  requestId = Option.String({ name: 'request-id', required: false });
  all = Option.Boolean('--all', false, {
    description: `On a terminal: all lines of the diff, not only the first ${MAX_LINES}`,
  });
  full = Option.Boolean('--full', false, {
    description: 'All lines, also of long runs and long lines',
  });

  async execute() {
    const { readChanges } = await import('../preview/changed-blocks.ts');
    const { home } = this;
    const { resolveRequestId } = await import('../request-id.ts');
    const isRunning = runningInstance(home) !== undefined;
    const id =
      this.requestId === undefined || !isRunning
        ? undefined
        : await resolveRequestId(home, this.requestId);
    const changes = await readChanges(home, id);
    if (this.json) {
      const { requestId, ...rest } = changes;
      this.printJson({ request_id: requestId, ...rest });
    } else {
      if (id === undefined) await this.explainChoice(home, changes);
      await this.printChanges(changes);
    }
  }

  /** Without a given request, the user expects the newest. */
  private async explainChoice(home: string, changes: ChangedRequest): Promise<void> {
    const [{ recentRequests }, { shortId }] = await Promise.all([
      import('../request-id.ts'),
      import('../../server/facts/find-request.ts'),
    ]);
    const [newest] = await recentRequests(home);
    const newestId = newest?.['request_id'];
    if (typeof newestId !== 'string' || newestId === changes.requestId) return;
    const short = shortId(newestId);
    this.note(`The newest request, ${short}, was sent unchanged: nothing was removed from it.`);
    this.note(`This is the newest one that was changed: ${shortId(changes.requestId)}.`);
  }

  private async printChanges(changes: ChangedRequest): Promise<void> {
    const { context } = this;
    const [
      { groupHeader, groupRows, changesHeader, changeRows, blockTitle },
      { totalPairs },
      { lineDiff },
    ] = await Promise.all([
      import('../preview/changed-blocks.ts'),
      import('../preview/preview.ts'),
      import('../preview/line-diff.ts'),
    ]);
    const { NOTHING_HELD } = await import('../../server/dashboard/page/request/block-groups.ts');
    const { colors } = this;
    const model = changes.model === null ? '' : ` to ${changes.model}`;
    const changed = counted(changes.blocks.length, 'changed block');
    this.print(
      `${colors.bold(changes.requestId)}${model}: ${changed}${colors.dim(`, tokens counted by ${changes.tokenizer}`)}`,
    );
    this.print();
    if (changes.groups?.length === 0) this.note(NOTHING_HELD);
    else if (changes.groups !== undefined) {
      this.printTable(groupHeader, groupRows(changes));
      this.print();
    }
    if (changes.blocks.length === 0) return;
    this.printTable(changesHeader, changeRows(changes, colors));
    this.print();
    this.printPairs(totalPairs(changes.total));
    const lines = changes.blocks.flatMap((block) => [
      '',
      blockTitle(block, colors),
      ...lineDiff(block.before, block.after, { colors, full: this.full }),
    ]);
    // Users' texts are shown unchanged, without replacing command names for the screen.
    const isCut = isTerminal(context.stdout) && !this.all && !this.full;
    const visible = isCut ? lines.slice(0, MAX_LINES) : lines;
    for (const line of visible) writeLine(context.stdout, line);
    if (visible.length < lines.length)
      this.note(`… ${counted(lines.length - visible.length, 'more line')}; --all shows them`);
  }
}

export const commands = [PreviewFile, Diff];
