/**
 * The table of all settings, in display order. Everything derived from a setting (checks, hints,
 * `config show`, documents, a fresh file) comes from these rows.
 */
import type { Setting } from '../../stages/settings/setting.ts';
import { namedSections, settingsOf } from '../../stages/settings/slice.ts';
import type { SettingOf } from '../../stages/settings/slice.ts';
import { configuration } from './config.ts';

type Declared = SettingOf<typeof configuration>;

/** A key of the table, such as `server.port` or `providers.<name>.kind`. */
export type SettingKey = Declared['key'];

/** The type of a setting's value as written in a file. */
export type SettingValue<K extends SettingKey> = Extract<Declared, { readonly key: K }>['default'];

/** Every setting. */
export const settings: readonly Setting[] = bySection(settingsOf(configuration));

/** Sections whose keys the user names, each with its built-in names. */
export const NAMED_SECTIONS = namedSections(configuration);

/** Every spelling of every setting, aliases included; `<name>` is a placeholder. */
export const SPELLINGS: readonly string[] = settings.flatMap(spellingsOf);

/** The setting found at a path: its row, and its key with real names. */
export interface Found {
  readonly setting: Setting;
  /** The key itself, never an alias, with the user's name filled in. */
  readonly concrete: string;
  /** True if the path uses one of the aliases. */
  readonly isAlias: boolean;
}

const BY_PATH = byPath();

/**
 * Returns the setting at `path`, `'section'` for a map of further settings, undefined for neither.
 */
export function findSetting(path: readonly string[]): Found | 'section' | undefined {
  const found = BY_PATH.get(pathId(path));
  if (found === undefined || found === 'section') return found;
  return { ...found, concrete: fillName(found.setting.key, path[1] ?? '') };
}

/**
 * Returns `key` with its placeholder replaced: `providers.<name>.kind` and `local` give
 * `providers.local.kind`.
 */
export function fillName(key: string, name: string): string {
  return key.replace(/<[^<>]+>/, () => name);
}

/**
 * Sorts by section, in the order in which the slices first name them; `advanced` belongs to many
 * and comes last.
 */
function bySection(rows: readonly Setting[]): readonly Setting[] {
  const section = ({ key }: Setting): string => key.split('.', 1)[0]!;
  const names = new Set([...rows.map(section).filter((name) => name !== 'advanced'), 'advanced']);
  return [...names].flatMap((name) => rows.filter((row) => section(row) === name));
}

function spellingsOf({ key, aliases = [] }: Setting): readonly string[] {
  return [key, ...aliases];
}

function byPath(): ReadonlyMap<string, Omit<Found, 'concrete'> | 'section'> {
  const found = new Map<string, Omit<Found, 'concrete'> | 'section'>();
  for (const setting of settings) {
    for (const spelling of spellingsOf(setting)) {
      const path = spelling.split('.');
      path.forEach((_, index) => found.set(pathId(path.slice(0, index)), 'section'));
      found.set(pathId(path), { setting, isAlias: spelling !== setting.key });
    }
  }
  return found;
}

/** Returns an id that is the same for every name below a named section. */
function pathId(path: readonly string[]): string {
  const isNamed = NAMED_SECTIONS.has(path[0] ?? '');
  return JSON.stringify(path.map((segment, index) => (isNamed && index === 1 ? '<>' : segment)));
}
