/** The settings as documents show them. */
import type { Setting } from '../../stages/settings/setting.ts';
import { settings } from './settings.ts';

/** Returns the table of all settings in Markdown, one row per setting, in table order. */
export function settingsTable(): string {
  const header = ['| Key | Variable | Default | Value | Meaning |', '|---|---|---|---|---|'];
  const rows = settings.map((row) => {
    const cells = [
      `\`${row.key}\``,
      variablesCell(row),
      defaultOf(row),
      row.type.text,
      meaningOf(row),
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [...header, ...rows].join('\n');
}

/** Returns the default of a setting in words, as Markdown. */
export function defaultOf(row: Setting): string {
  if (row.defaultText !== undefined) return row.defaultText;
  if (row.default === null) return 'none';
  if (Array.isArray(row.default)) {
    return row.default.length === 0 ? 'none' : row.default.map((one) => `\`${one}\``).join(', ');
  }
  if (typeof row.default === 'object') return 'none';
  return `\`${typeof row.default === 'string' ? row.default : JSON.stringify(row.default)}\``;
}

function variablesCell({ env = [] }: Setting): string {
  return Object.values(env)
    .flat()
    .map((name) => `\`${name}\``)
    .join(', ');
}

function meaningOf(row: Setting): string {
  const aliases = (row.aliases ?? []).map((alias) => `\`${alias}\``).join(', ');
  return [
    row.about,
    aliases === '' ? '' : `Also ${aliases}.`,
    row.needsRestart === true ? 'Needs a restart.' : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}
