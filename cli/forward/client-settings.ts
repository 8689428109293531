/**
 * Reads what the settings files of clients started by `svc run --forward` say about where their
 * requests go.
 */
import { existsSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { isObject } from '../../stages/dialect/json-kind.ts';
import { claudeFolder, codexFolder } from '../../server/sessions/find.ts';
import { clientVariables } from '../integrate/client.ts';
import type { FormatName, ClientSurroundings } from '../integrate/client.ts';
import { formats } from '../integrate/formats.ts';
import { plainJson } from '../integrate/jsonc.ts';
import { readSettingsFile, textOf } from '../integrate/settings-file.ts';
import type { KeyPath } from '../integrate/text-format.ts';
import { SvcError } from '../../engine/error.ts';

/** How the client is started. */
export interface ClientStart extends ClientSurroundings {
  readonly cwd: string;
}

/** One value of a settings file. */
export interface Setting {
  /** A variable, or the path of a key, in a form that a person can search for. */
  readonly name: string;
  readonly value: string;
  readonly file: string;
}

export interface ClientSettings {
  /** Values that override variables of the client's environment. */
  readonly variables: readonly Setting[];
  /** Base URLs of providers. */
  readonly bases: readonly Setting[];
  /** Settings that make it use another host than its vendor's API. */
  readonly clouds: readonly (Setting & { readonly cloud: string })[];
}

/**
 * Variables that route a vendor's models through another vendor's cloud, if set to anything but 0
 * or false.
 */
export const CLOUD_SWITCHES: Readonly<Record<string, string>> = {
  CLAUDE_CODE_USE_BEDROCK: 'Amazon Bedrock',
  CLAUDE_CODE_USE_MANTLE: 'Amazon Bedrock',
  CLAUDE_CODE_USE_VERTEX: 'Google Vertex AI',
  CLAUDE_CODE_USE_FOUNDRY: 'Microsoft Foundry',
  GOOGLE_GENAI_USE_VERTEXAI: 'Google Vertex AI',
};

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'] as const;
const LISTS = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'CODEX_CA_CERTIFICATE'] as const;
const BASES = [...Object.keys(clientVariables('')), 'GOOGLE_VERTEX_BASE_URL'];

const NO_SETTINGS: ClientSettings = { variables: [], bases: [], clouds: [] };

/**
 * Returns the settings of `program`; none if svc does not know its files, or they cannot be read.
 */
export function clientSettings(program: string, where: ClientStart): ClientSettings {
  return READERS[program]?.(where) ?? NO_SETTINGS;
}

const READERS: Readonly<Record<string, (where: ClientStart) => ClientSettings>> = {
  claude: claudeSettings,
  codex: codexSettings,
  gemini: geminiSettings,
  qwen: (where) => dotenvSettings('.qwen', where),
  opencode: opencodeSettings,
  pi: piSettings,
  aider: aiderSettings,
};

/** The administrator's file, by system; it overrides all others. */
const MANAGED: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: '/etc/claude-code/managed-settings.json',
  darwin: '/Library/Application Support/ClaudeCode/managed-settings.json',
};

/** The first file that sets a variable wins. */
function claudeSettings({ env, userHome, cwd }: ClientStart): ClientSettings {
  const project = join(cwd, '.claude');
  const files = [
    MANAGED[process.platform],
    join(project, 'settings.local.json'),
    join(project, 'settings.json'),
    join(claudeFolder(userHome, env), 'settings.json'),
  ].filter((file) => file !== undefined);
  const names = [...BASES, ...PROXIES, ...LISTS, ...Object.keys(CLOUD_SWITCHES)];
  const variables = names.flatMap(
    (name) => firstOf(files, (file) => valueIn(file, 'json', ['env', name], name)) ?? [],
  );
  return { ...NO_SETTINGS, variables };
}

/** Its `.env` overrides the environment; its provider is named by the profile or the file. */
function codexSettings({ env, userHome }: ClientStart): ClientSettings {
  const folder = codexFolder(userHome, env);
  const dotenv = join(folder, '.env');
  const variables = [...BASES, ...PROXIES, ...LISTS].flatMap(
    (name) => valueIn(dotenv, 'dotenv', [name], name) ?? [],
  );
  const file = join(folder, 'config.toml');
  const at = (path: KeyPath) => valueIn(file, 'toml', path);
  const profile = at(['profile'])?.value;
  const named = (profile && at(['profiles', profile, 'model_provider'])) || at(['model_provider']);
  const provider = named?.value ?? 'openai';
  const bases = [
    at(['model_providers', provider, 'base_url']),
    provider === 'openai' ? at(['openai_base_url']) : undefined,
  ].filter((base) => base !== undefined);
  return { ...NO_SETTINGS, variables, bases };
}

/** Login methods in its settings, and the host that each one uses. */
const GEMINI_LOGINS: Readonly<Record<string, string>> = {
  'oauth-personal': "Google's Code Assist",
  'cloud-shell': "Google's Code Assist",
  'compute-default-credentials': "Google's Code Assist",
  'vertex-ai': 'Google Vertex AI',
};

