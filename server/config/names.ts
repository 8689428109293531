/** Fills in the defaults, and knows which providers, models and limits the user named. */
import {
  fillNames,
  allSettings,
  settings,
  type SettingKey,
  type SettingValue,
} from './settings.ts';
import { NAMED_SECTIONS, type ChosenName, type Provenance } from './layer.ts';
import { PROVIDER_KINDS } from './slices/providers.ts';

/** All settled values, defaults included, with typed access. */
export interface Values {
  /** The value of a setting; `names` fill the placeholders of its key. */
  readonly get: <K extends SettingKey>(key: K, ...names: readonly string[]) => SettingValue<K>;
  /** Where the value came from. */
  readonly from: (key: SettingKey, ...names: readonly string[]) => Provenance;
  /** The names below a section, the built-in ones first. */
  readonly names: (section: string) => readonly string[];
  /** Every concrete key with its value, in the order of the table. */
  readonly all: ReadonlyMap<string, Provenance>;
}

/** Completes what the sources set with the defaults. */
export function complete(
  said: ReadonlyMap<string, Provenance>,
  chosen: readonly ChosenName[],
): Values {
  const names = new Map<string, ReadonlySet<string>>(
    NAMED_SECTIONS.map((section) => {
      const own = chosen.filter((one) => one.section === section).map((one) => one.name);
      return [section, new Set(section === 'providers' ? [...PROVIDER_KINDS, ...own] : own)];
    }),
  );
  const all = new Map<string, Provenance>();
  for (const [key, row] of allSettings()) {
    const section = key.split('.', 1)[0] ?? '';
    const owners = key.includes('<') ? [...(names.get(section) ?? [])].map((name) => [name]) : [[]];
    for (const owner of owners) {
      const concrete = fillNames(key, owner);
      const unset: Provenance = { key, value: row.default, source: 'default', where: '' };
      all.set(concrete, said.get(concrete) ?? unset);
    }
  }
  const from = (key: SettingKey, ...owner: readonly string[]): Provenance =>
    all.get(fillNames(key, owner)) ?? {
      key,
      value: settings[key].default,
      source: 'default',
      where: '',
    };
  return {
    all,
    from,
    // Sound because every entry was checked against the row of this key (layer.ts, env.ts).
    get: (key, ...owner) => from(key, ...owner).value as SettingValue<typeof key>,
    names: (section) => [...(names.get(section) ?? [])],
  };
}
