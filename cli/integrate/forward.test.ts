/**
 * `svc integrate --forward`: a token is valid exactly as long as the client's settings contain it.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPlace, run, write } from '../../fixtures/cli/run.ts';
import { exitCodes } from '../exit.ts';

const claude = ['integrate', 'claude-code', '--forward'];
const BEFORE = '{\n    "permissions": {"allow": ["Bash(ls:*)"]},\n    "env": {"A": "1"}\n}';

const read = (path: string): string => fs.readFileSync(path, 'utf8');
const tokensOf = (home: string): readonly { label: string; expires?: string }[] =>
  JSON.parse(read(join(home, 'forward', 'tokens.json'))).keys;

test('Claude Code gets a private proxy address with its own token, which undo revokes', () =>
  inPlace(async (place) => {
    const path = write(place, '.claude/settings.json', BEFORE);
    fs.chmodSync(path, 0o644);
    const applied = await run(place, [...claude, '--apply']);
    assert.is(applied.code, 0, applied.stderr);
    const { env } = JSON.parse(read(path));
    const token = /^http:\/\/svc:([^@]+)@127\.0\.0\.1:\d+$/.exec(env.HTTPS_PROXY)?.[1] ?? '';
    assert.ok(token.length >= 32);
    assert.is(env.NODE_EXTRA_CA_CERTS, join(place.home, 'forward', 'ca.pem'));
    assert.match(env.NO_PROXY, 'localhost');
    assert.is(env.A, '1');
    assert.is(env.ANTHROPIC_BASE_URL, undefined);
    assert.is(fs.statSync(path).mode & 0o777, 0o600);
    assert.not.ok(`${applied.stdout}${applied.stderr}`.includes(token), 'the token is not printed');
    const [stored, ...others] = tokensOf(place.home);
    assert.equal(
      [stored?.label, stored?.expires, others],
      ['integrate claude-code', undefined, []],
    );
    assert.not.ok(read(join(place.home, 'forward', 'tokens.json')).includes(token));

    const again = await run(place, [...claude, '--apply']);
    assert.match(again.stdout, 'already');
    const beside = await run(place, ['integrate', 'claude-code', '--apply']);
    assert.is(beside.code, exitCodes.conflict);
    assert.match(beside.stderr, '--forward --undo');
    assert.is(JSON.parse(read(path)).env.HTTPS_PROXY, env.HTTPS_PROXY);
    const listed = await run(place, ['integrate', '--json']);
    const one = JSON.parse(listed.stdout).clients.find(
      ({ client }: { client: string }) => client === 'claude-code',
    );
    assert.equal([one.through_svc, one.forward], ['yes', true]);

    const undone = await run(place, [...claude, '--undo']);
    assert.is(undone.code, 0, undone.stderr);
    assert.is(read(path), BEFORE);
    assert.is(fs.statSync(path).mode & 0o777, 0o644);
    assert.equal(tokensOf(place.home), []);
    assert.not.ok(fs.existsSync(join(place.home, 'integrations.json')));
  }));

test('Codex reads the proxy from its .env, with a certificate list that includes the system list', () =>
  inPlace(async (place) => {
    await run(place, ['integrate', 'codex', '--forward', '--apply']);
    const text = read(join(place.folder, '.codex', '.env'));
    assert.match(text, /^HTTPS_PROXY=http:\/\/svc:[^@\n]+@127\.0\.0\.1:\d+$/m);
    const bundle = /^SSL_CERT_FILE=(.*)$/m.exec(text)?.[1] ?? '';
    const authority = read(join(place.home, 'forward', 'ca.pem'));
    assert.ok(read(bundle).includes(authority.trim()));
    assert.ok(read(bundle).length > 10 * authority.length);
    // Later additions of the user stay.
    fs.appendFileSync(join(place.folder, '.codex', '.env'), 'MINE=1\n');
    await run(place, ['integrate', 'codex', '--undo']);
    assert.is(read(join(place.folder, '.codex', '.env')), 'MINE=1\n');
    assert.equal(tokensOf(place.home), []);
  }));

test('base URL and forward mode exclude each other, and a failed write leaves no token', () =>
  inPlace(async (place) => {
    const path = write(place, '.claude/settings.json', BEFORE);
    await run(place, ['integrate', 'claude-code', '--apply']);
    const refused = await run(place, [...claude, '--apply']);
    assert.is(refused.code, exitCodes.conflict);
    assert.match(refused.stderr, 'integrate claude-code --undo');
    await run(place, ['integrate', 'claude-code', '--undo']);
    const theirs = BEFORE.replace('"A": "1"', '"HTTPS_PROXY": "http://proxy.example:3128"');
    fs.writeFileSync(path, theirs);
    const taken = await run(place, [...claude, '--apply']);
    assert.is(taken.code, exitCodes.conflict);
    assert.match(taken.stderr, 'Start svc with HTTPS_PROXY set to that proxy');
    assert.is(read(path), theirs);
    assert.equal(tokensOf(place.home), []);
  }));

test('the preview contains no token, and clients without a settings file get a hint', () =>
  inPlace(async (place) => {
    const shown = await run(place, claude);
    assert.match(shown.stdout, 'http://svc:<token>@127.0.0.1');
    assert.not.ok(fs.existsSync(join(place.home, 'forward')));
    const gemini = await run(place, ['integrate', 'gemini-cli', '--forward', '--apply']);
    assert.is(gemini.code, exitCodes.usage);
    assert.match(gemini.stderr, 'svc run --forward gemini');
    assert.is((await run(place, ['integrate', '--forward'])).code, exitCodes.usage);
    assert.is((await run(place, [...claude, '--statusline'])).code, exitCodes.usage);
  }));

test('other settings that bypass forward mode are named, and a new authority is added to the list', () =>
  inPlace(async (place) => {
    const env = { ANTHROPIC_BASE_URL: 'https://gateway.example', https_proxy: 'http://old:1' };
    write(place, '.claude/settings.json', JSON.stringify({ env }));
    const { stderr } = await run(place, [...claude, '--apply']);
    assert.match(stderr, 'ANTHROPIC_BASE_URL is also set in the file');
    assert.match(stderr, 'https_proxy is also set in the file');
    const folder = join(place.home, 'forward');
    await run(place, ['ca', 'create', '--force']);
    assert.ok(read(join(folder, 'bundle.pem')).includes(read(join(folder, 'ca.pem')).trim()));
  }));

/** A certificate of the user's own, which svc must keep. */
const THEIRS = rootCertificates[0]!;

