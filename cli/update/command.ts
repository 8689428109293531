/** `svc update`: checks for a newer version and, after confirmation, installs it. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { shortPath } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { noteSigned, signedConversations } from '../process/signed-conversations.ts';
import { openPrompts } from '../prompts/prompts.ts';
import { isIn, isNewer, readInstalled } from './installed.ts';
import type { Installed } from './installed.ts';
import { globalPackagesFolder, installGlobally, published } from './npm.ts';

/** Exit code of `--check` if there is a newer version. */
const NEWER = 1;

class Update extends JsonCommand {
  static override paths = [['update']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Look for a newer version and, if you agree, install it',
    details:
      'npm queries its configured registry; nothing else is sent. Without --yes it asks before it installs anything. --check only looks: exit code 0 if this is the newest version, 1 if there is a newer one.',
    examples: [
      ['Look, ask, install', '$0 update'],
      ['For a script', '$0 update --check'],
    ],
  });

  check = Option.Boolean('--check', false, {
    description: 'Only look; exit code 1 if there is a newer version',
  });
  yes = Option.Boolean('--yes,-y', false, { description: 'Install without asking' });

  async execute() {
    const { context } = this;
    const installed = readInstalled(context.entry);
    const { name, version, bin } = installed;
    const found = await published(name, context.env);
    // A package of the same name with other programs is not a newer version of this one.
    const latest = found !== undefined && found.bin[name] === bin[name] ? found.version : null;
    const hasNewer = latest !== null && isNewer(latest, version);
    const way = hasNewer ? await this.wayOf(installed, latest) : undefined;
    const isAgreed =
      !this.check && way?.isOurs === true && (await this.isAgreed(way.command, version, latest));
    if (isAgreed && latest !== null) await installGlobally(name, latest, context.env);
    const isRunning = runningInstance(this.home) !== undefined;
    const signed = isAgreed ? await signedConversations(this.home, context) : 0;
    noteSigned(signed, 'update', context);
    if (this.json)
      this.printJson({
        installed: version,
        latest,
        newer: hasNewer,
        command: way?.command ?? null,
        updated: isAgreed,
        restart_needed: isAgreed && isRunning,
        signed_conversations: signed,
      });
    else if (latest === null)
      this.print(
        `svc ${version}; the registry that npm is configured for has no package of this program`,
      );
    else if (!hasNewer) this.print(`svc ${version} is the newest version`);
    else if (isAgreed) {
      this.print(`svc ${latest} is installed`);
      if (isRunning) this.note('`svc restart` has the running proxy use it.');
    } else if (this.check || way?.isOurs !== true)
      this.print(`svc ${latest} is available; this is ${version}. Update it with: ${way?.command}`);
    if (this.yes && way?.isOurs === false && !this.check)
      throw new SvcError('conflict', 'This svc was not installed by `npm install -g`', {
        cure: `Instead: ${way.command}`,
      });
    return this.check && hasNewer ? NEWER : 0;
  }

  /** Returns the command that updates this installation, and whether svc may run it. */
  private async wayOf(installed: Installed, latest: string) {
    const { context } = this;
    const { name, kind, root } = installed;
    const folder = shortPath(root, context);
    if (kind === 'checkout') return { command: `git -C ${folder} pull`, isOurs: false };
    const global = await globalPackagesFolder(context.env);
    if (global !== undefined && isIn(global, installed))
      return { command: `npm install -g ${name}@${latest}`, isOurs: true };
    return {
      command: `npm install ${name}@${latest} in the project that contains ${folder}`,
      isOurs: false,
    };
  }

  private async isAgreed(command: string, version: string, latest: string | null) {
    this.note(`svc ${latest} is available; this is ${version}. This will run: ${command}`);
    if (this.yes) return true;
    const prompts = await openPrompts(this.context);
    try {
      if (await prompts.confirm('Install it?', true)) return true;
    } finally {
      prompts.close();
    }
    throw new SvcError('cancelled', 'Not confirmed: nothing was changed');
  }
}

export const commands = [Update];
