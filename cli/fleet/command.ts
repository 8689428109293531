/** `svc fleet init|add|remove|list|status`: several machines, each with its own proxy. */
import { hostname } from 'node:os';
import { Command, Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import {
  EMPTY,
  changeFleet,
  checkMember,
  fleetFile,
  readFleet,
} from '../../server/fleet/fleet-file.ts';
import type { Fleet, Member } from '../../server/fleet/fleet-file.ts';
import { NODE_NAME, NODE_NAME_TEXT } from '../../stages/ledger/settings.ts';
import { JsonCommand } from '../command.ts';
import { shortPath } from '../context.ts';
import { notFoundHere } from '../unknown-name.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { invalidOption } from '../parse/flags.ts';
import { runningInstance } from '../process/daemon.ts';
import { counted, dollars, figure } from '../screen/output.ts';
import { span } from '../screen/status.ts';
import type { MachineStatus } from './status.ts';

class Init extends JsonCommand {
  static override paths = [['fleet', 'init']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Name this machine, as the first step to a fleet',
    details:
      'From the next start of the proxy on, every row of the ledger carries the name; `fleet.node` and SVC_NODE override it. Machines keep ledgers of their own: `svc fleet status` asks the others over HTTP, and `svc aggregate` adds them up.',
    examples: [
      ['By the name of the host', '$0 fleet init'],
      ['By another name', '$0 fleet init --node desk'],
    ],
  });

  node = Option.String('--node', {
    description: 'The name; default: the first part of the host name',
  });

  async execute() {
    const { context, home } = this;
    const { config } = await configInUse(undefined, context);
    const former = ((await readFleet(home)) ?? EMPTY).node;
    const node = this.node ?? former ?? toNodeName(hostname());
    if (!NODE_NAME.test(node)) throw invalidOption('--node', node, `a name: ${NODE_NAME_TEXT}`);
    const isChanged = node !== former;
    if (isChanged) await changeFleet(home, (fleet) => ({ ...fleet, node }));
    const file = shortPath(fleetFile(home), context);
    if (this.json) this.printJson({ node, former, changed: isChanged, file });
    else if (!isChanged) this.print(`This machine is ${node} already: nothing was changed`);
    else if (former === null) this.print(`This machine is ${node} from now on (${file})`);
    else this.print(`This machine was ${former} and is ${node} from now on (${file})`);
    if (config.fleet.node !== null && config.fleet.node !== node)
      this.note(
        `Rows carry ${config.fleet.node} nevertheless: fleet.node or SVC_NODE overrides it.`,
      );
    else if (isChanged && runningInstance(home) !== undefined)
      this.note('`svc restart` has the running proxy write the name into its rows.');
    for (const line of NEXT) this.note(line);
  }
}

const NEXT = [
  'On every other machine: `svc fleet init`, then `svc auth --generate --label fleet`, which prints a key.',
  'Its proxy must be reachable from here: through a TLS server, an SSH tunnel, or with server.host.',
  'Then here: `svc fleet add NAME URL --key-stdin`, and `svc fleet status`.',
];

class Add extends JsonCommand {
  static override paths = [['fleet', 'add']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Add another machine’s proxy to the fleet',
    details:
      'Proxies on other machines answer with a proxy key alone, which `svc auth --generate` makes there. With `--key-env` it stays in that variable, which must be set whenever the fleet is asked; with `--key-stdin` it is typed without echo, or read from stdin, and kept in `fleet.yaml`, readable by you alone.',
    examples: [
      [
        'Behind a server with TLS',
        '$0 fleet add attic https://attic.example.net/svc --key-env ATTIC_KEY',
      ],
      [
        'Through an SSH tunnel, with the key typed',
        '$0 fleet add attic http://127.0.0.1:9001 --key-stdin',
      ],
    ],
  });

  name = Option.String({ name: 'name' });
  url = Option.String({ name: 'url' });
  keyEnv = Option.String('--key-env', { description: 'Variable that holds the proxy key' });
  keyStdin = Option.Boolean('--key-stdin', false, { description: 'Ask for the key, or read it' });
  allowInsecure = Option.Boolean('--allow-insecure', false, {
    description: 'Allow plain http: to another machine; the key then travels unencrypted',
  });

  async execute() {
    const { context, name, url, keyEnv, keyStdin, allowInsecure } = this;
    if (keyEnv !== undefined && keyStdin)
      throw new SvcError('usage', '--key-env and --key-stdin are two ways to give one key');
    const { home } = this;
    const refuseTaken = ({ node, members }: Fleet): void => {
      if (![node, ...members.map((one) => one.name)].includes(name)) return;
      throw new SvcError('conflict', `The fleet has a machine ${name} already`, {
        cure: `Choose another name, or begin with \`svc fleet remove ${name}\`.`,
      });
    };
    // Checked before the user types a key in vain.
    const typed = checkMember({
      name,
      url,
      allowInsecure,
      ...(keyEnv !== undefined && { keyEnv }),
    });
    refuseTaken((await readFleet(home)) ?? EMPTY);
    const { readKey } = await import('./key.ts');
    const key = keyStdin ? await readKey(context, `Proxy key of ${name}`) : undefined;
    const member = checkMember({ ...typed, ...(key !== undefined && { key }) });
    await changeFleet(home, (fleet) => {
      refuseTaken(fleet);
      return { ...fleet, members: [...fleet.members, member] };
    });
    if (this.json) this.printJson(memberJson(member));
    else this.print(`${name} added: ${member.url}, ${keyText(member)}`);
    this.note('`svc fleet status` asks it.');
  }
}

