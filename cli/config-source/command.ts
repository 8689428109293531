/**
 * `svc config pull|sync`: fetches the config file from a shared place, checks it and shows the
 * changes before using it.
 */
import { join } from 'node:path';
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { ensureHome } from '../../server/config/home.ts';
import { loadWithText, replaceConfigFile } from '../config-file.ts';
import { shortPath } from '../context.ts';
import type { CliContext } from '../context.ts';
import { fingerprint, readSettingsFile, textOf } from '../integrate/settings-file.ts';
import type { SettingsFile } from '../integrate/settings-file.ts';
import { colorsFor } from '../screen/output.ts';
import { lineDiff } from '../preview/line-diff.ts';
import { openPrompts } from '../prompts/prompts.ts';
import { absoluteLocation, fetchConfig, locationText } from './fetch.ts';
import type { RemoteConfig } from './fetch.ts';
import { masked } from './masked.ts';
import { readRemote, writeRemote } from './record.ts';

abstract class Fetch extends SvcCommand {
  yes = Option.Boolean('--yes,-y', false, { description: 'Apply it without asking' });
  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  protected async apply(remote: RemoteConfig): Promise<void> {
    const { context, home } = this;
    const fetched = await fetchConfig(remote, context.env);
    const file = readSettingsFile(join(home, 'config.yaml'));
    const before = textOf(file);
    const isEqual = file.bytes !== undefined && before === fetched.text;
    const warnings = isEqual ? [] : await check(fetched.text, file, context);
    if (!isEqual) await this.agree(before, fetched.text, file, warnings);
    const { backup, reloaded } = isEqual
      ? { backup: null, reloaded: false }
      : await replaceConfigFile(fetched.text, file, home, context);
    ensureHome(home);
    writeRemote(home, {
      ...remote,
      commit: fetched.commit,
      written: fingerprint(Buffer.from(fetched.text)),
    });
    const outcome = isEqual ? 'unchanged' : 'applied';
    if (this.json) {
      const { path, ref } = remote;
      const { commit } = fetched;
      const location = locationText(remote.location);
      return this.printJson({ outcome, location, path, ref, commit, backup, reloaded });
    }
    const from = `${locationText(remote.location)}${fetched.commit === null ? '' : ` at ${fetched.commit.slice(0, 10)}`}`;
    const short = shortPath(file.path, context);
    this.print(
      isEqual ? `${short} is the same as in ${from}` : `${short} is now the same as in ${from}`,
    );
    if (backup !== null) this.note(`Previous file: ${shortPath(backup, context)}`);
    if (reloaded) this.note('The running proxy has read it.');
  }

  /**
   * Shows the changes and asks for confirmation.
   *
   * @throws SvcError `cancelled` without a yes.
   */
  private async agree(
    before: string,
    after: string,
    file: SettingsFile,
    warnings: readonly string[],
  ): Promise<void> {
    const { context } = this;
    const colors = colorsFor(context.stderr, context.env);
    this.note(colors.bold(`Changes to ${shortPath(file.path, context)}`));
    for (const line of lineDiff(masked(before), masked(after), { colors, full: true }))
      this.note(line);
    for (const warning of warnings) this.note(`! ${warning}`);
    const known = readRemote(this.home);
    if (
      known !== undefined &&
      file.bytes !== undefined &&
      fingerprint(file.bytes) !== known.written
    )
      this.note('! The file was changed here since it was fetched; a copy of it is kept.');
    if (this.yes) return;
    const prompts = await openPrompts(context);
    try {
      if (await prompts.confirm('Apply it?', true)) return;
    } finally {
      prompts.close();
    }
    throw new SvcError('cancelled', 'Not confirmed: nothing was changed');
  }
}

class Pull extends Fetch {
  static override paths = [['config', 'pull']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Fetch the config file from git or a file, and check it',
    details:
      'It is fetched to a temporary folder, checked as a start would check it, and shown as a diff with secrets masked. Nothing of the repository is run. A copy of the former file is kept, and a running proxy reloads. `svc config sync` does the same again from the same place.',
    examples: [
      ['A file', '$0 config pull ~/dotfiles/svc.yaml'],
      [
        'A repository that git can read',
        '$0 config pull git@host:team/settings.git --path svc/config.yaml',
      ],
    ],
  });

  location = Option.String();
  pathInRepository = Option.String('--path', {
    description: 'The file in the repository; config.yaml or proxy.yaml by default',
  });
  ref = Option.String('--ref', { description: 'Branch or tag of the repository' });

  execute() {
    const { cwd, userHome } = this.context;
    if (this.ref?.startsWith('-') === true)
      throw new SvcError('usage', `--ref: '${this.ref}' is not a branch`);
    const location = absoluteLocation(this.location, cwd, userHome);
    return this.apply({ location, path: this.pathInRepository ?? null, ref: this.ref ?? null });
  }
}

class Sync extends Fetch {
  static override paths = [['config', 'sync']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Fetch the config file again from its last source',
    details: 'Like `svc config pull`, from the place that it was given last.',
    examples: [
      ['Look at what has changed, and ask', '$0 config sync'],
      ['For a timer', '$0 config sync --yes'],
    ],
  });

  execute() {
    const remote = readRemote(this.home);
    if (remote === undefined)
      throw new SvcError('not_found', 'The config file was not pulled from anywhere yet', {
        cure: '`svc config pull <location>` does it the first time.',
      });
    const { location, path, ref } = remote;
    return this.apply({ location, path, ref });
  }
}

/**
 * Checks what a start would make of `text` in place of `file`.
 *
 * @throws SvcError `config` with every fault.
 */
async function check(
  text: string,
  file: SettingsFile,
  context: CliContext,
): Promise<readonly string[]> {
  const { openBindFaults } = await import('../../server/gate/open-bind.ts');
  const loaded = await loadWithText(text, file, context);
  const faults = openBindFaults(loaded, context.clock.wallMs());
  if (faults.length > 0)
    throw new SvcError('config', faults.map((fault) => fault.text).join('\n  '), {
      cure: 'Nothing was changed.',
    });
  return loaded.warnings;
}

export const configSourceCommands = [Pull, Sync];
