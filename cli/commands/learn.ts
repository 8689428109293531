/** `svc learn status|reset|apply`: what compression has learned from the traffic. */
import { join } from 'node:path';
import { Command } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { LearnedStatus } from '../../stages/learned/learned.ts';
import { localMoment } from '../../server/dashboard/page/local-time.ts';
import { counted } from '../screen/output.ts';
import { controlIfRunning } from '../remote.ts';

type LearnCommandName = 'status' | 'reset' | 'apply';

abstract class Learn extends JsonCommand {
  /** Asks the running proxy, which has the newest figures; without one, uses the file. */
  protected async ask(what: LearnCommandName): Promise<LearnedStatus> {
    const { home } = this;
    const result = await controlIfRunning<LearnedStatus>(home, 'learn', what);
    if (result !== undefined) return result;
    const [{ openLearned }, { learn }, { ensureHome }] = await Promise.all([
      import('../../stages/learned/learned.ts'),
      import('../../server/control/control-commands.ts'),
      import('../../server/config/home.ts'),
    ]);
    let readError: Error | undefined;
    if (what !== 'status') ensureHome(home);
    const learned = await openLearned({
      file: join(home, 'learned.json'),
      clock: this.context.clock,
      onProblem: (error) => (readError = error),
    });
    const status = learn(learned, what);
    await learned.flush();
    if (readError === undefined) return status;
    throw new SvcError('config', `What was learned cannot be read or saved: ${readError.message}`, {
      cause: readError,
    });
  }
}

class LearnStatus extends Learn {
  static override paths = [['learn', 'status']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'What compression saves on each kind of output',
    examples: [['Look', '$0 learn status']],
  });

  async execute() {
    const status = await this.ask('status');
    if (this.json) this.printJson(statusJson(status));
    else this.show(status);
  }

  private show(status: LearnedStatus): void {
    const { patterns, models, applied } = status;
    if (patterns.length === 0 && models.length === 0) {
      this.print('Nothing has been learned yet: that takes requests that are compressed.');
    }
    if (patterns.length > 0) {
      const left = new Set(applied?.skip.map((one) => JSON.stringify(one)));
      const header = ['output of', 'class', 'mode', '>blocks', '>saved', 'in new conversations'];
      const rows = patterns.map(({ mode, kind, toolName, samples, saved, wouldSkip }) => {
        const isLeft = left.has(JSON.stringify({ mode, kind, toolName }));
        const plan = wouldSkip ? this.colors.yellow('`svc learn apply` skips it') : 'compressed';
        return [
          toolName ?? 'the user (pasted)',
          kind,
          mode,
          samples.toLocaleString('en-US'),
          `${(100 * saved).toFixed(1)}%`,
          isLeft ? 'left alone' : plan,
        ];
      });
      this.printTable(header, rows);
    }
    if (models.length > 0) {
      this.print();
      const rows = models.map(({ model, samples, tokenRatio }) => [
        model,
        samples.toLocaleString('en-US'),
        tokenRatio.toFixed(3),
      ]);
      this.printTable(['model', '>requests', '>tokens per estimated one'], rows);
    }
    this.print();
    this.print(appliedLine(applied));
  }
}

class LearnReset extends Learn {
  static override paths = [['learn', 'reset']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Delete what was learned, and the rules applied from it',
    examples: [['Start over', '$0 learn reset']],
  });

  async execute() {
    const status = await this.ask('reset');
    if (this.json) this.printJson(statusJson(status));
    else
      this.print(
        'Deleted what was learned. Running conversations keep the rules they started with.',
      );
  }
}

class LearnApply extends Learn {
  static override paths = [['learn', 'apply']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Stop compressing output on which little is saved',
    details:
      'A kind of tool output is no longer compressed once at least 20 blocks were seen and less than 2% was saved. Running conversations are never changed, so no prompt cache is lost.',
    examples: [['Apply what `svc learn status` marks', '$0 learn apply']],
  });

  async execute() {
    const status = await this.ask('apply');
    if (this.json) return this.printJson(statusJson(status));
    const skip = status.applied?.skip ?? [];
    if (skip.length === 0) this.print('Applied: every kind is worth compressing');
    else {
      this.print(`Applied to new conversations: ${counted(skip.length, 'kind')} left alone`);
      for (const { mode, kind, toolName } of skip)
        this.print(`  ${kind} from ${toolName ?? 'the user'} in mode ${mode}`);
    }
  }
}

function appliedLine(applied: LearnedStatus['applied']): string {
  if (applied === null) return 'No rules are applied.';
  const since =
    applied.atMs === null ? '' : ` since ${localMoment(new Date(applied.atMs).toISOString())}`;
  return `Rules ${applied.id} are applied${since}: ${counted(applied.skip.length, 'kind')} left alone.`;
}

function statusJson({ patterns, models, applied }: LearnedStatus) {
  return {
    patterns: patterns.map(({ mode, kind, toolName, samples, saved, wouldSkip }) => ({
      mode,
      class: kind,
      tool: toolName,
      samples,
      saved_ratio: saved,
      would_skip: wouldSkip,
    })),
    models: models.map(({ model, samples, tokenRatio }) => ({
      model,
      samples,
      token_ratio: tokenRatio,
    })),
    applied:
      applied === null
        ? null
        : {
            id: applied.id,
            at: applied.atMs === null ? null : new Date(applied.atMs).toISOString(),
            skip: applied.skip.map(({ mode, kind, toolName }) => ({
              mode,
              class: kind,
              tool: toolName,
            })),
          },
  };
}

export const commands = [LearnStatus, LearnReset, LearnApply];