test('a certificate list in the settings stays trusted, with the authority added, until undone', () =>
  inPlace(async (place) => {
    const company = write(place, 'company.pem', `# ours\n${THEIRS}\n`);
    const before = JSON.stringify({ env: { NODE_EXTRA_CA_CERTS: company } });
    const path = write(place, '.claude/settings.json', before);
    const applied = await run(place, [...claude, '--apply']);
    assert.is(applied.code, 0, applied.stderr);
    assert.match(applied.stderr, 'stays trusted');
    const { NODE_EXTRA_CA_CERTS: list } = JSON.parse(read(path)).env;
    const authority = () => read(join(place.home, 'forward', 'ca.pem')).trim();
    assert.equal(certificates(list), [THEIRS, authority()]);
    assert.is(fs.statSync(list).mode & 0o777, 0o600);
    assert.match((await run(place, [...claude, '--apply'])).stdout, 'already');
    assert.match((await run(place, ['integrate'])).stdout, /claude-code .*forward mode/);

    const first = authority();
    await run(place, ['ca', 'create', '--force']);
    assert.is.not(authority(), first);
    assert.equal(certificates(list), [THEIRS, authority()]);
    // The present content of the user's list is copied at the next --apply.
    fs.writeFileSync(company, `${THEIRS}\n${rootCertificates[1]}\n`);
    await run(place, [...claude, '--apply']);
    assert.equal(certificates(list), [THEIRS, rootCertificates[1], authority()]);

    const undone = await run(place, [...claude, '--undo']);
    assert.is(undone.code, 0, undone.stderr);
    assert.is(read(path), before);
    assert.not.ok(fs.existsSync(list));
  }));

test('a list named in the shell is included too, and an unreadable one is reported', () =>
  inPlace(async (place) => {
    const company = write(place, 'company.pem', THEIRS);
    const path = join(place.folder, '.claude', 'settings.json');
    const env = { ...place.env, NODE_EXTRA_CA_CERTS: company };
    const applied = await run({ ...place, env }, [...claude, '--apply']);
    assert.is(applied.code, 0, applied.stderr);
    const list = JSON.parse(read(path)).env.NODE_EXTRA_CA_CERTS;
    assert.is(certificates(list).length, 2);
    await run(place, [...claude, '--undo']);
    assert.not.ok(fs.existsSync(path));
    fs.rmSync(company);
    const gone = await run({ ...place, env }, [...claude, '--apply']);
    assert.match(gone.stderr, 'is not a certificate list that svc can read');
  }));

