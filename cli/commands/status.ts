/** `svc status|version|debug|pause|resume`: the state of the running proxy, and its switches. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { shortPath } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { exitCodes } from '../exit.ts';
import { control, readOwn } from '../remote.ts';
import { readStatus, statusLines } from '../screen/status.ts';

class Status extends JsonCommand {
  static override paths = [['status']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'State of the proxy, its newest requests and retries',
    details: 'Exit code 0 when it is running, 3 when it is not.',
    examples: [
      ['Look', '$0 status'],
      ['What providers read from their prompt caches', '$0 status --tip-cache'],
      ['For a script', '$0 status --json'],
    ],
  });

  tipCache = Option.Boolean('--tip-cache', false, {
    description: 'Also what each provider read from its own prompt cache',
  });

  async execute() {
    const { home } = this;
    const status = await readStatus(home, this.tipCache);
    if (this.json) this.printJson(status);
    else if (status.running) await this.show(status);
    else {
      this.print(`svc is not running (home folder ${shortPath(home, this.context)})`);
      this.note('`svc start --background` starts it.');
    }
    return status.running ? 0 : exitCodes.unavailable;
  }

  private async show(status: Awaited<ReturnType<typeof readStatus>>): Promise<void> {
    const { context } = this;
    for (const line of statusLines(status, this.colors)) this.print(line);
    if (status.recent.length > 0) {
      const { EXPENDABLE, recentHeader, recentRow } = await import('../screen/recent.ts');
      this.print();
      const nowMs = context.clock.wallMs();
      const rows = status.recent.slice(0, 8).map((row) => recentRow(row, nowMs));
      this.printTable(recentHeader(nowMs), rows, { expendable: EXPENDABLE });
    }
    if (status.retries.length > 0) {
      const { RETRY_EXPENDABLE, retryHeader, retryRow } = await import('../screen/retries.ts');
      this.print();
      this.print('Newest retries; `/trace/<id>` shows every attempt');
      const nowMs = context.clock.wallMs();
      const rows = status.retries.slice(0, 5).map((retry) => retryRow(retry, nowMs));
      this.printTable(retryHeader(nowMs), rows, { expendable: RETRY_EXPENDABLE });
    }
    if (!this.tipCache) return;
    const { printPromptCache } = await import('../screen/prompt-cache.ts');
    const isPrinted = await printPromptCache(context, status.prompt_cache ?? {});
    if (isPrinted && status.cache_misses !== null && status.cache_misses !== undefined) {
      const { printMisses } = await import('../screen/misses.ts');
      this.print();
      printMisses(context, status.cache_misses, undefined);
    }
    if (isPrinted) return;
    this.print();
    this.print('No provider has reported its prompt cache yet');
  }
}

class Version extends JsonCommand {
  static override paths = [['version']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The versions of svc, of the running proxy and of Node',
    examples: [
      ['All versions', '$0 version'],
      ['The number alone', '$0 --version'],
    ],
  });

  async execute() {
    const { context, home } = this;
    const root =
      runningInstance(home) === undefined
        ? undefined
        : await readOwn(home, '/').catch(() => undefined);
    const proxy = typeof root?.['version'] === 'string' ? root['version'] : null;
    if (this.json) {
      // Config files have no version of their own: the program's version determines the known keys.
      return this.printJson({
        cli: context.version,
        proxy,
        config: context.version,
        node: context.nodeVersion,
      });
    }
    const rows = [
      ['svc', context.version],
      ['proxy', proxy ?? 'not running'],
      ['config', `settings of ${context.version}`],
      ['node', context.nodeVersion],
    ] as const;
    this.printPairs(rows);
  }
}

class Debug extends JsonCommand {
  static override paths = [['debug']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Log every request step by step, or stop doing so',
    details:
      'Failed requests are always logged, see `svc logs`. `on` and `off` last until the proxy stops or reloads its configuration.',
    examples: [
      ['A line for every request', '$0 debug on'],
      ['Back to the configured level', '$0 debug off'],
      ['Show which it is', '$0 debug status'],
    ],
  });

  what = Option.String({ name: 'on|off|status' });

  async execute() {
    const { what } = this;
    if (!['on', 'off', 'status'].includes(what)) {
      throw new SvcError('usage', `svc debug takes on, off or status, not '${what}'`);
    }
    const input = what === 'status' ? undefined : what === 'on';
    const { debug, written } = await control(this.home, 'debug', input);
    const where =
      written === false
        ? 'nothing is written: logging.enabled is false'
        : 'see `svc logs --follow`';
    if (this.json) this.printJson({ debug });
    else this.print(debug === true ? `Debug logging is on; ${where}` : 'Debug logging is off');
  }
}

class Pause extends JsonCommand {
  static override paths = [['pause']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Send every request unchanged',
    examples: [['Rule out svc as the cause of a problem', '$0 pause']],
  });

  async execute() {
    const result = await control(this.home, 'pause');
    if (this.json) this.printJson(result);
    else this.print('Paused: requests are sent unchanged. `svc resume` ends this.');
  }
}

class Resume extends JsonCommand {
  static override paths = [['resume']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Rewrite requests again after `svc pause`',
    examples: [['Back to normal', '$0 resume']],
  });

  async execute() {
    const result = await control(this.home, 'resume');
    if (this.json) this.printJson(result);
    else this.print('Resumed');
  }
}

export const commands = [Status, Version, Debug, Pause, Resume];
