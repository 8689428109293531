/**
 * `svc integrate`: shows the settings that point a client at this proxy, writes them to the
 * client's file, and undoes that.
 */
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError, toSvcError } from '../../engine/error.ts';
import { revokeTokensOf } from '../../server/forward-proxy/tokens.ts';
import { dropSettingsList } from '../forward/certificate-lists.ts';
import { shortPath } from '../context.ts';
import type { CliContext } from '../context.ts';
import { note, print } from '../screen/output.ts';
import { applyTo, fileOf, refusalOf, textToEdit, undo } from './apply.ts';
import type { Undone } from './apply.ts';
import type { Client } from './client.ts';
import { clientNamed } from './clients.ts';
import { grantForward, refuseWithAddress } from './forward-apply.ts';
import { forwardIdOf, forwardedId, tokenLabel, withForward } from './forward.ts';
import { withLock } from './lock.ts';
import { proxyAddress } from './proxy-address.ts';
import { listFile, readIntegrations } from './records.ts';
import type { Integration } from './records.ts';
import { STATUSLINE_ID, statuslineCommand, withStatusline } from './statusline.ts';
import { readWiring } from './wiring.ts';
import type { Wiring } from './wiring.ts';

class Integrate extends JsonCommand {
  static override paths = [['integrate']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Point a client at this proxy, or undo that',
    details:
      'Without a client it lists the known ones. --apply edits the client’s settings file and keeps a copy in the home folder; --undo restores the former bytes or, if the file was changed since, removes only what svc wrote.',
    examples: [
      ['Which clients are here, and which go through svc', '$0 integrate'],
      ['What to set in Codex', '$0 integrate codex'],
      ['Write it', '$0 integrate claude-code --apply'],
      ['Undo it; without a client, for all', '$0 integrate claude-code --undo'],
      ["Show svc's figures in Claude Code", '$0 integrate claude-code --statusline --apply'],
      ['As its proxy in place of its base URL', '$0 integrate claude-code --forward --apply'],
      ['A file of one project', '$0 integrate openai-sdk --apply --file .env'],
    ],
  });

  client = Option.String({ required: false });
  apply = Option.Boolean('--apply', false, { description: "Write it into the client's file" });
  undo = Option.Boolean('--undo', false, { description: 'Undo what --apply wrote' });
  file = Option.String('--file', {
    description: "A settings file in place of the client's usual one",
  });
  force = Option.Boolean('--force', false, {
    description: "With --apply: replace an address that is not the provider's own",
  });
  statusline = Option.Boolean('--statusline', false, {
    description: "Claude Code's statusline in place of its address",
  });

  forward = Option.Boolean('--forward', false, {
    description: "Forward mode: svc as the client's proxy, which keeps its vendor's address",
  });

  async execute() {
    const client = this.#client();
    if (this.apply && this.undo)
      throw new SvcError('usage', '--apply and --undo exclude each other');
    if (this.undo) return this.undoChange(client);
    if (client === undefined) {
      if (this.apply || this.forward)
        throw new SvcError(
          'usage',
          `svc integrate --${this.apply ? 'apply' : 'forward'} needs a client`,
          {
            cure: '`svc integrate` lists them.',
          },
        );
      return this.list();
    }
    return this.apply ? this.write(client) : this.show(client);
  }

  #client(): Client | undefined {
    const client = this.client === undefined ? undefined : clientNamed(this.client);
    if (this.statusline && this.forward)
      throw new SvcError(
        'usage',
        '--statusline and --forward cannot be combined; run one after the other',
      );
    if (this.forward && client !== undefined) return withForward(client, { home: this.home });
    if (!this.statusline) return client;
    if (client?.id === 'claude-code')
      return withStatusline(client, statuslineCommand(this.context));
    throw new SvcError(
      'usage',
      'Of the clients only Claude Code runs a command for its statusline',
      {
        cure: '`svc integrate claude-code --statusline` shows what to set there; `svc help statusline` has tmux and starship.',
      },
    );
  }

  private get namedFile(): { file?: string } {
    return this.file === undefined ? {} : { file: resolve(this.context.cwd, this.file) };
  }

  private async list(): Promise<void> {
    const { context } = this;
    const { url } = await proxyAddress(context);
    const wirings = readWiring(this.home, context, url);
    if (this.json) return this.printJson({ url, clients: wirings.map(wiringJson) });
    this.printTable(
      ['client', 'installed', 'through svc', 'settings'],
      wirings.map((one) => [
        one.client.id,
        one.isInstalled ? 'yes' : '–',
        one.fault !== null
          ? 'unreadable'
          : one.isForward && one.wired === 'yes'
            ? 'forward mode'
            : WIRING_TEXTS[one.wired],
        one.file === null ? '–' : shortPath(one.file, context),
      ]),
    );
    this.note(`The proxy's address is ${url}. \`svc integrate <client>\` shows what to set.`);
  }

  private async show(client: Client): Promise<void> {
    const { context } = this;
    const { url, isRunning } = await proxyAddress(context);
    const at =
      client.file === undefined ? undefined : (this.namedFile.file ?? client.file.path?.(context));
    const refusal = at === undefined ? undefined : this.#refusal(client, url);
    const where = { home: this.home, where: context, ...this.namedFile };
    const settings = client.settings(
      url,
      // Others need the same settings whatever their file contains.
      at === undefined || forwardedId(client.id) === undefined || refusal?.kind === 'config'
        ? undefined
        : { text: textToEdit(client, where), where: context },
    );
    if (this.json) {
      const { id, name, notes } = client;
      return this.printJson({
        client: id,
        name,
        url,
        file: at ?? null,
        settings,
        notes,
        refused: refusal?.message ?? null,
      });
    }
    this.note(
      `${this.colors.bold(client.name)}${at === undefined ? '' : `: in ${shortPath(at, context)}`}`,
    );
    for (const line of settings) this.print(line);
    for (const line of client.notes) this.note(line);
    const named = at === undefined ? ' --file <path>' : '';
    const apply = `\`${this.#again(client)} --apply${named}\``;
    if (refusal !== undefined) {
      this.note(`${apply} would write nothing: ${refusal.message}`);
      if (refusal.cure !== undefined) this.note(refusal.cure);
    } else if (client.file !== undefined) this.note(`${apply} writes it; --undo reverts it.`);
    if (!isRunning) this.note('svc is not running; `svc start --background` starts it.');
  }

  /** Returns the error with which `--apply` would end, if any. */
  #refusal(client: Client, url: string): SvcError | undefined {
    const forwarded = forwardedId(client.id);
    try {
      if (forwarded === undefined) refuseWithForward(this.home, client);
      else refuseWithAddress(this.home, clientNamed(forwarded));
    } catch (thrown) {
      return toSvcError(thrown);
    }
    const { home, force, context } = this;
    return refusalOf(client, { home, where: context, url, force, ...this.namedFile });
  }

  /** The command to repeat this. */
  #again({ id }: Client): string {
    if (this.statusline) return 'svc integrate claude-code --statusline';
    const forwarded = forwardedId(id);
    return `svc integrate ${forwarded === undefined ? id : `${forwarded} --forward`}`;
  }

  private async write(client: Client): Promise<void> {
    const { context } = this;
    // Checked before anything that can fail for another reason: a client without a file never
    // works.
    fileOf(client, context, this.namedFile.file);
    const { url, isRunning } = await proxyAddress(context);
    const forwarded = forwardedId(client.id);
    if (forwarded === undefined) refuseWithForward(this.home, client);
    const applied = await withLock(this.home, context.clock, async () => {
      const grant =
        forwarded === undefined
          ? { client, withdraw: () => undefined }
          : await grantForward(context, clientNamed(forwarded));
      try {
        return applyTo(grant.client, {
          home: this.home,
          where: context,
          url,
          force: this.force,
          now: new Date(context.clock.wallMs()).toISOString(),
          ...this.namedFile,
        });
      } catch (thrown) {
        grant.withdraw();
        throw thrown;
      }
    });
    if (this.json) this.printJson({ client: client.id, url, ...applied });
    else {
      const file = shortPath(applied.file, context);
      const what = this.statusline
        ? `${client.name} is shown by svc`
        : `${client.name} goes through ${url}`;
      this.print(`${what} ${applied.outcome === 'unchanged' ? 'already' : 'now'} (${file})`);
    }
    for (const remark of applied.remarks) this.note(remark);
    if (applied.outcome === 'unchanged') return;
    if (applied.backup !== null) this.note(`Previous file: ${shortPath(applied.backup, context)}`);
    if (forwarded !== undefined)
      this.note('The file holds a token now, so it is readable by you alone.');
    const again = this.#again(client);
    this.note(
      this.statusline
        ? `It appears with the next message. \`${again} --undo\` reverts it.`
        : `Restart ${client.name} if it runs. \`${again} --undo\` reverts it.`,
    );
    if (!isRunning && !this.statusline)
      this.note('svc is not running: this client cannot connect until `svc start --background`.');
  }

  private async undoChange(client: Client | undefined): Promise<void> {
    const { context } = this;
    const { file } = this.namedFile;
    const { undone, faults } = await undoAll(
      context,
      this.home,
      (one) =>
        (client === undefined
          ? !this.forward || forwardedId(one.client) !== undefined
          : one.client === client.id || isPartOf(client, one)) &&
        (file === undefined || one.file === file),
    );
    if (this.json) this.printJson({ undone });
    else for (const one of undone) printUndone(context, one);
    if (undone.length === 0 && faults.length === 0)
      this.note(`svc has written no settings of ${client?.name ?? 'any client'}: nothing to undo.`);
    refuseAll(faults);
  }
}

