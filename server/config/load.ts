/**
 * Loads the configuration: defaults, then the config file, then an `.env` file named by the user,
 * then the environment, then flags; each overrides the previous ones. All faults of all sources are
 * reported at once.
 */
import { dirname, join } from 'node:path';
import { isSvcError } from '../../engine/error.ts';
import { allows } from '../../stages/settings/kind.ts';
import { crossCheck } from './checks.ts';
import { toConfig } from './config.ts';
import type { Config } from './config.ts';
import {
  fromText,
  inEnvironment,
  readEnvFile,
  textExpected,
  variableLayer,
  type Variables,
} from './env.ts';
import {
  describe,
  invalidConfig,
  unknownKey,
  unreadableConfig,
  wrongValue,
  type Fault,
} from './fault.ts';
import { foundChanges, withoutLoosening } from './found-file.ts';
import { absolutePath, resolveHome } from './home.ts';
import { fileLayer, mergeLayers, type Entry, type Layer, type Provenance } from './layer.ts';
import { withDefaults, type Values } from './names.ts';
import { unencryptedRedis } from './redis-address.ts';
import { readConfigFile, type ReadFile, type TextFile } from './read-file.ts';
import { findSetting } from './settings.ts';
import { readYaml, YAML_LIMITS } from './yaml.ts';

/** All possible sources of settings. Nothing else is read. */
export interface LoadOptions {
  /** By key, as `{'server.port': 9000}`. Text is parsed like a variable's. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** The process environment. */
  readonly env: Variables;
  /** Path given with `--env-file`. */
  readonly envFile?: string | undefined;
  /** Path given with `--config`. */
  readonly configPath?: string | undefined;
  readonly cwd: string;
  /** The user's home folder, for `~`. */
  readonly home: string;
  /** Reads a file; replaced by tests and by `config validate`. */
  readonly readFile?: ReadFile;
}

/** A loaded configuration. */
export interface LoadedConfig {
  readonly config: Config;
  /** Every setting by its concrete key, in table order. Contains secrets: print with `showConfig`. */
  readonly provenance: ReadonlyMap<string, Provenance>;
  /** Settings that work but that the user should know about. */
  readonly warnings: readonly string[];
  /** The config file that was read. */
  readonly configFile: string | undefined;
}

/** Result of an inspection, which does not throw for invalid values. */
export type Inspection =
  | { readonly loaded: LoadedConfig; readonly faults: readonly [] }
  | { readonly loaded: undefined; readonly faults: readonly Fault[] };

/**
 * Loads the configuration.
 *
 * @throws SvcError `config`: CONFIG_001 if a file cannot be read or parsed, CONFIG_002 with one
 * line per fault if values are wrong.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { loaded, faults } = await inspectConfig(options);
  if (loaded === undefined) throw invalidConfig(faults);
  return loaded;
}

/**
 * Like `loadConfig`, but returns the faults of the values as a list.
 *
 * @throws SvcError `config` CONFIG_001 if a file cannot be read or parsed.
 */
export async function inspectConfig(options: LoadOptions): Promise<Inspection> {
  const read = options.readFile ?? readConfigFile;
  const { cwd } = options;
  const fromCwd = (path: string): string => absolutePath(path, cwd, options.home);
  const envFile = openEnvFile(options, read, fromCwd);
  const fromFile = envFile === undefined ? undefined : readEnvFile(envFile.text, envFile.name);
  const home = resolveHome({ ...fromFile?.variables, ...options.env }, options.home, cwd);
  const { file, found } = openConfigFiles(options, read, fromCwd, home);
  const variables = { ...fromFile?.variables, ...options.env };
  const own = file && (await readLayer(file, options.home, variables));
  const beside = found && withoutLoosening(await readLayer(found, options.home, variables), own);
  const layers = [own, beside].filter((layer) => layer !== undefined);
  if (fromFile !== undefined) {
    const layer = variableLayer(fromFile.variables, 'env-file', fromFile.originOf, fromCwd);
    layers.push({ ...layer, warnings: [...fromFile.warnings, ...layer.warnings] });
  }
  layers.push(variableLayer(options.env, 'environment', inEnvironment, fromCwd));
  layers.push(flagLayer(options.flags ?? {}, fromCwd));
  const inspected = settle(
    layers,
    home,
    [file, found, envFile].filter((one) => one !== undefined),
    found?.path ?? file?.path,
  );
  if (inspected.loaded === undefined || beside === undefined) return inspected;
  const { loaded } = inspected;
  const changes = foundChanges(beside, own, loaded.provenance);
  return { loaded: { ...loaded, warnings: [...changes, ...loaded.warnings] }, faults: [] };
}

