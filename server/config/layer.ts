/**
 * Reads one source of settings into entries, and merges all sources. Every entry is checked on its
 * own, even one that a stronger source overrides: a fault that only shows once a variable is unset
 * is worse than one reported today.
 */
import { isObject } from '../../stages/dialect/json-kind.ts';
import { allows, itemOf, wrongMember } from '../../stages/settings/kind.ts';
import type { WrongMember } from '../../stages/settings/kind.ts';
import { quote } from '../../stages/settings/setting.ts';
import type { Origin, Setting, OriginKind } from '../../stages/settings/setting.ts';
import { describe, fault, missingField, unknownKey, wrongValue, type Fault } from './fault.ts';
import { findSetting, NAMED_SECTIONS } from './settings.ts';
import { mapSecretMembers } from '../../stages/settings/secret-members.ts';
import { revealsSecret, VARIABLE } from './written-secret.ts';
import type { Found } from './settings.ts';
import type { YamlFile } from './yaml.ts';

/** One setting made by a source. */
export interface Entry extends Origin {
  readonly setting: Setting;
  readonly concrete: string;
  /** The key, alias, variable or flag by which it was set. */
  readonly spelled: string;
  /** Among several spellings in one source the lowest rank wins. */
  readonly rank: number;
  readonly value: unknown;
  /** True if reading the source reveals a secret. */
  readonly revealsSecret: boolean;
}

/** A user-chosen name, such as a provider's. */
export interface ChosenName extends Origin {
  readonly section: string;
  readonly name: string;
}

/** Everything that one source sets. */
export interface Layer {
  readonly source: OriginKind;
  readonly entries: readonly Entry[];
  readonly names: readonly ChosenName[];
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
}

/** A settled value and where it came from. */
export interface Provenance extends Origin {
  readonly setting: Setting;
  readonly value: unknown;
}