test('the preview reports what --apply would refuse', () =>
  inPlace(async (place) => {
    const path = join(place.folder, '.claude', 'settings.json');
    write(place, '.claude/settings.json', BEFORE);
    assert.match((await run(place, claude)).stderr, '--apply` writes it');
    await run(place, ['integrate', 'claude-code', '--apply']);
    const beside = await run(place, claude);
    assert.match(
      beside.stderr,
      'would write nothing: Claude Code goes through svc by its base URL',
    );
    assert.match(beside.stderr, 'svc integrate claude-code --undo');
    await run(place, ['integrate', 'claude-code', '--undo']);
    fs.writeFileSync(path, '{"env":{"HTTPS_PROXY":"http://proxy.example:3128"}}');
    const taken = await run(place, claude);
    assert.match(taken.stderr, 'Start svc with HTTPS_PROXY set to that proxy');
    assert.is(
      JSON.parse((await run(place, [...claude, '--json'])).stdout).refused.length > 0,
      true,
    );
    assert.match((await run(place, [...claude, '--force'])).stderr, '--apply` writes it');
    fs.writeFileSync(path, '{"env":{"ANTHROPIC_BASE_URL":"https://gateway.example"}}');
    const other = await run(place, ['integrate', 'claude-code']);
    assert.match(other.stderr, 'would write nothing: ');
    assert.is(other.code, 0);
  }));

test('the preview shows exactly what --apply writes, except the token', () =>
  inPlace(async (place) => {
    const company = write(place, 'company.pem', THEIRS);
    const listed = { NODE_EXTRA_CA_CERTS: company };
    const variables = { NO_PROXY: 'intranet.example' };
    const path = join(place.folder, '.claude', 'settings.json');
    const cases = [
      [{}, {}],
      [listed, {}],
      [variables, listed],
    ] as const;
    for (const [inFile, inShell] of cases) {
      const here = { ...place, env: { ...place.env, ...inShell } };
      write(place, '.claude/settings.json', JSON.stringify({ env: inFile }));
      const before = await run(here, claude);
      const json = JSON.parse((await run(here, [...claude, '--json'])).stdout);
      assert.is((await run(here, [...claude, '--apply'])).code, 0);
      const { env } = JSON.parse(read(path));
      const after = await run(here, claude);
      await run(here, [...claude, '--undo']);
      const written = Object.entries(env).filter(
        ([name]) => !(name in variables && name in inFile),
      );
      for (const shown of [before.stdout, json.settings.join('\n'), after.stdout]) {
        const entries = Object.entries(JSON.parse(shown).env);
        assert.equal(
          new Map(entries.filter(([name]) => name !== 'HTTPS_PROXY')),
          new Map(written.filter(([name]) => name !== 'HTTPS_PROXY')),
        );
        assert.ok(entries.some(([name]) => name === 'HTTPS_PROXY'));
      }
    }
    fs.writeFileSync(path, '{"env": {');
    const unreadable = await run(place, claude);
    assert.match(unreadable.stdout, 'http://svc:<token>@');
    assert.match(unreadable.stderr, `would write nothing: ${path}: it is not JSON`);
    write(place, '.codex/.env', `SSL_CERT_FILE=${company}\n`);
    const codex = await run(place, ['integrate', 'codex', '--forward']);
    assert.match(codex.stdout, `SSL_CERT_FILE=${join(place.home, 'forward', 'codex.pem')}`);
  }));

test('a list in the .env of Codex stays trusted too, in place of the system list', () =>
  inPlace(async (place) => {
    const company = write(place, 'company.pem', THEIRS);
    const before = `SSL_CERT_FILE=${company}\n`;
    const path = write(place, '.codex/.env', before);
    const applied = await run(place, ['integrate', 'codex', '--forward', '--apply']);
    assert.is(applied.code, 0, applied.stderr);
    const list = /^SSL_CERT_FILE=(.*)$/m.exec(read(path))?.[1] ?? '';
    assert.equal(certificates(list).length, 2);
    assert.ok(certificates(list).includes(THEIRS));
    await run(place, ['integrate', 'codex', '--forward', '--undo']);
    assert.is(read(path), before);
  }));

test('project, administrator and shell settings that bypass forward mode are named', () =>
  inPlace(async (place) => {
    const project = { env: { ANTHROPIC_BASE_URL: 'https://u:secret@near.example/x' } };
    write(place, '.claude/settings.json', '{}');
    write(place, 'work/.claude/settings.json', JSON.stringify(project));
    const local = {
      env: { HTTPS_PROXY: 'http://proxy.example:3128', CLAUDE_CODE_USE_BEDROCK: '1' },
    };
    write(place, 'work/.claude/settings.local.json', JSON.stringify(local));
    const env = { ...place.env, OPENAI_BASE_URL: 'https://far.example/v1' };
    const { stderr, code } = await run({ ...place, env }, [...claude, '--apply'], {
      cwd: join(place.folder, 'work'),
    });
    assert.is(code, 0, stderr);
    assert.match(
      stderr,
      /ANTHROPIC_BASE_URL in ~\/work\/.claude\/settings.json points to near.example/,
    );
    assert.match(
      stderr,
      /HTTPS_PROXY in ~\/work\/.claude\/settings.local.json points to proxy.example/,
    );
    assert.match(stderr, /CLAUDE_CODE_USE_BEDROCK in .*settings.local.json makes it ask Amazon/);
    assert.match(stderr, 'OPENAI_BASE_URL points to far.example');
    assert.not.match(stderr, 'secret');
    assert.not.match(stderr, '~/.claude/settings.json leads');
  }));

