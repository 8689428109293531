/** `svc config reload`: makes the running proxy read its configuration again. */
import { Command } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { shortPath } from '../context.ts';
import { control } from '../remote.ts';

export class Reload extends JsonCommand {
  static override paths = [['config', 'reload']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Reload the configuration of the running proxy',
    details:
      'Reads the files that the proxy was started with. Running requests are not interrupted, and a faulty configuration changes nothing. Environment and flags stay those of the start.',
    examples: [['After the file was changed', '$0 config reload']],
  });

  async execute() {
    const result = await control(this.home, 'reload').catch(reportUnchanged);
    if (this.json) return this.printJson(result);
    const names = (key: string) => (result[key] as readonly string[] | undefined) ?? [];
    const file = result['config_file'];
    const what = typeof file === 'string' ? shortPath(file, this.context) : 'the configuration';
    const rows = [
      ['In force', names('applied')],
      ['After `svc restart`', names('needs_restart')],
    ] as const;
    const changed = rows.filter(([, keys]) => keys.length > 0);
    this.print(`Read ${what} again${changed.length === 0 ? ': no setting has changed' : ''}`);
    const listed = changed.map(([name, keys]) => [name, keys.join(', ')] as const);
    if (listed.length > 0) this.printPairs(listed);
    for (const warning of names('warnings')) this.note(`! ${warning}`);
  }
}

/** Tells the user that the proxy still runs despite the fault. */
function reportUnchanged(thrown: unknown): never {
  if (!(thrown instanceof SvcError) || thrown.kind !== 'config') throw thrown;
  throw new SvcError('config', thrown.message, {
    cause: thrown,
    cure: 'The proxy keeps its current configuration. `svc config validate` checks a file before it is used.',
  });
}