/** A base URL next to forward mode would bypass the proxy set in the settings. */
function refuseWithForward(home: string, { id, name }: Client): void {
  if (!readIntegrations(home).entries.some((one) => one.client === forwardIdOf(id))) return;
  throw new SvcError('conflict', `${name} goes through svc in forward mode`, {
    cure: `\`svc integrate ${id} --forward --undo\` reverts that; then a base URL can take its place.`,
  });
}

/** True for a statusline or forward mode of the client: undoing its integration undoes them too. */
function isPartOf(client: Client, { client: id }: Integration): boolean {
  return forwardedId(id) === client.id || (client.id === 'claude-code' && id === STATUSLINE_ID);
}

/**
 * Undoes every change for which `isMeant` is true, and returns the errors: one failing file does
 * not stop the others.
 */
export async function undoAll(
  context: CliContext,
  home: string,
  isMeant: (entry: Integration) => boolean,
): Promise<{ readonly undone: readonly Undone[]; readonly faults: readonly SvcError[] }> {
  const { entries, strange } = readIntegrations(home);
  const faults: SvcError[] = [];
  const undone: Undone[] = [];
  if (entries.some(isMeant))
    await withLock(home, context.clock, () => {
      for (const entry of readIntegrations(home).entries.filter(isMeant)) {
        try {
          undone.push(undo(entry, { home, where: context }));
          const forwarded = forwardedId(entry.client);
          if (forwarded !== undefined) {
            revokeTokensOf(home, context.clock, tokenLabel(forwarded));
            dropSettingsList(home, forwarded);
          }
        } catch (thrown) {
          faults.push(toSvcError(thrown));
        }
      }
    });
  if (strange.length > 0)
    faults.push(
      new SvcError(
        'config',
        `${strange.length} of the entries in ${listFile(home)} are not what svc writes: nothing is undone for them`,
        { cure: 'Look at them and delete them there.' },
      ),
    );
  return { undone, faults };
}

