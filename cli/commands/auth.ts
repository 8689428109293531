/** `svc auth`: the keys that clients on other machines send in `X-Svc-Key`. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { KeyChanges, KeyLimits, StoredKey } from '../../server/auth/auth.ts';
import { keyStoreOf } from '../auth/key-store.ts';
import { LimitsCommand, limitsJson, limitsText, toKeyName, toLabel } from '../auth/limits.ts';
import { noteKeyEvent } from '../audit.ts';
import { toSeconds } from '../parse/flags.ts';
import { localMoment } from '../../server/dashboard/page/local-time.ts';

class Auth extends LimitsCommand {
  static override paths = [['auth']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Make a key for clients on other machines',
    details:
      'The key is shown once; only its hash is kept. Clients send it as the header `X-Svc-Key`, or in place of a provider key. A running proxy accepts it within a second. From another machine, headers that loosen a limit need a right: `allow-spend` (`x-svc-allow-spend`), `capture` (`x-svc-capture`), `bypass` (`x-svc-bypass` if a plugin has a stage). With `--models` or `--providers`, requests for others get 403; with `--per-day-usd` or `--per-month-usd`, requests that would exceed the limit get 402.',
    examples: [
      ['A key with a name', '$0 auth --generate --label laptop'],
      ['A key that expires', '$0 auth --generate --label ci --expires 30d'],
      ['A key whose requests may exceed spending limits', '$0 auth --generate --may allow-spend'],
      [
        'A key for some models, whose requests count towards a project',
        "$0 auth --generate --label anna --project shop --models 'claude-*,gpt-5*'",
      ],
      ['A key with a budget', '$0 auth --generate --label ci --per-day-usd 5 --per-month-usd 100'],
    ],
  });

  generate = Option.Boolean('--generate', false, { description: 'Make a key and print it' });
  label = Option.String('--label', { description: 'What the key is for' });

  async execute() {
    const { context, label } = this;
    if (!this.generate) {
      throw new SvcError(
        'usage',
        'svc auth needs --generate, list, update <id>, rotate <id> or revoke <id>',
        {
          cure: '`svc auth --help` shows what each does.',
        },
      );
    }
    const changes = await this.changes();
    const { key, stored } = await (
      await keyStoreOf(context, this.config)
    ).create({
      label: label === undefined ? '' : toLabel(label),
      ...newKeyOptions(changes),
    });
    await noteKeyEvent(context, 'generated', stored);
    if (this.json) this.printJson({ key, ...keyJson(stored, context.clock.wallMs()) });
    else this.print(key);
    this.note(`Key ${stored.id} is shown only once. Clients send it as X-Svc-Key.`);
    await this.warnOfModels(changes);
  }
}

class List extends JsonCommand {
  static override paths = [['auth', 'list']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'The keys by id and label, never the keys themselves',
    examples: [['All keys', '$0 auth list']],
  });

  config = Option.String('--config', { description: 'Config file that names the ledger' });

  async execute() {
    const { context } = this;
    const nowMs = context.clock.wallMs();
    const keys = (await (await keyStoreOf(context, this.config)).list()).map((key) =>
      keyJson(key, nowMs),
    );
    if (this.json) return this.printJson({ keys });
    if (keys.length === 0) return this.note('No keys. `svc auth --generate` makes one.');
    this.printTable(
      ['id', 'label', 'project', 'created', 'expires', 'may', 'limits', 'state'],
      keys.map((key) => [
        key.id,
        key.label === '' ? '–' : key.label,
        key.project ?? '–',
        localMoment(key.created),
        key.expires === null ? 'never' : localMoment(key.expires),
        key.may.join(', '),
        limitsText(key),
        key.state,
      ]),
    );
  }
}

class Revoke extends JsonCommand {
  static override paths = [['auth', 'revoke']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Revoke a key, by its id or label',
    details: 'A label revokes the key in use and the keys that it replaced (`svc auth rotate`).',
    examples: [
      ['By id', '$0 auth revoke 1a2b3c4d'],
      ['By label', '$0 auth revoke laptop'],
    ],
  });

  key = Option.String({ name: 'id|label' });
  config = Option.String('--config', { description: 'Config file that names the ledger' });

  async execute() {
    const { context } = this;
    const [revoked, ...replaced] = await (
      await keyStoreOf(context, this.config)
    ).revoke(toKeyName(this.key));
    for (const one of [revoked, ...replaced]) await noteKeyEvent(context, 'revoked', one);
    const nowMs = context.clock.wallMs();
    const toJson = (key: StoredKey) => keyJson(key, nowMs);
    if (this.json) return this.printJson({ ...toJson(revoked), also: replaced.map(toJson) });
    for (const { id, label } of [revoked, ...replaced])
      this.print(`Revoked ${id}${label === '' ? '' : ` (${label})`}`);
    return undefined;
  }
}

class Rotate extends JsonCommand {
  static override paths = [['auth', 'rotate']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Replace a key; both are valid for a while',
    details:
      'The new key has the label, rights and limits of the old one and is shown once. The old one expires after the grace period, so that clients can change over without an outage; `svc auth revoke <id>` ends it at once.',
    examples: [
      ['A grace period of seven days', '$0 auth rotate laptop'],
      ['A week', '$0 auth rotate 1a2b3c4d --grace 7d'],
    ],
  });

  key = Option.String({ name: 'id|label' });
  config = Option.String('--config', { description: 'Config file that names the ledger' });
  grace = Option.String('--grace', '24h', {
    description: 'How long the old key stays valid: 1h, 7d',
  });
  expires = Option.String('--expires', {
    description: 'When the new key expires: 12h, 30d; by default it lasts as long as the old one',
  });

  async execute() {
    const { context, expires } = this;
    const graceS = toSeconds(this.grace, '--grace');
    const expiry = expires === undefined ? {} : { expiresInS: toSeconds(expires, '--expires') };
    const store = await keyStoreOf(context, this.config);
    const { key, stored, replaced } = await store.rotate(toKeyName(this.key), {
      graceS,
      ...expiry,
    });
    await noteKeyEvent(context, 'generated', stored);
    await noteKeyEvent(context, 'rotated', replaced);
    const nowMs = context.clock.wallMs();
    if (this.json)
      this.printJson({ key, ...keyJson(stored, nowMs), replaced: keyJson(replaced, nowMs) });
    else this.print(key);
    const end = localMoment(replaced.expires ?? '');
    this.note(`Key ${stored.id} is shown only once. Key ${replaced.id} stays valid until ${end}.`);
  }
}

/** Returns a key for display, without its hash. */
function keyJson(key: StoredKey, nowMs: number) {
  const { id, label, created, expires, revoked, may = [] } = key;
  const isOver = expires !== undefined && Date.parse(expires) <= nowMs;
  const state = revoked === undefined ? (isOver ? 'expired' : 'live') : 'revoked';
  return {
    id,
    label,
    created,
    expires: expires ?? null,
    revoked: revoked ?? null,
    may,
    ...limitsJson(key),
    state,
  };
}

