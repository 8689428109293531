/** `svc integrate` as used by people: on files in a home folder, applied and undone. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse as parseYaml } from 'yaml';
import { exitCodes } from '../exit.ts';
import { inPlace, run, write } from '../../fixtures/cli/run.ts';

const URL_OF_DEFAULTS = 'http://127.0.0.1:8766';

interface Sample {
  readonly client: string;
  readonly name: string;
  readonly text: string;
  readonly holds: (text: string) => boolean;
}

const SAMPLES: readonly Sample[] = [
  {
    client: 'claude-code',
    name: '.claude/settings.json',
    text: '{\n    "permissions": {"allow": ["Bash(ls:*)"]},\n    "env": {"A": "1"}\n}',
    holds: (text) => JSON.parse(text).env.ANTHROPIC_BASE_URL === URL_OF_DEFAULTS,
  },
  {
    client: 'codex',
    name: '.codex/config.toml',
    text: '# my models\nmodel = "gpt-5" # the best\n\n[projects."/home/me"]\ntrust_level = "trusted"\n',
    holds(text) {
      const { model_provider: provider, model_providers: all } = JSON.parse(
        JSON.stringify(parseToml(text)),
      );
      return (
        provider === 'svc' &&
        all.svc.base_url === `${URL_OF_DEFAULTS}/v1` &&
        all.svc.wire_api === 'responses' &&
        all.svc.supports_websockets === false
      );
    },
  },
  {
    client: 'zed',
    name: '.config/zed/settings.json',
    text: '// Zed settings\n{\n  "theme": "One Dark", // dark\n  "language_models": {\n    "anthropic": { "api_url": "https://api.anthropic.com" },\n  },\n}\n',
    holds: (text) =>
      text.includes(`"anthropic": { "api_url": "${URL_OF_DEFAULTS}" }`) && text.includes('// dark'),
  },
  {
    client: 'aider',
    name: '.aider.conf.yml',
    text: '# aider\nmodel: openai/gpt-5\n',
    holds: (text) => parseYaml(text)['openai-api-base'] === `${URL_OF_DEFAULTS}/v1`,
  },
  {
    client: 'continue',
    name: '.continue/config.yaml',
    text: 'name: me\nmodels:\n  - name: Claude\n    provider: anthropic\n    model: claude-x\n  - name: Local\n    provider: ollama\n    model: y\n',
    holds(text) {
      const [claude, local] = parseYaml(text).models;
      return claude.apiBase === `${URL_OF_DEFAULTS}/v1/` && local.apiBase === undefined;
    },
  },
  {
    client: 'gemini-cli',
    name: '.gemini/.env',
    text: 'GEMINI_API_KEY=secret\n',
    holds: (text) => text.includes(`\nGOOGLE_GEMINI_BASE_URL=${URL_OF_DEFAULTS}\n`),
  },
  {
    client: 'qwen-code',
    name: '.qwen/.env',
    text: 'OPENAI_API_KEY=secret\n',
    holds: (text) => text.includes(`\nOPENAI_BASE_URL=${URL_OF_DEFAULTS}/v1\n`),
  },
  {
    client: 'opencode',
    name: '.config/opencode/opencode.jsonc',
    text: '{\n  // mine\n  "provider": {\n    "openai": { "models": {} },\n    "local": { "options": { "baseURL": "http://127.0.0.1:1/v1" } },\n  },\n}\n',
    holds: (text) =>
      text.includes(`"baseURL": "${URL_OF_DEFAULTS}/v1"`) &&
      text.includes('"http://127.0.0.1:1/v1"') &&
      text.includes('// mine') &&
      !text.includes('anthropic'),
  },
  {
    client: 'pi',
    name: '.pi/agent/models.json',
    text: '{ "providers": { "ollama": { "baseUrl": "http://127.0.0.1:1/v1" } } }\n',
    holds(text) {
      const { providers } = JSON.parse(text);
      const bases = ['anthropic', 'openai', 'google', 'ollama'].map(
        (name) => providers[name].baseUrl,
      );
      const [url, other] = [URL_OF_DEFAULTS, 'http://127.0.0.1:1/v1'];
      return bases.join() === [url, `${url}/v1`, `${url}/v1beta`, other].join();
    },
  },
];

for (const { client, name, text, holds } of SAMPLES) {
  test(`${client}: applied, applied again, and undone to the original bytes`, () =>
    inPlace(async (place) => {
      const path = write(place, name, text, 0o640);
      const applied = await run(place, ['integrate', client, '--apply', '--json']);
      assert.is(applied.code, 0, applied.stderr);
      const { outcome, backup } = JSON.parse(applied.stdout) as { outcome: string; backup: string };
      assert.is(outcome, 'applied');
      const after = fs.readFileSync(path, 'utf8');
      assert.ok(holds(after), after);
      assert.is(fs.statSync(path).mode & 0o777, 0o640);
      assert.is(fs.readFileSync(backup, 'utf8'), text);
      assert.is(fs.statSync(backup).mode & 0o777, 0o600);

      const again = await run(place, ['integrate', client, '--apply', '--json']);
      assert.is(JSON.parse(again.stdout).outcome, 'unchanged');
      const list = JSON.parse((await run(place, ['integrate', '--json'])).stdout) as {
        clients: readonly { client: string; through_svc: string; applied: boolean }[];
      };
      const row = list.clients.find((one) => one.client === client);
      assert.equal([row?.through_svc, row?.applied], ['yes', true]);

      // With another port, undoing still restores the first file.
      await run(place, ['integrate', client, '--apply'], {
        env: { ...place.env, SVC_PORT: '9123' },
      });
      assert.match(fs.readFileSync(path, 'utf8'), /127\.0\.0\.1:9123/);
      assert.not.match(fs.readFileSync(path, 'utf8'), /:8766/);

      const undone = await run(place, ['integrate', client, '--undo']);
      assert.is(undone.code, 0, undone.stderr);
      assert.is(fs.readFileSync(path, 'utf8'), text);
      assert.is(fs.statSync(path).mode & 0o777, 0o640);
      assert.equal(fs.readdirSync(place.home), []);
    }));
}

test('undo removes only what svc wrote from a file that was changed since, and keeps the changes', () =>
  inPlace(async (place) => {
    const path = write(place, '.codex/config.toml', 'model = "gpt-5"\nmodel_provider = ""\n');
    await run(place, ['integrate', 'codex', '--apply']);
    const edited = fs
      .readFileSync(path, 'utf8')
      .replace('gpt-5', 'gpt-6')
      .replace('"responses"', '"chat"');
    fs.writeFileSync(path, edited);
    const undone = await run(place, ['integrate', 'codex', '--undo', '--json']);
    const [{ outcome, kept }] = JSON.parse(undone.stdout).undone;
    assert.equal([outcome, kept], ['keys', ['model_providers.svc.wire_api']]);
    assert.equal(JSON.parse(JSON.stringify(parseToml(fs.readFileSync(path, 'utf8')))), {
      model: 'gpt-6',
      model_provider: '',
      model_providers: { svc: { wire_api: 'chat' } },
    });
  }));

test('a file that svc created is removed with its folder; an empty one is empty again', () =>
  inPlace(async (place) => {
    const made = await run(place, ['integrate', 'claude', '--apply']);
    assert.is(made.code, 0, made.stderr);
    const path = join(place.folder, '.claude/settings.json');
    assert.is(fs.statSync(path).mode & 0o777, 0o600);
    await run(place, ['integrate', '--undo']);
    assert.not.ok(fs.existsSync(dirname(path)));

    write(place, '.claude/settings.json', '');
    await run(place, ['integrate', 'claude', '--apply']);
    await run(place, ['integrate', '--undo']);
    assert.is(fs.readFileSync(path, 'utf8'), '');
  }));

test('undo in any order leaves nothing of a file that svc created, even if it was rewritten', () =>
  inPlace(async (place) => {
    const path = join(place.folder, '.claude/settings.json');
    const statusline = ['integrate', 'claude', '--statusline'];
    const both = [['integrate', 'claude'], statusline];
    for (const order of [both, both.toReversed()]) {
      for (const argv of both)
        assert.is((await run(place, [...argv, '--apply'])).code, 0, argv.join(' '));
      for (const argv of order) await run(place, [...argv, '--undo']);
      assert.not.ok(fs.existsSync(dirname(path)), order.join(' then '));
    }
    await run(place, ['integrate', 'claude', '--apply']);
    fs.writeFileSync(path, JSON.stringify(JSON.parse(fs.readFileSync(path, 'utf8'))));
    await run(place, ['integrate', 'claude', '--undo']);
    assert.not.ok(fs.existsSync(dirname(path)));
    // Later additions by others stay.
    for (const argv of both) await run(place, [...argv, '--apply']);
    const now = JSON.parse(fs.readFileSync(path, 'utf8'));
    fs.writeFileSync(path, JSON.stringify({ ...now, theme: 'dark' }));
    for (const argv of both) await run(place, [...argv, '--undo']);
    assert.equal(JSON.parse(fs.readFileSync(path, 'utf8')), { theme: 'dark' });
  }));

test('a link to a file elsewhere stays a link', () =>
  inPlace(async (place) => {
    const target = write(place, 'dotfiles/claude.json', '{}\n');
    fs.mkdirSync(join(place.folder, '.claude'));
    const link = join(place.folder, '.claude/settings.json');
    fs.symlinkSync(target, link);
    await run(place, ['integrate', 'claude', '--apply']);
    assert.ok(fs.lstatSync(link).isSymbolicLink());
    assert.match(fs.readFileSync(target, 'utf8'), /8766/);
    await run(place, ['integrate', 'claude', '--undo']);
    assert.is(fs.readFileSync(target, 'utf8'), '{}\n');
  }));

test('the address of another program is replaced only on request', () =>
  inPlace(async (place) => {
    const text = '{ "env": { "ANTHROPIC_BASE_URL": "https://gateway.example.com" } }\n';
    const path = write(place, '.claude/settings.json', text);
    const refused = await run(place, ['integrate', 'claude', '--apply']);
    assert.is(refused.code, exitCodes.conflict);
    assert.match(refused.stderr, /gateway\.example\.com/);
    assert.is(fs.readFileSync(path, 'utf8'), text);
    assert.not.ok(fs.existsSync(join(place.home, 'integrations.json')));
    assert.is((await run(place, ['integrate', 'claude', '--apply', '--force'])).code, 0);
    await run(place, ['integrate', 'claude', '--undo']);
    assert.is(fs.readFileSync(path, 'utf8'), text);
  }));

test('models with their own addresses are left unchanged and reported', () =>
  inPlace(async (place) => {
    const text =
      'model_list:\n  - model_name: a\n    litellm_params:\n      model: openai/gpt-5\n      api_base: http://127.0.0.1:11434/v1\n  - model_name: b\n    litellm_params: {model: anthropic/claude-x}\n';
    const path = write(place, 'litellm.yaml', text);
    const applied = await run(place, ['integrate', 'litellm', '--apply', '--file', 'litellm.yaml']);
    assert.is(applied.code, 0, applied.stderr);
    assert.match(applied.stderr, /model_list\[0\].*11434/);
    const [first, second] = parseYaml(fs.readFileSync(path, 'utf8')).model_list;
    assert.is(first.litellm_params.api_base, 'http://127.0.0.1:11434/v1');
    assert.is(second.litellm_params.api_base, URL_OF_DEFAULTS);
    await run(place, ['integrate', '--undo']);
    assert.is(fs.readFileSync(path, 'utf8'), text);
  }));

test('an impossible change is refused with its cause and a remedy, and changes nothing', () =>
  inPlace(async (place) => {
    const path = write(place, '.claude/settings.json', '{ "env": \n');
    const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['claude', '--apply'], exitCodes.config, /settings\.json: it is not JSON/],
      [['cursor', '--apply'], exitCodes.usage, /no settings file.*\n.*svc integrate cursor/],
      [['litellm', '--apply'], exitCodes.usage, /--file/],
      [['continue', '--apply'], exitCodes.not_found, /config\.yaml/],
      [['--apply'], exitCodes.usage, /needs a client/],
      [['codx'], exitCodes.not_found, /did you mean codex/],
      [['claude', '--apply', '--undo'], exitCodes.usage, /exclude/],
    ];
    for (const [argv, code, message] of refusals) {
      const refused = await run(place, ['integrate', ...argv]);
      assert.is(refused.code, code, `${argv.join(' ')}: ${refused.stderr}`);
      assert.match(refused.stderr, message);
    }
    assert.is(fs.readFileSync(path, 'utf8'), '{ "env": \n');
    assert.not.ok(fs.existsSync(place.home));
  }));

test('opencode: only providers that have a key are changed', () =>
  inPlace(async (place) => {
    const path = join(place.folder, '.config/opencode/opencode.json');
    const without = await run(place, ['integrate', 'opencode', '--apply']);
    assert.is(without.code, exitCodes.not_found);
    assert.match(without.stderr, /opencode auth login/);
    assert.not.ok(fs.existsSync(path));
    write(place, '.local/share/opencode/auth.json', '{"anthropic":{"type":"api","key":"x"}}');
    const env = { ...place.env, GOOGLE_GENERATIVE_AI_API_KEY: 'x' };
    const applied = await run(place, ['integrate', 'opencode', '--apply'], { env });
    assert.is(applied.code, 0, applied.stderr);
    assert.equal(JSON.parse(fs.readFileSync(path, 'utf8')).provider, {
      anthropic: { options: { baseURL: `${URL_OF_DEFAULTS}/v1` } },
      google: { options: { baseURL: `${URL_OF_DEFAULTS}/v1beta` } },
    });
  }));

test('for every client it shows what to set for the address of this proxy', () =>
  inPlace(async (place) => {
    const env = { ...place.env, SVC_PORT: '9345' };
    const { stdout } = await run(place, ['integrate', '--json'], { env });
    const { clients } = JSON.parse(stdout) as { clients: readonly { client: string }[] };
    assert.is(clients.length, 14);
    for (const { client } of clients) {
      const printed = await run(place, ['integrate', client], { env });
      assert.is(printed.code, 0);
      assert.match(printed.stdout, client === 'cursor' ? /public host/ : /127\.0\.0\.1:9345/);
    }
  }));

test('the statusline of Claude Code is written and undone separately from the address', () =>
  inPlace(async (place) => {
    const text = '{\n  "env": {"A": "1"}\n}\n';
    const path = write(place, '.claude/settings.json', text);
    const claude = ['integrate', 'claude-code'];
    await run(place, [...claude, '--apply']);
    const pointed = fs.readFileSync(path, 'utf8');
    const shown = await run(place, [...claude, '--statusline']);
    const applied = await run(place, [...claude, '--statusline', '--apply']);
    assert.is(applied.code, 0, applied.stderr);
    const { statusLine, env } = JSON.parse(fs.readFileSync(path, 'utf8'));
    assert.equal(JSON.parse(shown.stdout), { statusLine });
    assert.is(env.ANTHROPIC_BASE_URL, URL_OF_DEFAULTS);
    // Run in a shell, as by Claude Code.
    const options = {
      input: '{"model":{"id":"m"}}',
      encoding: 'utf8',
      env: { PATH: place.env['PATH'] },
    } as const;
    const ran = spawnSync('sh', ['-c', statusLine.command], options);
    assert.match(ran.stdout, /^\S*m\S* .*svc off/, ran.stderr);
    const undone = await run(place, [...claude, '--statusline', '--undo']);
    assert.is(undone.code, 0, undone.stderr);
    assert.is(fs.readFileSync(path, 'utf8'), pointed);

    await run(place, [...claude, '--statusline', '--apply']);
    const all = await run(place, [...claude, '--undo']);
    assert.is(all.code, 0, all.stderr);
    assert.equal(JSON.parse(fs.readFileSync(path, 'utf8')), JSON.parse(text));
    assert.is((await run(place, ['integrate', 'codex', '--statusline'])).code, exitCodes.usage);
  }));

test('the statusline of the user is replaced only on request, and undo restores it', () =>
  inPlace(async (place) => {
    const text = '{"statusLine": {"type": "command", "command": "mine.sh", "padding": 0}}';
    const path = write(place, '.claude/settings.json', text);
    const apply = ['integrate', 'claude-code', '--statusline', '--apply'];
    const refused = await run(place, apply);
    assert.is(refused.code, exitCodes.conflict);
    assert.match(refused.stderr, 'mine.sh');
    assert.is((await run(place, [...apply, '--force'])).code, 0);
    assert.match(fs.readFileSync(path, 'utf8'), /statusline\/start\.cjs'"/);
    await run(place, ['integrate', '--undo']);
    assert.is(fs.readFileSync(path, 'utf8'), text);
  }));

test.run();
