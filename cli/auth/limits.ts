/**
 * Options for a key's purpose and limits in `svc auth --generate` and `svc auth update`, and their
 * display.
 */
import { Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import type { KeyChanges, StoredKey } from '../../server/auth/auth.ts';
import { JsonCommand } from '../command.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { invalidOption, toSeconds } from '../parse/flags.ts';

/** Removes a limit. */
const ANY = 'any';

/** A command with options for the limits of a key. */
export abstract class LimitsCommand extends JsonCommand {
  config = Option.String('--config', { description: 'Config file that names the ledger' });
  expires = Option.String('--expires', {
    description: 'When it expires: 12h, 30d; never by default',
  });
  may = Option.Array('--may', {
    description: 'Rights of its requests: allow-spend, capture, bypass, macro; none by default',
  });
  project = Option.String('--project', {
    description: 'The project of its requests, unless they name another',
  });
  models = Option.Array('--models', {
    description: "Models that it may use: 'claude-*,gpt-5*'; all by default",
  });
  providers = Option.Array('--providers', {
    description: 'Providers that it may use, by their configured names; all by default',
  });

  perDayUsd = Option.String('--per-day-usd', {
    description: 'US dollars that its requests may cost per day (UTC)',
  });
  perMonthUsd = Option.String('--per-month-usd', {
    description: 'US dollars that its requests may cost per calendar month (UTC)',
  });

  /**
   * Returns names of providers; null for `any`. Unknown providers are refused, since such a key
   * would be useless.
   */
  async #toProviders(typed: readonly string[]): Promise<readonly string[] | null> {
    const names = toNames(typed, '--providers');
    if (names === null) return null;
    const [{ config }, { isGlobMatch }] = await Promise.all([
      configInUse(this.config, this.context),
      import('../../stages/route/rules.ts'),
    ]);
    const known = Object.keys(config.providers);
    const strange = names.find(
      (glob) => !known.some((name) => isGlobMatch(glob.toLowerCase(), name.toLowerCase())),
    );
    if (strange === undefined) return names;
    throw new SvcError('usage', `--providers: '${strange}' is not a configured provider`, {
      cure: `It has ${known.join(', ')}.`,
    });
  }

  /** Prints a warning for each of the typed models that is probably mistyped. */
  protected async warnOfModels({ models }: KeyChanges): Promise<void> {
    if (!models) return;
    const [{ config }, { remarksOnModels }] = await Promise.all([
      configInUse(this.config, this.context),
      import('./unknown-models.ts'),
    ]);
    const remarks = await remarksOnModels(models, config, this.context.clock.wallMs());
    for (const remark of remarks) this.note(remark);
  }

  /** Returns the typed changes, validated. Throws `usage`. */
  async changes(): Promise<KeyChanges> {
    const { expires, may, project, models, providers, perDayUsd, perMonthUsd } = this;
    return {
      ...(expires !== undefined && {
        expiresInS: expires === 'never' ? null : toSeconds(expires, '--expires'),
      }),
      ...(may !== undefined && { may: await toRights(may) }),
      ...(project !== undefined && { project: toProject(project) }),
      ...(models !== undefined && { models: toNames(models, '--models') }),
      ...(providers !== undefined && { providers: await this.#toProviders(providers) }),
      ...(perDayUsd !== undefined && { perDayUsd: toUsd(perDayUsd, '--per-day-usd') }),
      ...(perMonthUsd !== undefined && { perMonthUsd: toUsd(perMonthUsd, '--per-month-usd') }),
    };
  }
}

/** Parses `--may a,b --may c` to rights, each once; `none` for none. */
async function toRights(values: readonly string[]) {
  const { RIGHTS, isRight } = await import('../../server/auth/rights.ts');
  const named = toList(values);
  if (named.length === 1 && named[0] === 'none') return [];
  if (named.length === 0)
    throw invalidOption(
      '--may',
      '',
      'a right',
      `The rights are ${RIGHTS.join(', ')}; 'none' is none.`,
    );
  const rights = new Set(named.filter(isRight));
  const strange = named.find((name) => !isRight(name));
  if (strange === undefined) return [...rights];
  throw new SvcError('usage', `--may: '${strange}' is not a right`, {
    cure: `The rights are ${RIGHTS.join(', ')}.`,
  });
}

/** Returns the label of a key, which appears in rows and budgets in full. Throws `usage`. */
export function toLabel(typed: string): string {
  const label = typed.trim();
  if (/^\P{Cc}{1,200}$/u.test(label)) return label;
  const cure = 'Give a text of at most 200 characters in one line.';
  throw invalidOption('--label', typed, 'a label', cure);
}

/** Returns the id or label of a key from an argument. Throws `usage`. */
export function toKeyName(typed: string): string {
  if (typed.trim() !== '') return typed;
  throw invalidOption(
    '<id|label>',
    typed,
    'the id or label of a key',
    '`svc auth list` shows them.',
  );
}

function toProject(typed: string): string | null {
  const name = typed.trim();
  if (name === 'none') return null;
  if (/^[^\p{Cc}/\\]{1,100}$/u.test(name)) return name;
  const cure = 'Give a name of at most 100 characters without slashes.';
  throw invalidOption('--project', typed, 'the name of a project', cure);
}

/** Parses `--models a,b --models c` to names; null for `any`. */
function toNames(values: readonly string[], option: string): readonly string[] | null {
  const names = [...new Set(toList(values))];
  if (names.length === 1 && names[0] === ANY) return null;
  const strange = names.find((name) => !/^[\w.:/@*?+-]{1,200}$/.test(name) || name === ANY);
  if (strange === undefined && names.length > 0) return names;
  const cure = `Give names with commas between them, in which * stands for any text, or '${ANY}' alone.`;
  throw invalidOption(option, strange ?? '', 'a name', cure);
}

/** Parses dollars; null for `any`. */
function toUsd(typed: string, option: string): number | null {
  if (typed === ANY) return null;
  const usd = /^\d{1,9}(?:\.\d{1,9})?$/.test(typed) ? Number(typed) : Number.NaN;
  if (!Number.isNaN(usd)) return usd;
  const cure = `Give a number such as 5 or 0.50, or '${ANY}' for no limit.`;
  throw invalidOption(option, typed, 'an amount of dollars', cure);
}

function toList(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Returns a key's limits as JSON; null if there is none. */
export function limitsJson(key: StoredKey) {
  const { project, models, providers, perDayUsd, perMonthUsd } = key;
  return {
    project: project ?? null,
    models: models ?? null,
    providers: providers ?? null,
    per_day_usd: perDayUsd ?? null,
    per_month_usd: perMonthUsd ?? null,
  };
}

/** Describes the limits in words; empty without any. */
export function limitsText(limits: ReturnType<typeof limitsJson>): string {
  const { models, providers, per_day_usd: perDay, per_month_usd: perMonth } = limits;
  return [
    models === null ? '' : `models ${models.join(', ')}`,
    providers === null ? '' : `providers ${providers.join(', ')}`,
    perDay === null ? '' : `$${perDay} a day`,
    perMonth === null ? '' : `$${perMonth} a month`,
  ]
    .filter((text) => text !== '')
    .join('; ');
}