const certificates = (path: string): readonly string[] =>
  read(path).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];

test('the address of a custom Codex provider is named when it is set', () =>
  inPlace(async (place) => {
    const config =
      'model_provider = "mine"\n[model_providers.mine]\nbase_url = "https://u:p@mine.example/v1"\n';
    write(place, '.codex/config.toml', config);
    const { stdout, stderr } = await run(place, ['integrate', 'codex', '--forward', '--apply']);
    assert.match(
      `${stdout}${stderr}`,
      /model_providers\.mine\.base_url in \S+ points to mine\.example/,
    );
    assert.not.match(`${stdout}${stderr}`, 'u:p');
  }));

test('names providers whose hosts are not intercepted, and an authority made before a host was added', () =>
  inPlace(async (place) => {
    const groq = 'providers:\n  groq: { kind: chat, base_url: "https://api.groq.com/openai/v1" }\n';
    const own = '  near: { kind: chat, base_url: "http://127.0.0.1:11434/v1" }\n';
    write(place, 'home/config.yaml', groq + own);
    const made = await run(place, ['ca', 'create']);
    assert.match(made.stderr, 'api.groq.com (provider groq) is not intercepted');
    assert.not.match(made.stderr, 'near');
    const shown = JSON.parse((await run(place, ['ca', 'show', '--json'])).stdout);
    assert.equal(shown.unopened, [{ provider: 'groq', host: 'api.groq.com' }]);
    assert.equal(shown.uncovered, []);
    const output = (await run(place, ['doctor', '--offline'])).stdout;
    assert.match(output, /· Forward mode +api\.groq\.com \(provider groq\) is not intercepted/);
    assert.match(output, /✓ Forward mode +opens api\.anthropic\.com, api\.openai\.com/);
    // As the primary, it is the provider of its kind.
    write(place, 'home/config.yaml', `${groq}${own}routing: { primary: groq }\n`);
    const changed = await run(place, ['ca', 'show']);
    assert.match(changed.stderr, 'api.groq.com is not covered');
    const checked = (await run(place, ['doctor', '--offline'])).stdout;
    assert.match(checked, /Forward mode +its certificate authority was made before api\.groq\.com/);
    assert.match(checked, '`svc ca create --force`');
    await run(place, ['ca', 'create', '--force']);
    assert.match(
      (await run(place, ['doctor', '--offline'])).stdout,
      /opens api\.anthropic\.com, api\.groq\.com/,
    );
  }));

test('the same holds for provider modules; a module that is the primary provider is intercepted', () =>
  inPlace(async (place) => {
    const coded = (name: string) =>
      `export default {name: '${name}', kind: 'chat', baseUrl: 'https://${name}.example/v1', auth: 'none'};`;
    write(place, 'coded.mjs', coded('coded'));
    const plugin = `export default {name: 'mine', version: '1.0.0', setup: () => ({providers: [${coded('brought').slice(15, -1)}]})};`;
    write(place, 'plugin.mjs', plugin);
    const modules =
      'custom_providers:\n  - {name: coded, module: ../coded.mjs}\nplugins:\n  - module: ../plugin.mjs\n';
    write(place, 'home/config.yaml', modules);
    const { stderr } = await run(place, ['ca', 'create']);
    assert.match(stderr, 'coded.example (provider coded) is not intercepted');
    assert.match(stderr, 'brought.example (provider brought) is not intercepted');
    assert.match((await run(place, ['doctor', '--offline'])).stdout, 'coded.example');
    write(place, 'home/config.yaml', `${modules}routing: { primary: coded }\n`);
    const shown = JSON.parse((await run(place, ['ca', 'show', '--json'])).stdout);
    assert.equal(shown.uncovered, ['coded.example']);
    await run(place, ['ca', 'create', '--force']);
    const made = JSON.parse((await run(place, ['ca', 'show', '--json'])).stdout);
    assert.ok(made.hosts.includes('coded.example'));
  }));

test('after the authority is removed, clients that still use it are named', () =>
  inPlace(async (place) => {
    await run(place, [...claude, '--apply']);
    const removed = await run(place, ['ca', 'remove']);
    assert.match(removed.stderr, 'svc integrate claude-code --forward --undo');
    const checked = await run(place, ['doctor', '--offline']);
    assert.match(checked.stdout, 'its certificate authority is gone');
    const undone = await run(place, ['integrate', '--forward', '--undo']);
    assert.is(undone.code, 0, undone.stderr);
    assert.not.ok(fs.existsSync(join(place.folder, '.claude', 'settings.json')));
    assert.not.ok(fs.existsSync(join(place.home, 'forward')));
  }));

test.run();