/** Throws the errors as one; does nothing if there are none. */
export function refuseAll(faults: readonly SvcError[]): void {
  const [first, ...others] = faults;
  if (first === undefined) return;
  const message = faults.map((fault) => fault.message).join('\n');
  const cures = [...new Set(faults.flatMap(({ cure }) => (cure === undefined ? [] : [cure])))];
  throw others.length === 0
    ? first
    : new SvcError(first.kind, message, { cause: first, cure: cures.join('\n') });
}

const WIRING_TEXTS: Readonly<Record<Wiring['wired'], string>> = {
  yes: 'yes',
  partly: 'partly',
  other: 'old address',
  no: 'no',
  unknown: '–',
};

/** Describes one undone change. */
export function printUndone(
  context: CliContext,
  { client, file, outcome, kept, saved }: Undone,
): void {
  const path = shortPath(file, context);
  const wording = {
    restored: `${path} is as it was`,
    removed: `${path} is removed: svc had created it`,
    keys: `${path} was changed since, so only what svc wrote is removed`,
    gone: `${path} no longer exists${saved === null ? '' : `; a copy from before svc is at ${shortPath(saved, context)}`}`,
  };
  print(context, `${client}: ${wording[outcome]}`);
  if (kept.length > 0) note(context, `Changed since and left alone: ${kept.join(', ')}`);
}

function wiringJson({ client, isInstalled, file, wired, isApplied, isForward, fault }: Wiring) {
  return {
    client: client.id,
    name: client.name,
    installed: isInstalled,
    file,
    through_svc: wired,
    applied: isApplied,
    forward: isForward,
    fault,
  };
}

export const commands = [Integrate];
