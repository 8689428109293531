/** `svc completion`: prints a shell script that completes the commands and options of svc. */
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { didYouMean } from '../../server/config/did-you-mean.ts';
import { readTopics } from '../parse/topics.ts';
import { completionScript, shells } from './scripts.ts';

const topicNames = (): string[] => readTopics().map(({ name }) => name);

class Completion extends SvcCommand {
  static override paths = [['completion']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'A completion script for bash, zsh or fish',
    details: 'The script holds the commands of this version; make it again after an update.',
    examples: [
      ['bash: in ~/.bashrc', 'eval "$($0 completion bash)"'],
      ['zsh: in ~/.zshrc', 'eval "$($0 completion zsh)"'],
      ['fish', '$0 completion fish > ~/.config/fish/completions/svc.fish'],
    ],
  });

  shell = Option.String({ name: 'bash|zsh|fish' });

  async execute() {
    const { context } = this;
    const shell = shells.find((one) => one === this.shell);
    if (shell === undefined)
      throw new SvcError(
        'usage',
        `svc completes in bash, zsh and fish, not in '${this.shell}'${didYouMean(this.shell, shells)}`,
      );
    context.stdout.write(completionScript(shell, await context.definitions(), topicNames()));
  }
}

export const commands = [Completion];
