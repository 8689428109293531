/** The supported clients, and the settings that point each of them at svc. */
import { join } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { didYouMean } from '../../server/config/did-you-mean.ts';
import { claudeFolder, codexFolder } from '../../server/sessions/find.ts';
import type { Change, Client } from './client.ts';
import { forwardedId, withForward } from './forward.ts';
import { modelChanges } from './model-lists.ts';
import { opencode } from './opencode.ts';
import { piRun, piSettings } from './pi.ts';
import { STATUSLINE_ID, withStatusline } from './statusline.ts';

const codexSettings = (url: string): readonly Change[] => [
  { path: ['model_provider'], value: 'svc' },
  { path: ['model_providers', 'svc', 'name'], value: 'svc' },
  { path: ['model_providers', 'svc', 'base_url'], value: `${url}/v1` },
  { path: ['model_providers', 'svc', 'wire_api'], value: 'responses' },
  { path: ['model_providers', 'svc', 'env_key'], value: 'OPENAI_API_KEY' },
  // Otherwise Codex spends its retries on a WebSocket that proxies of this kind do not offer.
  { path: ['model_providers', 'svc', 'supports_websockets'], value: false },
];

const zedSettings = (url: string): readonly Change[] => [
  { path: ['language_models', 'anthropic', 'api_url'], value: url },
  { path: ['language_models', 'openai', 'api_url'], value: `${url}/v1` },
  { path: ['language_models', 'google', 'api_url'], value: url },
];

const variables = (...changes: readonly (readonly [name: string, value: string])[]) =>
  changes.map(([name, value]): Change => ({ path: [name], value }));

