/**
 * The table of all settings, in the order in which they are shown. Everything that is
 * said about a setting anywhere (checks, hints, `config show`, documents, a fresh file)
 * is made from these rows.
 */
import type { Setting } from './setting.ts';
import { alerts } from './slices/alerts.ts';
import { compression } from './slices/compression.ts';
import { inject } from './slices/inject.ts';
import { audit, logging, metrics, telemetry } from './slices/observing.ts';
import { customProviders, keys, plugins, providers, rateLimiting } from './slices/providers.ts';
import { models, routing } from './slices/routing.ts';
import { advanced, budget, rateLimit, security, streaming } from './slices/safety.ts';
import { outbound, server } from './slices/server.ts';
import { cache, capture, ledger, shared } from './slices/storage.ts';
import { vault } from './slices/vault.ts';

/** Every setting by its key. `<name>` stands for a name that the user chooses. */
export const settings = {
  ...server,
  ...compression,
  ...cache,
  ...logging,
  ...metrics,
  ...audit,
  ...alerts,
  ...security,
  ...advanced,
  ...inject,
  ...vault,
  ...ledger,
  ...keys,
  ...routing,
  ...providers,
  ...rateLimiting,
  ...rateLimit,
  ...customProviders,
  ...plugins,
  ...models,
  ...streaming,
  ...telemetry,
  ...capture,
  ...budget,
  ...shared,
  ...outbound,
};

/** A key of the table, such as `server.port` or `providers.<name>.kind`. */
export type SettingKey = keyof typeof settings;

/** The type of a setting's value. */
export type SettingValue<K extends SettingKey> =
  (typeof settings)[K] extends Setting<infer T> ? T : never;

/** A setting as found at a path: its row, its key in the table, and its key with real names. */
export interface Found {
  readonly setting: Setting<unknown>;
  readonly key: SettingKey;
  /** The key itself, never an alias, with the user's names filled in. */
  readonly concrete: string;
  /** True when the path spelled one of the aliases. */
  readonly alias: string | undefined;
}

interface Branch {
  leaf: { readonly key: SettingKey; readonly alias: string | undefined } | undefined;
  readonly children: Map<string, Branch>;
}

const WILDCARD = /^<.+>$/;

/** All rows, in the order of the table. */
export function allSettings(): readonly (readonly [SettingKey, Setting<unknown>])[] {
  return Object.entries(settings) as [SettingKey, Setting<unknown>][];
}

/** Every spelling of every setting, aliases included; `<name>` where a name belongs. */
export function allSpellings(): readonly string[] {
  return allSettings().flatMap(([key, row]) => [key, ...(row.aliases ?? [])]);
}

const ROOT = plant();

/** The setting at `path`, `'section'` for a map of further settings, undefined for neither. */
export function findSetting(path: readonly string[]): Found | 'section' | undefined {
  let branch: Branch | undefined = ROOT;
  const names: string[] = [];
  for (const segment of path) {
    const exact: Branch | undefined = branch.children.get(segment);
    if (exact === undefined && branch.children.has('<>')) names.push(segment);
    branch = exact ?? branch.children.get('<>');
    if (branch === undefined) return undefined;
  }
  if (branch.leaf === undefined) return 'section';
  const { key, alias } = branch.leaf;
  return {
    setting: settings[key] as Setting<unknown>,
    key,
    concrete: fillNames(key, names),
    alias,
  };
}

/** `providers.<name>.kind` with `['local']` is `providers.local.kind`. */
export function fillNames(key: string, names: readonly string[]): string {
  let next = 0;
  return key
    .split('.')
    .map((segment) => (WILDCARD.test(segment) ? (names[next++] ?? segment) : segment))
    .join('.');
}

function plant(): Branch {
  const root: Branch = { leaf: undefined, children: new Map() };
  for (const [key, row] of allSettings()) {
    grow(root, key, { key, alias: undefined });
    for (const alias of row.aliases ?? []) grow(root, alias, { key, alias });
  }
  return root;
}

function grow(root: Branch, spelling: string, leaf: NonNullable<Branch['leaf']>): void {
  let branch = root;
  for (const segment of spelling.split('.')) {
    const name = WILDCARD.test(segment) ? '<>' : segment;
    const child = branch.children.get(name) ?? { leaf: undefined, children: new Map() };
    branch.children.set(name, child);
    branch = child;
  }
  branch.leaf = leaf;
}
