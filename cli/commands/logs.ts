/** `svc logs`: the end of the log, and new lines. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { parseJson } from '../../stages/dialect/json-kind.ts';
import { toTextLine } from '../../server/log/text.ts';
import { visibleJson } from '../../server/log/visible.ts';
import { shortPath } from '../context.ts';
import { outputFile, runningInstance } from '../process/daemon.ts';
import { onEnd } from '../process/signals.ts';
import { toWhole } from '../parse/flags.ts';
import { followFile, lastLines } from '../log-file.ts';
import { writeLine } from '../screen/output.ts';
import type { Colors } from '../screen/output.ts';
import { controlIfRunning } from '../remote.ts';

/** Polling interval of a followed log. */
const POLL_MS = 250;

class Logs extends SvcCommand {
  static override paths = [['logs']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The newest lines of the log',
    examples: [
      ['The last 50 lines', '$0 logs'],
      ['The last 200, then new lines as they arrive', '$0 logs -n 200 --follow'],
      ['Lines as JSON, for a program', '$0 logs --json'],
    ],
  });

  lines = Option.String('-n,--lines', '50', { description: 'How many lines (50)' });
  follow = Option.Boolean('-f,--follow', false, { description: 'Show new lines until Ctrl-C' });
  json = Option.Boolean('--json,--raw', false, { description: 'One JSON object a line' });

  async execute() {
    const { context } = this;
    const count = toWhole(this.lines, '--lines', 0, 1_000_000);
    const { path, why } = await this.location();
    const show = (line: string) =>
      this.json
        ? context.stdout.write(`${visibleJson(toJsonLine(line))}\n`)
        : writeLine(context.stdout, colored(toTextLine(line), this.colors));
    if (why !== undefined) this.note(why);
    else if (!existsSync(path)) this.note(`No log yet: ${shortPath(path, context)}`);
    const follower = followFile(path);
    if (count > 0) for (const line of lastLines(path, count)) show(line);
    if (!this.follow) return;
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => follower.read().forEach(show), POLL_MS);
      const stopListening = onEnd(context, () => {
        clearInterval(timer);
        stopListening();
        resolve();
      });
    });
  }

  /** Returns the log file, and where else the running proxy logs to. */
  private async location(): Promise<{ readonly path: string; readonly why?: string }> {
    const { home } = this;
    const log = join(home, 'logs', 'svc.log');
    const running = runningInstance(home);
    const own = running && (await controlIfRunning(home, 'status').catch(() => undefined));
    const destination = own?.['log_destination'];
    const printed = outputFile(home);
    const isPrinted = (statSync(printed, { throwIfNoEntry: false })?.size ?? 0) > 0;
    // A background proxy that logged to its stdout has left that file behind.
    if (running === undefined || own === undefined)
      return { path: !existsSync(log) && isPrinted ? printed : log };
    if (destination === 'file') return { path: log };
    const who = `The proxy (pid ${running.pid})`;
    if (destination !== 'stdout')
      return { path: log, why: `${who} writes no log: logging.enabled is false.` };
    if (running.background) {
      const where = shortPath(printed, this.context);
      return { path: printed, why: `${who} logs to stdout, which is ${where}.` };
    }
    return {
      path: log,
      why: `${who} logs to stdout: see the terminal or the service that started it.${existsSync(log) ? ' These lines are older:' : ''}`,
    };
  }
}

/** A line in the format of `toTextLine`: time, level, and the rest. */
const TEXT_LINE = /^(\S+) (DEBUG|INFO|WARNING|ERROR)( .*)$/;

/** Returns a JSON line unchanged; a text line as an object of its parts. */
function toJsonLine(line: string): string {
  if (isObject(line)) return line.trimEnd();
  const [, time, level, rest] = TEXT_LINE.exec(line.trimEnd()) ?? [];
  if (level === undefined || rest === undefined) return JSON.stringify({ msg: line.trimEnd() });
  return JSON.stringify({ time, level: level.toLowerCase(), msg: rest.trimStart() });
}

function isObject(line: string): boolean {
  const value = parseJson(line);
  return typeof value === 'object' && value !== null;
}

/** Returns the line with its time dimmed and its level coloured by severity. */
function colored(line: string, colors: Colors): string {
  const match = TEXT_LINE.exec(line.trimEnd());
  if (match === null) return line.trimEnd();
  const [, time = '', level = '', rest = ''] = match;
  const paint = {
    DEBUG: colors.dim,
    INFO: colors.green,
    WARNING: colors.yellow,
    ERROR: colors.red,
  };
  return `${colors.dim(time)} ${paint[level as keyof typeof paint](level)}${rest}`;
}

export const commands = [Logs];
