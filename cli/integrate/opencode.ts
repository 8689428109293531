/**
 * opencode: sets a base URL for each of its providers that svc supports and the user has a key for.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../stages/dialect/json-kind.ts';
import type { Change, Client, ClientSurroundings, RequiredChanges } from './client.ts';
import { jsonc } from './jsonc.ts';
import { readSettingsFile, textOf } from './settings-file.ts';

/**
 * The path that its client for each provider expects in the base URL, and the variable of its key.
 */
const PROVIDERS: Readonly<Record<string, { readonly path: string; readonly key: string }>> = {
  anthropic: { path: '/v1', key: 'ANTHROPIC_API_KEY' },
  openai: { path: '/v1', key: 'OPENAI_API_KEY' },
  google: { path: '/v1beta', key: 'GOOGLE_GENERATIVE_AI_API_KEY' },
};

const baseUrl = (provider: string, url: string): Change => ({
  path: ['provider', provider, 'options', 'baseURL'],
  value: `${url}${PROVIDERS[provider]?.path ?? ''}`,
});

export const opencode: Client = {
  id: 'opencode',
  name: 'opencode',
  aliases: ['open-code'],
  programs: ['opencode'],
  traces: ['.config/opencode', '.local/share/opencode'],
  file: {
    path: settingsFile,
    format: 'json',
    mayBeCreated: true,
    requiredChanges,
  },
  settings: (url) => [
    '{ "provider": {',
    ...Object.keys(PROVIDERS).map((provider, at, all) => {
      const options = JSON.stringify({ options: { baseURL: baseUrl(provider, url).value } });
      return `    "${provider}": ${options}${at < all.length - 1 ? ',' : ' } }'}`;
    }),
  ],
  notes: [
    'Only the providers that you have a key for: opencode lists the models of every provider in its settings.',
    "A project's own opencode.json wins; name it with --file.",
  ],
  runAdditions: ({ url, where }) => ({
    env: {
      // Unlike other clients, opencode does not add the version to this variable's value.
      ANTHROPIC_BASE_URL: `${url}/v1`,
      [INLINE_SETTINGS]: inlineSettings(url, where),
    },
  }),
};

/** Settings that override every file. */
const INLINE_SETTINGS = 'OPENCODE_CONFIG_CONTENT';

/** Returns the addresses for the user's providers, merged over the variable's current value. */
function inlineSettings(url: string, where: ClientSurroundings): string {
  const { changes } = requiredChanges(url, textOf(readSettingsFile(settingsFile(where))), where);
  const before = where.env[INLINE_SETTINGS] || '{}';
  return changes.reduce(
    (text, { path, value }) => jsonc.put(text, path, JSON.stringify(value)),
    before,
  );
}

function settingsFile({ env, userHome }: ClientSurroundings): string {
  const folder = join(env['XDG_CONFIG_HOME'] || join(userHome, '.config'), 'opencode');
  const commented = join(folder, 'opencode.jsonc');
  return existsSync(commented) ? commented : join(folder, 'opencode.json');
}

/**
 * Returns the providers that the file names, that have a key in a variable, or that the user has
 * logged in to.
 */
function requiredChanges(url: string, text: string, where: ClientSurroundings): RequiredChanges {
  const loggedIn = logins(where);
  const used = Object.entries(PROVIDERS).filter(
    ([provider, { key }]) =>
      jsonc.has(text, ['provider', provider]) ||
      Boolean(where.env[key]) ||
      loggedIn.includes(provider),
  );
  return {
    changes: used.map(([provider]) => baseUrl(provider, url)),
    remarks:
      used.length > 0
        ? []
        : [
            `opencode has no key yet for ${Object.keys(PROVIDERS).join(', ')}: \`opencode auth login\` first.`,
          ],
  };
}

function logins({ env, userHome }: ClientSurroundings): readonly string[] {
  const data = env['XDG_DATA_HOME'] || join(userHome, '.local/share');
  try {
    const kept: unknown = JSON.parse(readFileSync(join(data, 'opencode', 'auth.json'), 'utf8'));
    return isObject(kept) ? Object.keys(kept) : [];
  } catch {
    // There is no login, or svc may not read it.
    return [];
  }
}
