/** Fills in the defaults, and lists the providers, models and limits that the user named. */
import type { Setting } from '../../stages/settings/setting.ts';
import type { FinalValues } from '../../stages/settings/slice.ts';
import type { ChosenName, Provenance } from './layer.ts';
import {
  fillName,
  NAMED_SECTIONS,
  settings,
  type SettingKey,
  type SettingValue,
} from './settings.ts';

/** All settled values, defaults included, with typed access. */
export interface Values extends Pick<FinalValues, 'find' | 'names'> {
  /** Returns the value of a setting; `name` fills the placeholder of its key. */
  readonly get: <K extends SettingKey>(key: K, name?: string) => SettingValue<K>;
  /** Returns where the value came from. */
  readonly from: (key: SettingKey, name?: string) => Provenance;
  /** Every concrete key with its value, in the order of the table. */
  readonly all: ReadonlyMap<string, Provenance>;
}

/** Fills in the defaults for what the sources did not set. */
export function withDefaults(
  configured: ReadonlyMap<string, Provenance>,
  chosen: readonly ChosenName[],
): Values {
  const names = new Map(
    [...NAMED_SECTIONS].map(([section, builtIn]) => {
      const own = chosen.filter((one) => one.section === section).map((one) => one.name);
      return [section, [...new Set([...builtIn, ...own])]];
    }),
  );
  const all = new Map<string, Provenance>();
  for (const setting of settings) {
    const owners = setting.key.includes('<') ? names.get(setting.key.split('.', 1)[0]!)! : [''];
    for (const name of owners) {
      const concrete = fillName(setting.key, name);
      all.set(concrete, configured.get(concrete) ?? defaultProvenance(setting));
    }
  }
  const find = (setting: Setting, name: string) =>
    all.get(fillName(setting.key, name)) ?? defaultProvenance(setting);
  const byKey = new Map(settings.map((setting) => [setting.key, setting]));
  const from = (key: SettingKey, name = '') => find(byKey.get(key)!, name);
  return {
    all,
    find,
    from,
    // Sound because every entry was checked against the row of this key (layer.ts, env.ts).
    get: (key, name) => from(key, name).value as SettingValue<typeof key>,
    names: (section) => names.get(section) ?? [],
  };
}

function defaultProvenance(setting: Setting): Provenance {
  return { setting, value: setting.default, source: 'default', where: '' };
}
