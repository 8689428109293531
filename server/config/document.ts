/** The settings as documents show them. */
import { fillNames, allSettings } from './settings.ts';
import { isInEffect } from './not-yet.ts';
import type { Setting } from './setting.ts';
import { PROVIDER_VARIABLES } from './slices/providers.ts';

/** The table of all settings in Markdown, one row a setting, in the order of the table. */
export function settingsTable(): string {
  const head = ['| Key | Variable | Default | Value | Meaning |', '|---|---|---|---|---|'];
  const rows = allSettings().map(([key, row]) => {
    const cells = [
      `\`${key}\``,
      variables(key, row),
      defaultOf(row),
      row.type.text,
      meaning(key, row),
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [...head, ...rows].join('\n');
}

/** The default of a setting in words, as Markdown. */
export function defaultOf(row: Setting<unknown>): string {
  if (row.defaultText !== undefined) return row.defaultText;
  if (row.default === null) return 'none';
  if (Array.isArray(row.default)) {
    return row.default.length === 0 ? 'none' : row.default.map((one) => `\`${one}\``).join(', ');
  }
  if (typeof row.default === 'object') return 'none';
  return `\`${typeof row.default === 'string' ? row.default : JSON.stringify(row.default)}\``;
}

function variables(key: string, row: Setting<unknown>): string {
  const own = row.env ?? [];
  const builtIn = Object.entries(PROVIDER_VARIABLES)
    .filter(([concrete]) => concrete === fillNames(key, [concrete.split('.')[1] ?? '']))
    .flatMap(([, names]) => names);
  return [...own, ...builtIn].map((name) => `\`${name}\``).join(', ');
}

function meaning(key: string, row: Setting<unknown>): string {
  const aliases = (row.aliases ?? []).map((alias) => `\`${alias}\``).join(', ');
  return [
    row.about,
    aliases === '' ? '' : `Also ${aliases}.`,
    row.needsRestart === true ? 'Needs a restart.' : '',
    isInEffect(key) ? '' : 'Not yet in effect.',
  ]
    .filter((part) => part !== '')
    .join(' ');
}