export const clients: readonly Client[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    aliases: ['claude', 'claudecode'],
    programs: ['claude'],
    traces: ['.claude'],
    file: {
      path: ({ env, userHome }) => join(claudeFolder(userHome, env), 'settings.json'),
      format: 'json',
      mayBeCreated: true,
      requiredChanges: (url) => ({
        changes: [{ path: ['env', 'ANTHROPIC_BASE_URL'], value: url }],
        remarks: [],
      }),
    },
    settings: (url) => [`{ "env": { "ANTHROPIC_BASE_URL": "${url}" } }`],
    notes: [
      'For a single session: `svc run -- claude`.',
      "A subscription's traffic goes through unchanged unless compression.subscription_traffic is true.",
    ],
  },
  {
    id: 'codex',
    name: 'Codex',
    aliases: ['codex-cli'],
    programs: ['codex'],
    traces: ['.codex'],
    file: {
      path: ({ env, userHome }) => join(codexFolder(userHome, env), 'config.toml'),
      format: 'toml',
      mayBeCreated: true,
      requiredChanges: (url) => ({ changes: codexSettings(url), remarks: [] }),
    },
    settings: (url) => [
      'model_provider = "svc"',
      '',
      '[model_providers.svc]',
      ...codexSettings(url)
        .slice(1)
        .map(({ path, value }) => `${path.at(-1)} = ${JSON.stringify(value)}`),
    ],
    notes: [
      'It sends the key in OPENAI_API_KEY; a ChatGPT login is not used with a custom provider.',
    ],
    runAdditions: ({ url }) => ({
      args: codexSettings(url).flatMap(({ path, value }) => [
        '-c',
        `${path.join('.')}=${JSON.stringify(value)}`,
      ]),
    }),
  },
  {
    id: 'cursor',
    name: 'Cursor',
    aliases: [],
    programs: ['cursor'],
    traces: ['.cursor', '.config/Cursor', 'Library/Application Support/Cursor'],
    settings: () => [
      'Settings > Models > API Keys > Override OpenAI Base URL:',
      'https://<your public host>/v1',
    ],
    notes: [
      'Cursor calls from its own servers, so 127.0.0.1 is out of its reach: put a public HTTPS address in front of svc.',
      '`svc auth --generate` makes the key that requests from outside need: enter it as the OpenAI API key.',
      'Models whose names contain claude- bypass the override.',
    ],
    ownSettingsOnly: {},
  },
  {
    id: 'cline',
    name: 'Cline',
    aliases: ['claude-dev'],
    programs: ['cline'],
    traces: [
      '.cline',
      '.config/Code/User/globalStorage/saoudrizwan.claude-dev',
      'Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev',
    ],
    settings: (url) => [
      'Cline > Settings > API Configuration, one of:',
      `Anthropic: tick "Use custom base URL", ${url}`,
      `OpenAI Compatible: Base URL ${url}/v1`,
      `Google Gemini: tick "Use custom base URL", ${url}`,
      'Its command line:',
      `cline auth -p anthropic -k <key> -m <model> -b ${url}/v1`,
      `cline auth -p openai-compatible -k <key> -m <model> -b ${url}/v1`,
    ],
    notes: ['Cline keeps its settings in a store of its editor, which svc does not write to.'],
    ownSettingsOnly: {
      addressFile: ({ userHome }) => join(userHome, '.cline', 'data', 'settings', 'providers.json'),
    },
  },
  {
    id: 'aider',
    name: 'Aider',
    aliases: [],
    programs: ['aider'],
    traces: ['.aider.conf.yml', '.aider'],
    file: {
      path: ({ userHome }) => join(userHome, '.aider.conf.yml'),
      format: 'yaml',
      mayBeCreated: true,
      requiredChanges: (url) => ({
        changes: [{ path: ['openai-api-base'], value: `${url}/v1` }],
        remarks: [],
      }),
    },
    settings: (url) => [`openai-api-base: ${url}/v1`],
    notes: [
      'It holds for models named openai/…; for Anthropic models start it with `svc run -- aider`.',
      "A project's own .aider.conf.yml wins; name it with --file.",
    ],
  },
  {
    id: 'continue',
    name: 'Continue',
    aliases: ['continue-dev'],
    programs: ['cn'],
    traces: ['.continue'],
    file: {
      path: ({ env, userHome }) =>
        join(env['CONTINUE_GLOBAL_DIR'] || join(userHome, '.continue'), 'config.yaml'),
      format: 'yaml',
      mayBeCreated: false,
      requiredChanges: (url, text) =>
        modelChanges(text, {
          list: 'models',
          params: [],
          providerOf: (model) => model['provider'],
          base: 'apiBase',
          bases: { anthropic: `${url}/v1/`, openai: `${url}/v1/`, gemini: `${url}/v1beta/` },
        }),
    },
    settings: (url) => [
      'models:',
      '  - name: …',
      '    provider: openai # or anthropic; for gemini the path is /v1beta/',
      `    apiBase: ${url}/v1/`,
    ],
    notes: ['It reads no variable: each model in its file needs the line.'],
    ownSettingsOnly: {},
  },
  {
    id: 'zed',
    name: 'Zed',
    aliases: ['zeditor'],
    programs: ['zed', 'zeditor'],
    traces: ['.config/zed'],
    file: {
      path: ({ env, userHome }) =>
        join(env['XDG_CONFIG_HOME'] || join(userHome, '.config'), 'zed', 'settings.json'),
      format: 'json',
      mayBeCreated: true,
      requiredChanges: (url) => ({ changes: zedSettings(url), remarks: [] }),
    },
    settings: (url) => [
      '{ "language_models": {',
      `    "anthropic": { "api_url": "${url}" },`,
      `    "openai": { "api_url": "${url}/v1" },`,
      `    "google": { "api_url": "${url}" } } }`,
    ],
    notes: ["Models that Zed itself hosts go through Zed's servers, not through svc."],
    ownSettingsOnly: {},
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    aliases: ['gemini'],
    programs: ['gemini'],
    traces: ['.gemini'],
    file: {
      path: ({ env, userHome }) => join(env['GEMINI_CLI_HOME'] || userHome, '.gemini', '.env'),
      format: 'dotenv',
      mayBeCreated: true,
      requiredChanges: (url) => ({
        changes: variables(['GOOGLE_GEMINI_BASE_URL', url]),
        remarks: [],
      }),
    },
    settings: (url) => [`GOOGLE_GEMINI_BASE_URL=${url}`],
    notes: [
      'It holds for a GEMINI_API_KEY; a login with a Google account goes another way.',
      'A .env file in the folder where it is started is read in place of ~/.gemini/.env.',
    ],
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    aliases: ['qwen'],
    programs: ['qwen'],
    traces: ['.qwen'],
    file: {
      path: ({ userHome }) => join(userHome, '.qwen', '.env'),
      format: 'dotenv',
      mayBeCreated: true,
      requiredChanges: (url) => ({
        changes: variables(['OPENAI_BASE_URL', `${url}/v1`]),
        remarks: [],
      }),
    },
    settings: (url) => [`OPENAI_BASE_URL=${url}/v1`],
    notes: [
      'It holds for a key (`--auth-type openai`); a login goes another way.',
      'A .env file in the folder where it is started is read in place of ~/.qwen/.env.',
    ],
  },
  opencode,
  {
    id: 'pi',
    name: 'pi',
    aliases: ['pi-coding-agent'],
    programs: ['pi'],
    traces: ['.pi'],
    file: {
      path: ({ env, userHome }) =>
        join(env['PI_CODING_AGENT_DIR'] || join(userHome, '.pi', 'agent'), 'models.json'),
      format: 'json',
      mayBeCreated: true,
      requiredChanges: (url) => ({ changes: piSettings(url), remarks: [] }),
    },
    settings: (url) => [
      '{ "providers": {',
      `    "anthropic": { "baseUrl": "${url}" },`,
      `    "openai": { "baseUrl": "${url}/v1" },`,
      `    "google": { "baseUrl": "${url}/v1beta" } } }`,
    ],
    notes: ['Its own models of these providers stay as they are; only the address changes.'],
    runAdditions: piRun,
  },
  {
    id: 'litellm',
    name: 'LiteLLM',
    aliases: [],
    programs: ['litellm'],
    traces: [],
    file: {
      format: 'yaml',
      mayBeCreated: false,
      requiredChanges: (url, text) =>
        modelChanges(text, {
          list: 'model_list',
          params: ['litellm_params'],
          providerOf: (model) => litellmProvider(model['model']),
          base: 'api_base',
          bases: { anthropic: url, openai: `${url}/v1` },
        }),
    },
    settings: (url) => [
      'model_list:',
      '  - model_name: …',
      '    litellm_params:',
      '      model: openai/…',
      `      api_base: ${url}/v1 # for anthropic/… without /v1`,
    ],
    notes: [
      'As a library: litellm.completion(…, api_base=…), or OPENAI_API_BASE and ANTHROPIC_API_BASE.',
    ],
  },
  {
    id: 'anthropic-sdk',
    name: 'Anthropic SDKs',
    aliases: ['anthropic'],
    programs: [],
    traces: [],
    file: {
      format: 'dotenv',
      mayBeCreated: true,
      requiredChanges: (url) => ({ changes: variables(['ANTHROPIC_BASE_URL', url]), remarks: [] }),
    },
    settings: (url) => [`export ANTHROPIC_BASE_URL=${url}`],
    notes: [
      'In code: new Anthropic({ baseURL }) or Anthropic(base_url=…).',
      'For one program: `svc run -- <program>`.',
    ],
  },
  {
    id: 'openai-sdk',
    name: 'OpenAI SDKs',
    aliases: ['openai'],
    programs: [],
    traces: [],
    file: {
      format: 'dotenv',
      mayBeCreated: true,
      requiredChanges: (url) => ({
        changes: variables(['OPENAI_BASE_URL', `${url}/v1`]),
        remarks: [],
      }),
    },
    settings: (url) => [`export OPENAI_BASE_URL=${url}/v1`],
    notes: [
      'In code: new OpenAI({ baseURL }) or OpenAI(base_url=…).',
      'For one program: `svc run -- <program>`.',
    ],
  },
];

