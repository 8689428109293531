/** `svc statusline`: one line for Claude Code's statusline, tmux, starship and similar. */
import { Command, Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import { SvcCommand } from '../command.ts';
import { toWhole } from '../parse/flags.ts';
import { FIELD_NAMES, SHOWN_IN } from './line.ts';
import { readStream } from './read-input.ts';
import { statuslineText } from './show.ts';

class Statusline extends SvcCommand {
  static override paths = [['statusline']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'One line of figures for Claude Code, tmux or a prompt',
    details: `Reads what Claude Code passes to a statusline, and what the proxy knows about that session: model, context, cost and savings, prompt cache, the plan window that runs out first. Without input it shows today. \`svc integrate claude-code --statusline\` sets it up. The parts of a template are separated by ' | '; a part with an unknown field is left out. Fields: ${FIELD_NAMES.join(', ')}.`,
    examples: [
      ['Today', '$0 statusline'],
      ['Of your own', "$0 statusline --format '{model} | {cost} | {windows}'"],
      ['For status-right of tmux', '$0 statusline --for tmux'],
    ],
  });

  format = Option.String('--format', { description: 'A template, such as {model} | {cost}' });
  for = Option.String('--for', SHOWN_IN[0], { description: `${SHOWN_IN.join(', ')}` });
  width = Option.String('--width', {
    description: 'Maximum width in columns (COLUMNS, else unlimited)',
  });
  noColor = Option.Boolean('--no-color', false, { description: 'Without colours' });

  async execute() {
    const { context } = this;
    const shownIn = SHOWN_IN.find((one) => one === this.for);
    if (shownIn === undefined)
      throw new SvcError('usage', `--for takes ${SHOWN_IN.join(', ')}, not '${this.for}'`);
    const text = await statuslineText(
      {
        format: this.format,
        shownIn,
        hasColors: !this.noColor,
        width: this.width === undefined ? undefined : toWhole(this.width, '--width', 1, 10_000),
      },
      {
        env: context.env,
        userHome: context.userHome,
        cwd: context.cwd,
        nowMs: context.clock.wallMs(),
        input: () => readStream(context.stdin),
      },
    );
    context.stdout.write(text);
  }
}

export const commands = [Statusline];
