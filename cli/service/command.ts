/**
 * `svc service print` and `svc uninstall`: installs the proxy as a service of the machine, and
 * removes it.
 */
import { Command, Option } from 'clipanion';
import { JsonCommand, SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { shortPath } from '../context.ts';
import type { Undone } from '../integrate/apply.ts';
import { printUndone, refuseAll, undoAll } from '../integrate/command.ts';
import { noteSigned, signedConversations } from '../process/signed-conversations.ts';
import { stopProxy } from '../process/stopping.ts';
import { deleteData } from './own-data.ts';
import { serviceKinds, servicePaths, serviceStarts, unitText } from './unit.ts';

class ServicePrint extends SvcCommand {
  static override paths = [['service', 'print']];
  static override usage = Command.Usage({
    category: 'Run',
    description: 'A service file of systemd or launchd',
    details: 'It is only printed. It contains no keys: they belong in the config file.',
    examples: [
      ['For this machine', '$0 service print'],
      ['For ~/.config/systemd/user/svc.service', '$0 service print systemd'],
    ],
  });

  kind = Option.String({ required: false, name: 'systemd|launchd' });

  async execute() {
    const { context } = this;
    const wanted = this.kind ?? (process.platform === 'darwin' ? 'launchd' : 'systemd');
    const kind = serviceKinds.find((one) => one === wanted);
    if (kind === undefined)
      throw new SvcError('usage', `svc service print takes systemd or launchd, not '${wanted}'`);
    const { entry } = context;
    context.stdout.write(unitText({ kind, node: process.execPath, entry, home: this.home }));
    this.note(`It belongs in ~/${servicePaths[kind]}; then: ${serviceStarts[kind]}`);
  }
}

interface Uninstalled {
  readonly undone: readonly Undone[];
  readonly stopped: Awaited<ReturnType<typeof stopProxy>>;
  /** Names in the home folder that do not belong to svc. */
  readonly left: readonly string[];
}

class Uninstall extends JsonCommand {
  static override paths = [['uninstall']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Stop the proxy, undo integrate; --data deletes the data',
    details:
      'Clients connect directly to their providers again. The program itself is removed by the package manager that installed it. --data permanently deletes what svc keeps in its home folder: ledger, keys, configuration, logs; other files stay.',
    examples: [
      ['Restore the clients, keep the data', '$0 uninstall'],
      ['Delete the data, too', '$0 uninstall --data'],
    ],
  });

  data = Option.Boolean('--data', false, {
    description: 'Also delete ledger, keys and configuration',
  });

  async execute() {
    const { context, home } = this;
    const { undone, faults } = await undoAll(context, home, () => true);
    const stopped = await stopProxy(home, context, false);
    const signed = await signedConversations(home, context);
    noteSigned(signed, this.data ? 'deleted' : 'uninstall', context);
    // The data includes backups of client files, which are needed until the changes are undone.
    if (this.data) refuseAll(faults);
    const left = this.data ? deleteData(home) : [];
    if (this.json)
      this.printJson({
        undone,
        stopped_pid: stopped?.pid ?? null,
        data_deleted: this.data,
        signed_conversations: signed,
        left,
      });
    else this.report({ undone, stopped, left });
    refuseAll(faults);
  }

  private report({ undone, stopped, left }: Uninstalled): void {
    const { context, home } = this;
    for (const one of undone) printUndone(context, one);
    this.print(stopped === undefined ? 'svc was not running' : `Stopped (pid ${stopped.pid})`);
    const short = shortPath(home, context);
    if (!this.data) this.print(`${short} stays; --data deletes the data of svc there`);
    else if (left.length === 0) this.print(`${short} is deleted`);
    else
      this.print(`The data of svc in ${short} is deleted; other files remain: ${left.join(', ')}`);
    this.note(
      'A service file stays until you remove it, and so does the program: npm uninstall -g svc.',
    );
  }
}

export const commands = [ServicePrint, Uninstall];