interface OpenFile extends TextFile {
  readonly path: string;
  /** As the user knows it, for messages. */
  readonly name: string;
  /** True for a `proxy.yaml` that was merely found. */
  readonly found: boolean;
}

function settle(
  layers: readonly Layer[],
  home: string,
  files: readonly OpenFile[],
  configFile: string | undefined,
): Inspection {
  const chosen = layers.flatMap((layer) => layer.names);
  const merged = mergeLayers(layers);
  const values = withDefaults(merged.values, chosen);
  const own = layers.flatMap((layer) => layer.faults);
  // An invalid value is missing here, which would otherwise be reported a second time.
  const between = crossCheck(values, chosen).filter(
    ({ key }) => !own.some((one) => one.key === key),
  );
  const faults = [...own, ...between];
  if (faults.length > 0) return { loaded: undefined, faults };
  const loaded: LoadedConfig = {
    config: toConfig({ ...values, home }),
    provenance: values.all,
    warnings: [
      ...layers.flatMap((layer) => layer.warnings),
      ...merged.warnings,
      ...vaultConflict(values),
      ...ineffectiveLimits(values),
      ...hostChanges(values),
      ...unencryptedWarnings(values),
      ...files.flatMap((file) =>
        readableByOthers(
          file,
          layers.flatMap(({ entries }) => entries),
        ),
      ),
    ],
    configFile,
  };
  return { loaded, faults: [] };
}

/** Opens the file that the user named or keeps at home, and the one found in the current folder. */
function openConfigFiles(
  options: LoadOptions,
  read: ReadFile,
  fromCwd: (path: string) => string,
  home: string,
) {
  const { configPath } = options;
  if (configPath !== undefined) {
    const path = fromCwd(configPath);
    const file = openFile(read, path, configPath);
    if (file === undefined) throw unreadableConfig(`${configPath}: it does not exist`);
    return { file, found: undefined };
  }
  const beside = join(options.cwd, 'proxy.yaml');
  const own = join(home, 'config.yaml');
  const found = openFile(read, beside, 'proxy.yaml');
  return { file: openFile(read, own, own), found: found && { ...found, found: true } };
}

/** Opens a file chosen by the user. Throws `config` CONFIG_001 if every user can write it. */
function openFile(read: ReadFile, path: string, name: string): OpenFile | undefined {
  const file = read(path, YAML_LIMITS.bytes);
  if (file === undefined) return undefined;
  if ((file.mode & 0o002) !== 0) {
    throw unreadableConfig(
      `${name}: any user on this machine can write to it; run: chmod o-w ${path}`,
    );
  }
  return { ...file, path, name, found: false };
}

function openEnvFile(
  { envFile }: LoadOptions,
  read: ReadFile,
  fromCwd: (path: string) => string,
): OpenFile | undefined {
  if (envFile === undefined) return undefined;
  const path = fromCwd(envFile);
  const file = openFile(read, path, envFile);
  if (file === undefined) throw unreadableConfig(`${envFile}: it does not exist`);
  return file;
}