class Update extends LimitsCommand {
  static override paths = [['auth', 'update']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Change the purpose, rights and limits of a key',
    details:
      'Options that are left out stay as they are. `any` removes a limit, `none` the project or all rights, `never` the expiry. A running proxy applies the change within a second.',
    examples: [
      ['Other models', "$0 auth update anna --models 'claude-haiku*'"],
      ['Remove the limits and the expiry', '$0 auth update anna --models any --expires never'],
    ],
  });

  key = Option.String({ name: 'id|label' });

  async execute() {
    const { context } = this;
    const changes = await this.changes();
    if (Object.keys(changes).length === 0)
      throw new SvcError('usage', 'svc auth update needs at least one change', {
        cure: '`svc auth update --help` shows the options.',
      });
    const stored = await (
      await keyStoreOf(context, this.config)
    ).update(toKeyName(this.key), changes);
    await noteKeyEvent(context, 'updated', stored);
    const shown = keyJson(stored, context.clock.wallMs());
    await this.warnOfModels(changes);
    if (this.json) return this.printJson(shown);
    const limits = limitsText(shown);
    this.print(`Updated ${stored.id}${stored.label === '' ? '' : ` (${stored.label})`}`);
    if (limits !== '') this.print(limits);
  }
}

/** Returns the options for a new key, which has no limits to remove. */
function newKeyOptions(changes: KeyChanges) {
  const { expiresInS, may, ...limits } = changes;
  return {
    ...(may !== undefined && { may }),
    ...(typeof expiresInS === 'number' && { expiresInS }),
    ...(Object.fromEntries(
      Object.entries(limits).filter(([, value]) => (value ?? null) !== null),
    ) as KeyLimits),
  };
}

export const commands = [Auth, List, Update, Rotate, Revoke];