/**
 * Returns the client with this name.
 *
 * @throws SvcError `not_found`, with the nearest name.
 */
export function clientNamed(name: string): Client {
  const wanted = name.toLowerCase();
  const found = clients.find(({ id, aliases }) => id === wanted || aliases.includes(wanted));
  if (found !== undefined) return found;
  const names = clients.flatMap(({ id, aliases }) => [id, ...aliases]);
  throw new SvcError('not_found', `svc knows no client '${name}'${didYouMean(wanted, names)}`, {
    cure: `It knows ${clients.map(({ id }) => id).join(', ')}.`,
  });
}

/** Returns the client of an id in the list of changes; undefined if unknown. */
export function clientOf(id: string, home: string): Client | undefined {
  const forwarded = forwardedId(id);
  if (forwarded !== undefined) {
    const client = clients.find((one) => one.id === forwarded);
    return client && withForward(client, { home });
  }
  if (id === STATUSLINE_ID) return withStatusline(clientNamed('claude-code'), 'svc statusline');
  return clients.find((client) => client.id === id);
}

function litellmProvider(model: unknown): string | undefined {
  if (typeof model !== 'string') return undefined;
  const [prefix, rest] = model.split('/', 2);
  if (rest !== undefined) return prefix;
  // LiteLLM infers the provider of a model without a prefix from its name.
  if (model.startsWith('claude-')) return 'anthropic';
  return /^(?:gpt-|o\d)/.test(model) ? 'openai' : undefined;
}