async function readLayer(file: OpenFile, userHome: string, variables: Variables): Promise<Layer> {
  const folder = dirname(file.path);
  const yaml = await readYaml(file.text, file.name).catch((thrown: unknown) => {
    throw isSvcError(thrown) ? unreadableConfig(thrown.message, thrown) : thrown;
  });
  return fileLayer(yaml, {
    found: file.found,
    variables,
    absolute: (path) => absolutePath(path, folder, userHome),
  });
}

function flagLayer(
  flags: Readonly<Record<string, unknown>>,
  absolute: (path: string) => string,
): Layer {
  const entries: Entry[] = [];
  const faults: Fault[] = [];
  for (const [spelled, given] of Object.entries(flags)) {
    if (given === undefined) continue;
    const found = findSetting(spelled.split('.'));
    if (found === undefined || found === 'section') {
      faults.push(unknownKey({ source: 'flag', where: '' }, [spelled]));
      continue;
    }
    const { setting } = found;
    const where = setting.flag ?? spelled;
    const value = typeof given === 'string' ? fromText(given, setting) : given;
    if (value === undefined || !allows(setting.type.definition, value)) {
      const what = describe(given, setting.secret === true);
      faults.push(wrongValue({ source: 'flag', where: '' }, where, what, textExpected(setting)));
      continue;
    }
    const resolved = setting.resolve?.(value, absolute) ?? value;
    const { concrete } = found;
    const entry = { setting, concrete, spelled, rank: 0, value: resolved };
    entries.push({ source: 'flag', where, ...entry, revealsSecret: false });
  }
  return { source: 'flag', entries, names: [], faults, warnings: [] };
}

function vaultConflict(values: Values): readonly string[] {
  const named = values.from('advanced.vault_index_path');
  const root = values.from('vault.root');
  if (named.value === null || root.value === null) return [];
  const winner = named.source === 'file' ? 'vault.root' : named.where;
  return [`vault.root and advanced.vault_index_path both name the vault index; ${winner} wins`];
}

const SPENDING_LIMITS = [
  'budget.total_tokens',
  'budget.per_request_usd',
  'budget.per_session_usd',
  'budget.per_day_usd',
  'budget.per_month_usd',
  'budget.projects',
] as const;

/** Reports limits without effect: a user who set one relies on it. */
function ineffectiveLimits(values: Values): readonly string[] {
  const set = SPENDING_LIMITS.filter((key) => {
    const value = values.get(key);
    return value instanceof Map ? value.size > 0 : value !== null;
  });
  if (values.get('budget.enabled'))
    return set.length > 0
      ? []
      : [`budget.enabled limits nothing: set one of ${SPENDING_LIMITS.join(', ')}`];
  if (set.length === 0) return [];
  const verb = set.length === 1 ? 'limits' : 'limit';
  return [`${set.join(' and ')} ${verb} nothing while budget.enabled is false`];
}

/**
 * Reports a file of variables that moves a provider to another host, which may be someone else's
 * doing.
 */
function hostChanges(values: Values): readonly string[] {
  return values.names('providers').flatMap((name) => {
    const from = values.from('providers.<name>.base_url', name);
    if (from.source !== 'env-file' || typeof from.value !== 'string') return [];
    const { host } = new URL(from.value);
    return [`Requests for ${name}, and its keys, go to ${host} (${from.where})`];
  });
}

function unencryptedWarnings(values: Values): readonly string[] {
  const warning = unencryptedRedis(values.get('shared.redis_url'));
  return warning === undefined ? [] : [warning];
}

function readableByOthers(file: OpenFile, entries: readonly Entry[]): readonly string[] {
  if ((file.mode & 0o077) === 0) return [];
  const holdsSecret = entries.some(
    ({ revealsSecret, where }) => revealsSecret && where.startsWith(`${file.name}:`),
  );
  return holdsSecret
    ? [`${file.name} holds keys and others on this machine may read it: chmod 600 ${file.path}`]
    : [];
}