/** Its `.env`, and how it logs in: the project's file wins over the user's. */
function geminiSettings(where: ClientStart): ClientSettings {
  const { env, userHome, cwd } = where;
  const path = ['security', 'auth', 'selectedType'];
  const files = [cwd, env['GEMINI_CLI_HOME'] || userHome].map((folder) =>
    join(folder, '.gemini', 'settings.json'),
  );
  const login = firstOf(files, (file) => valueIn(file, 'json', path));
  const cloud = login && GEMINI_LOGINS[login.value];
  const clouds = login && cloud ? [{ ...login, cloud }] : [];
  return { ...dotenvSettings('.gemini', where), clouds };
}

/** Only the first existing file counts, and only for variables that are not set. */
function dotenvSettings(folder: string, { env, userHome, cwd }: ClientStart): ClientSettings {
  const home = (folder === '.gemini' && env['GEMINI_CLI_HOME']) || userHome;
  const file = [...upwards(cwd), home]
    .flatMap((one) => [join(one, folder, '.env'), join(one, '.env')])
    .find((one) => existsSync(one));
  if (file === undefined) return NO_SETTINGS;
  const variables = [...BASES, ...Object.keys(CLOUD_SWITCHES)].flatMap((name) =>
    env[name] === undefined ? (valueIn(file, 'dotenv', [name], name) ?? []) : [],
  );
  return { ...NO_SETTINGS, variables };
}

/** All files are merged; of several addresses of a provider the nearest file's wins. */
function opencodeSettings({ env, userHome, cwd }: ClientStart): ClientSettings {
  const config = join(env['XDG_CONFIG_HOME'] || join(userHome, '.config'), 'opencode');
  const names = ['opencode.jsonc', 'opencode.json'];
  const files = [
    ...upwards(cwd).flatMap((folder) =>
      [join(folder, '.opencode'), folder].flatMap((one) => names.map((name) => join(one, name))),
    ),
    ...(env['OPENCODE_CONFIG'] ? [env['OPENCODE_CONFIG']] : []),
    ...[...names, 'config.json'].map((name) => join(config, name)),
  ];
  const inline = env['OPENCODE_CONFIG_CONTENT'];
  const all = [
    ...(inline ? providersIn(inline, 'OPENCODE_CONFIG_CONTENT', 'provider') : []),
    ...files.flatMap((file) => providersIn(textIn(file), file, 'provider')),
  ];
  const known = new Set<string>();
  const bases = all.filter(({ name }) => !known.has(name) && known.add(name));
  return { ...NO_SETTINGS, bases };
}

function piSettings({ env, userHome }: ClientStart): ClientSettings {
  const folder = env['PI_CODING_AGENT_DIR'] || join(userHome, '.pi', 'agent');
  const file = join(folder, 'models.json');
  return { ...NO_SETTINGS, bases: providersIn(textIn(file), file, 'providers') };
}

function aiderSettings({ userHome, cwd }: ClientStart): ClientSettings {
  const files = [...upwards(cwd), userHome].map((folder) => join(folder, '.aider.conf.yml'));
  const base = firstOf(files, (file) => valueIn(file, 'yaml', ['openai-api-base']));
  return { ...NO_SETTINGS, bases: base === undefined ? [] : [base] };
}

/** Returns the base URLs in the object of providers at `key`. */
function providersIn(text: string, file: string, key: string): readonly Setting[] {
  const root = text.trim() === '' ? undefined : readable(() => plainJson(text));
  const providers = isObject(root) ? root[key] : undefined;
  if (!isObject(providers)) return [];
  return Object.entries(providers).flatMap(([provider, settings]) => {
    if (!isObject(settings)) return [];
    const { options, api, baseUrl } = settings;
    const value = (isObject(options) ? options['baseURL'] : undefined) ?? api ?? baseUrl;
    return typeof value === 'string' ? [{ name: `${key}.${provider}`, value, file }] : [];
  });
}

function valueIn(
  file: string,
  format: FormatName,
  path: KeyPath,
  name: string = path.join('.'),
): Setting | undefined {
  const text = textIn(file);
  const value = text && readable(() => formats[format].find(text, path)?.value);
  return typeof value === 'string' && value !== '' ? { name, value, file } : undefined;
}

function textIn(file: string): string {
  return readable(() => textOf(readSettingsFile(file))) ?? '';
}

/** An unreadable file is ignored here: its client will report it. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof SvcError) return undefined;
    throw thrown;
  }
}

function firstOf<T>(files: readonly string[], read: (file: string) => T | undefined) {
  for (const file of files) {
    const found = read(file);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns `folder` and its parents, nearest first. */
function upwards(folder: string): readonly string[] {
  const { root } = parse(folder);
  const all = [folder];
  for (let at = folder; at !== root; at = dirname(at)) all.push(dirname(at));
  return all;
}