class Remove extends JsonCommand {
  static override paths = [['fleet', 'remove']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Take a machine and its key out of the fleet',
    details: 'Nothing changes on that machine: `svc auth revoke` ends the key there.',
    examples: [['By its name', '$0 fleet remove attic']],
  });

  name = Option.String({ name: 'name' });

  async execute() {
    const { home, name } = this;
    const { members } = (await readFleet(home)) ?? EMPTY;
    const member = members.find((one) => one.name === name);
    if (member === undefined)
      throw notFoundHere(
        'member of the fleet',
        name,
        members.map((one) => one.name),
        '`svc fleet list` lists them.',
      );
    await changeFleet(home, (fleet) => ({
      ...fleet,
      members: fleet.members.filter((one) => one.name !== name),
    }));
    if (this.json) this.printJson(memberJson(member));
    else this.print(`${name} removed`);
  }
}

class List extends JsonCommand {
  static override paths = [['fleet', 'list']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'The machines of the fleet; none is contacted',
    examples: [['Look', '$0 fleet list']],
  });

  async execute() {
    const { node, members } = (await readFleet(this.home)) ?? EMPTY;
    if (this.json) return this.printJson({ node, members: members.map(memberJson) });
    if (node === null) this.note('This machine has no name; `svc fleet init` gives it one.');
    if (members.length === 0) this.note('No other machines; `svc fleet add` adds one.');
    const own = node === null ? [] : [[node, 'this machine', '–']];
    const others = members.map((member) => [member.name, member.url, keyText(member)]);
    if (own.length + others.length > 0)
      this.printTable(['node', 'address', 'key'], [...own, ...others]);
  }
}

class Status extends JsonCommand {
  static override paths = [['fleet', 'status']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Health of each machine of the fleet, and its day',
    details:
      'Requests `/health` and `/stats` of all at once, for at most five seconds. The exit code is 3 if one does not answer, 7 if one only refuses the key. Days are UTC days.',
    examples: [
      ['Look', '$0 fleet status'],
      ['For a script', '$0 fleet status --json'],
    ],
  });

  config = Option.String('--config', {
    description: 'Config file with the outbound proxy settings',
  });

  async execute() {
    const { context } = this;
    const fleet = (await readFleet(this.home)) ?? EMPTY;
    const [{ openMembers }, { readStatuses }, { config }] = await Promise.all([
      import('./members.ts'),
      import('./status.ts'),
      configInUse(this.config, context),
    ]);
    const memberClient = await openMembers(context, config);
    const machines = await readStatuses(fleet, memberClient, context);
    await memberClient.close();
    if (this.json) this.printJson({ machines: machines.map(statusJson) });
    else this.show(machines);
    const silent = machines.flatMap(({ error }) => error ?? []);
    if (silent.length === 0) return;
    const refused = silent.every(({ kind }) => ['unauthorized', 'forbidden'].includes(kind));
    throw new SvcError(
      refused ? 'unauthorized' : 'bad_gateway',
      `${silent.length} of ${counted(machines.length, 'machine')} did not answer completely`,
    );
  }

  private show(machines: readonly MachineStatus[]): void {
    if (machines.length === 0)
      return this.note('The fleet is empty; `svc fleet init` says how to begin.');
    const hasErrors = machines.some(({ error }) => error !== null);
    const header = ['node', 'address', 'status', 'version', 'up for', '>requests today'];
    this.printTable(
      [...header, '>tokens saved', '>worth', ...(hasErrors ? ['error'] : [])],
      machines.map((one) => [
        one.isThisMachine ? `${one.node} (this machine)` : one.node,
        one.url ?? '–',
        statusText(one),
        one.version ?? '–',
        one.uptimeSeconds === null ? '–' : span(one.uptimeSeconds),
        figure(one.today?.requests),
        figure(one.today?.saved_tokens),
        dollars(one.today?.cost_saved),
        ...(hasErrors ? [one.error?.message ?? ''] : []),
      ]),
    );
  }
}

function statusText({ status, reasons }: MachineStatus): string {
  if (status === null) return '–';
  return reasons.length === 0 ? status : `${status}: ${reasons.join('; ')}`;
}

function statusJson(one: MachineStatus) {
  return {
    node: one.node,
    url: one.url,
    this_machine: one.isThisMachine,
    status: one.status,
    reasons: one.reasons,
    version: one.version,
    uptime_seconds: one.uptimeSeconds,
    today: one.today,
    error: one.error === null ? null : one.error.message,
  };
}

function memberJson({ name, url, key, keyEnv, allowInsecure }: Member) {
  return {
    node: name,
    url,
    key: key === undefined ? null : 'kept',
    key_env: keyEnv ?? null,
    allow_insecure: allowInsecure,
  };
}

function keyText({ key, keyEnv }: Member): string {
  if (keyEnv !== undefined) return `its key in ${keyEnv}`;
  return key === undefined ? 'no key' : 'its key kept';
}

/** Returns a machine name from a host name: its first part, with letters, digits, - and _ only. */
export function toNodeName(host: string): string {
  const [first = ''] = host.split('.', 1);
  const name = first.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replace(/^[-_]+/, '');
  return name.slice(0, 64) || 'machine';
}

export const commands = [Init, Add, Remove, List, Status];