/** Where a config file comes from. */
export interface FileOrigin {
  /** True if it was merely found in the current folder, and is therefore not trusted. */
  readonly found: boolean;
  readonly absolute: (path: string) => string;
  /** Values for `${NAME}` in secrets. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Returns the entries of a parsed config file. */
export function fileLayer(file: YamlFile, origin: FileOrigin): Layer {
  const entries: Entry[] = [];
  const names: ChosenName[] = [];
  const faults: Fault[] = [...file.faults];
  const visit = (value: unknown, path: readonly string[]): void => {
    const valueOrigin = file.originOf(path);
    const found = path.length === 0 ? 'section' : findSetting(path);
    if (found === undefined) return void faults.push(unknownKey(valueOrigin, path));
    if (found !== 'section') {
      const key = path.join('.');
      const filled = fillVariables(found.setting, value, origin.variables);
      const wrong =
        refuseUntrusted(found.setting, key, valueOrigin, origin) ??
        unsetVariable(filled.unset, key, valueOrigin) ??
        check(found.setting, filled.value, key, valueOrigin);
      if (wrong !== undefined) return void faults.push(wrong);
      const entry = toEntry(found, key, filled.value, valueOrigin, origin);
      entries.push({ ...entry, revealsSecret: revealsSecret(found.setting, value) });
      return;
    }
    if (path.length === 2)
      names.push({ ...valueOrigin, section: path[0] ?? '', name: path[1] ?? '' });
    // A section whose lines are all commented out reads as null.
    if (value === null) return;
    if (isObject(value)) for (const key of Object.keys(value)) visit(value[key], [...path, key]);
    else faults.push(notASectionFault(path, value, valueOrigin));
  };
  visit(file.data, []);
  const chosen = names.filter(({ section }) => NAMED_SECTIONS.has(section));
  return { source: 'file', entries, names: chosen, faults, warnings: [] };
}

/** Merges layers, weakest first, into one value per key; reports spellings that disagree. */
export function mergeLayers(layers: readonly Layer[]): {
  readonly values: ReadonlyMap<string, Provenance>;
  readonly warnings: readonly string[];
} {
  const values = new Map<string, Provenance>();
  const warnings: string[] = [];
  for (const layer of layers) {
    const winners = new Map<string, Entry>();
    for (const entry of layer.entries.toSorted((a, b) => a.rank - b.rank)) {
      const winner = winners.get(entry.concrete);
      if (winner === undefined) winners.set(entry.concrete, entry);
      else if (!sameValue(winner.value, entry.value)) {
        warnings.push(
          `${winner.spelled} and ${entry.spelled} are the same setting and disagree; ` +
            `${winner.spelled} wins (${winner.where})`,
        );
      }
    }
    for (const [concrete, { setting, value, source, where }] of winners) {
      values.set(concrete, { setting, value, source, where });
    }
  }
  return { values, warnings };
}

/** True when two values are the same JSON. */
export function sameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function check(setting: Setting, value: unknown, key: string, origin: Origin): Fault | undefined {
  if (value === null && setting.default === null) return undefined;
  if (allows(setting.type.definition, value)) return undefined;
  const { type, secret } = setting;
  // For a list, its first invalid element.
  const item = itemOf(type.definition);
  const at =
    Array.isArray(value) && item !== undefined ? value.findIndex((one) => !allows(item, one)) : -1;
  const wrong: unknown = at === -1 ? value : (value as readonly unknown[])[at];
  const member = wrongMember(at === -1 ? type.definition : item!, wrong);
  if (member?.fault === 'missing') {
    const path = `${key}${at === -1 ? '' : `[${at}]`}.${member.path}`;
    return missingField(origin, key, path, type.text);
  }
  const found = describe(wrong, secret === true);
  const place = at === -1 ? '' : ` as item ${at + 1}`;
  const why = member === undefined ? '' : ` (${member.path} is ${expectedText(member.fault)})`;
  return wrongValue(origin, key, `${found}${place}${why}`, type.text);
}

function expectedText(wrong: Exclude<WrongMember['fault'], 'missing'>): string {
  return wrong === 'unknown' ? 'unknown' : `not ${wrong.expected}`;
}

/**
 * Replaces `${NAME}` in a secret, so that the file need not contain it; `unset` is a name without a
 * value.
 */
function fillVariables(
  { secret, secretMembers }: Setting,
  value: unknown,
  variables: FileOrigin['variables'],
): { readonly value: unknown; readonly unset?: string | undefined } {
  if (secret !== true && secretMembers === undefined) return { value };
  let unset: string | undefined;
  const fill = (text: string): string =>
    text.replaceAll(VARIABLE, (_whole, name: string) => {
      const found = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (found === undefined || found === '') unset ??= name;
      return found ?? '';
    });
  if (secretMembers !== undefined) {
    // The names are known only after this call.
    const filled = mapSecretMembers(value, secretMembers, fill);
    return { value: filled, unset };
  }
  if (typeof value === 'string') return { value: fill(value), unset };
  if (!isObject(value)) return { value };
  const filled = Object.entries(value).map(([name, one]) => [
    name,
    typeof one === 'string' ? fill(one) : one,
  ]);
  return { value: Object.fromEntries(filled), unset };
}

function unsetVariable(name: string | undefined, key: string, origin: Origin): Fault | undefined {
  if (name === undefined) return undefined;
  const isName = /^[A-Za-z_]\w*$/.test(name);
  const text = isName
    ? `${key}: the variable ${name} is not set`
    : `${key}: ${quote(`\${${name}}`)} does not name a variable; write \${NAME}`;
  return fault(origin, key, text);
}

function refuseUntrusted(
  setting: Setting,
  key: string,
  valueOrigin: Origin,
  origin: FileOrigin,
): Fault | undefined {
  if (!origin.found || setting.guarded !== true) return undefined;
  const text =
    `${key} may not be set by a proxy.yaml that was merely found in the current folder; ` +
    'if you trust the file, pass --config proxy.yaml';
  return fault(valueOrigin, key, text);
}

function toEntry(
  { setting, concrete, isAlias }: Found,
  spelled: string,
  raw: unknown,
  valueOrigin: Origin,
  origin: FileOrigin,
): Omit<Entry, 'revealsSecret'> {
  const value = raw === null ? null : (setting.resolve?.(raw, origin.absolute) ?? raw);
  const aliasRank = setting.aliasesWin === true ? -1 : 1;
  return { ...valueOrigin, setting, concrete, spelled, rank: isAlias ? aliasRank : 0, value };
}

function notASectionFault(path: readonly string[], value: unknown, origin: Origin): Fault {
  const key = path.join('.');
  const found = describe(value, true);
  return path.length === 0
    ? fault(origin, '', `The file contains ${found}, expected a map of settings`)
    : wrongValue(origin, key, found, 'a map of settings');
}
