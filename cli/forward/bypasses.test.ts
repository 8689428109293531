/** Settings by which a client bypasses forward mode although it was started with it. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPlace, write } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import { bypassesOf } from './bypasses.ts';

const url = 'http://127.0.0.1:8765';
const hosts = ['api.anthropic.com', 'api.openai.com', 'generativelanguage.googleapis.com'];

function remarksFor(
  { folder, home }: Pick<Place, 'folder' | 'home'>,
  program: string,
  env: Readonly<Record<string, string>> = {},
): readonly string[] {
  const where = { env, userHome: folder, cwd: join(folder, 'work', 'here') };
  return bypassesOf(program, where, { home, url, hosts });
}

const nowhere = { folder: '/nowhere', home: '/nowhere/home' };

test('a base URL with another host is named, without its other parts', () => {
  const env = {
    ANTHROPIC_BASE_URL: 'https://user:secret@gateway.example:8443/anthropic?key=secret',
    OPENAI_BASE_URL: 'https://api.openai.com/v1',
    OPENAI_API_BASE: `${url}/v1`,
    GOOGLE_GEMINI_BASE_URL: 'no address',
  };
  assert.equal(remarksFor(nowhere, 'agent', env), [
    'ANTHROPIC_BASE_URL points to gateway.example:8443: requests to it bypass svc',
  ]);
  assert.equal(remarksFor(nowhere, 'agent'), []);
});

test('a client whose usual host is not intercepted is reported, unless it is redirected', () => {
  const intercepted = ['llm.example', 'generativelanguage.googleapis.com'];
  const bypasses = (program: string, env: Readonly<Record<string, string>> = {}): string =>
    bypassesOf(
      program,
      { env, userHome: '/nowhere', cwd: '/nowhere' },
      { home: '/nowhere/home', url, hosts: intercepted },
    ).join('\n');
  assert.match(bypasses('claude'), 'api.anthropic.com, which claude asks, is not intercepted');
  assert.match(bypasses('claude'), 'svc run claude');
  assert.match(bypasses('codex'), 'api.openai.com');
  assert.is(bypasses('gemini'), '');
  assert.is(bypasses('agent'), '');
  assert.is(bypasses('claude', { ANTHROPIC_BASE_URL: 'https://llm.example' }), '');
  assert.match(bypasses('claude', { OPENAI_BASE_URL: 'https://llm.example' }), 'api.anthropic.com');
  // `svc run` takes its own address out of the environment.
  assert.match(bypasses('claude', { ANTHROPIC_BASE_URL: url }), 'api.anthropic.com');
  // Another cloud or host is reported once.
  assert.not.match(bypasses('claude', { CLAUDE_CODE_USE_BEDROCK: '1' }), 'api.anthropic.com');
  assert.not.match(
    bypasses('claude', { ANTHROPIC_BASE_URL: 'https://a.example' }),
    'api.anthropic',
  );
});

test('Codex with a ChatGPT login uses another host of its vendor', () => {
  const where = { env: {}, userHome: '/nowhere', cwd: '/nowhere' };
  assert.equal(
    bypassesOf('codex', where, { home: '/nowhere/home', url, hosts: ['chatgpt.com'] }),
    [],
  );
});

test('hosts in NO_PROXY are recognised, and so is a cloud that is used in their place', () => {
  assert.equal(remarksFor(nowhere, 'claude', { NO_PROXY: 'localhost,.openai.com' }), [
    'NO_PROXY names api.openai.com, so its requests bypass svc',
  ]);
  assert.equal(remarksFor(nowhere, 'claude', { NO_PROXY: 'localhost' }), []);
  assert.match(
    remarksFor(nowhere, 'claude', { CLAUDE_CODE_USE_BEDROCK: '1' }).join(),
    'Amazon Bedrock',
  );
  assert.equal(remarksFor(nowhere, 'claude', { CLAUDE_CODE_USE_BEDROCK: '0' }), []);
});

test('settings files of Claude Code are taken into account, the nearest first', () =>
  inPlace(async (place) => {
    const settings = (name: string, env: object) =>
      write(place, name, `// mine\n${JSON.stringify({ env })}`);
    settings('.claude/settings.json', {
      ANTHROPIC_BASE_URL: 'https://far.example',
      https_proxy: 'http://user:secret@proxy.example:3128',
      NO_PROXY: 'api.anthropic.com',
      NODE_EXTRA_CA_CERTS: '/etc/company.pem',
    });
    settings('work/here/.claude/settings.json', { ANTHROPIC_BASE_URL: 'https://near.example/x' });
    assert.equal(remarksFor(place, 'claude'), [
      'ANTHROPIC_BASE_URL in ~/work/here/.claude/settings.json points to near.example: requests to it bypass svc',
      'https_proxy in ~/.claude/settings.json points to proxy.example:3128 instead of svc: its requests bypass svc. Remove it there, and start svc with it as its own HTTPS_PROXY',
      'NO_PROXY in ~/.claude/settings.json names api.anthropic.com, so its requests bypass svc',
      "NODE_EXTRA_CA_CERTS in ~/.claude/settings.json may take the place of the list that svc gives it; if it then refuses svc's certificate, add ~/home/forward/ca.pem to that list",
    ]);
    settings('work/here/.claude/settings.local.json', {
      ANTHROPIC_BASE_URL: 'https://api.anthropic.com',
    });
    assert.not.match(remarksFor(place, 'claude').join(), 'ANTHROPIC_BASE_URL');
    // Other programs do not read these files.
    assert.equal(remarksFor(place, 'codex'), []);
  }));

test('the settings that svc wrote do not bypass it, but its base URL does', () =>
  inPlace(async (place) => {
    const env = {
      HTTPS_PROXY: 'http://svc:token@127.0.0.1:8765',
      NODE_EXTRA_CA_CERTS: join(place.home, 'forward', 'ca.pem'),
      NO_PROXY: 'localhost,127.0.0.1,::1',
    };
    write(place, '.claude/settings.json', JSON.stringify({ env }));
    assert.equal(remarksFor(place, 'claude'), []);
    write(
      place,
      '.claude/settings.json',
      JSON.stringify({ env: { ...env, ANTHROPIC_BASE_URL: url } }),
    );
    assert.match(
      remarksFor(place, 'claude').join('\n'),
      /^ANTHROPIC_BASE_URL in .* not in forward mode$/,
    );
  }));

test('reads the provider of Codex, also from a profile and its .env', () =>
  inPlace(async (place) => {
    const config = (head: string) =>
      write(
        place,
        '.codex/config.toml',
        `${head}\n[model_providers.mine]\nbase_url = "https://mine.example/v1"\n[profiles.p]\nmodel_provider = 'mine'\n`,
      );
    config('');
    assert.equal(remarksFor(place, 'codex'), []);
    const bypasses =
      'model_providers.mine.base_url in ~/.codex/config.toml points to mine.example: requests to it bypass svc';
    for (const head of ['model_provider = "mine"', 'profile = "p"']) {
      config(head);
      assert.equal(remarksFor(place, 'codex'), [bypasses], head);
    }
    config('openai_base_url = "https://eu.example/v1"');
    write(place, '.codex/.env', 'https_proxy=proxy.example:3128\nSSL_CERT_FILE=/etc/company.pem\n');
    const [proxy = '', list = '', base = '', ...rest] = remarksFor(place, 'codex');
    assert.match(proxy, 'https_proxy in ~/.codex/.env points to proxy.example:3128');
    assert.match(list, 'SSL_CERT_FILE in ~/.codex/.env may take the place');
    assert.match(base, 'openai_base_url in ~/.codex/config.toml points to eu.example');
    assert.equal(rest, []);
  }));

test('Gemini CLI reads the nearest .env for variables that are not set', () =>
  inPlace(async (place) => {
    write(place, '.gemini/.env', 'GOOGLE_GEMINI_BASE_URL=https://far.example\n');
    assert.match(remarksFor(place, 'gemini').join(), 'in ~/.gemini/.env points to far.example');
    assert.equal(
      remarksFor(place, 'gemini', { GOOGLE_GEMINI_BASE_URL: 'https://api.openai.com' }),
      [],
      'set in the shell',
    );
    write(place, 'work/.env', 'export GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:4000"\n');
    assert.equal(remarksFor(place, 'gemini'), [
      'GOOGLE_GEMINI_BASE_URL in ~/work/.env points to 127.0.0.1:4000: requests to it bypass svc',
    ]);
  }));

test('the login method of Gemini CLI comes from the project settings, else from the user settings', () =>
  inPlace(async (place) => {
    const login = (name: string, selectedType: string) =>
      write(place, name, `{ // mine\n "security": {"auth": {"selectedType": "${selectedType}"}} }`);
    login('.gemini/settings.json', 'oauth-personal');
    assert.match(
      remarksFor(place, 'gemini').join(),
      "security.auth.selectedType in ~/.gemini/settings.json makes it ask Google's Code Assist",
    );
    login('work/here/.gemini/settings.json', 'gemini-api-key');
    assert.equal(remarksFor(place, 'gemini'), []);
    login('work/here/.gemini/settings.json', 'vertex-ai');
    assert.match(remarksFor(place, 'gemini').join(), 'Google Vertex AI');
    // Qwen Code has files of its own.
    assert.equal(remarksFor(place, 'qwen'), []);
  }));

test('reads the providers of opencode, pi and Aider that have their own address', () =>
  inPlace(async (place) => {
    const at = (baseURL: string) => JSON.stringify({ provider: { a: { options: { baseURL } } } });
    write(place, '.config/opencode/opencode.jsonc', at('https://far.example/v1'));
    write(place, 'work/opencode.json', at('https://near.example/v1'));
    assert.match(
      remarksFor(place, 'opencode').join('\n'),
      /^provider\.a in ~\/work\S+ points to near\.example/,
    );
    assert.is(remarksFor(place, 'opencode').length, 1);
    const inline = { OPENCODE_CONFIG_CONTENT: at('https://api.openai.com/v1') };
    assert.equal(remarksFor(place, 'opencode', inline), []);
    const providers = { providers: { x: { baseUrl: 'https://x.example' } } };
    write(place, '.pi/agent/models.json', JSON.stringify(providers));
    assert.match(
      remarksFor(place, 'pi').join(),
      'providers.x in ~/.pi/agent/models.json points to x.example',
    );
    write(place, '.aider.conf.yml', 'openai-api-base: https://y.example/v1\n');
    assert.match(remarksFor(place, 'aider').join(), 'points to y.example');
  }));

test('a file that is not a settings file is ignored', () =>
  inPlace(async (place) => {
    write(place, '.claude/settings.json', '{"env": [');
    write(place, '.codex/config.toml', '= = =');
    write(place, '.config/opencode/opencode.json', '{"provider": {"a": 1, "b": {"options": []}}}');
    for (const program of ['claude', 'codex', 'opencode', 'pi', 'gemini', 'aider', 'sh'])
      assert.equal(remarksFor(place, program), [], program);
  }));

test.run();
