import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createIgnoreRules } from './ignore-rules.ts';
import { contentRisk, isGenerated } from '../risk/risk.ts';
import { isSecretName } from '../risk/secret-names.ts';
import { walk } from './walk.ts';

async function walked(files: Record<string, string>, under = ''): Promise<[string[], object]> {
  const top = mkdtempSync(join(tmpdir(), 'svc-walk-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(top, path)), { recursive: true });
      writeFileSync(join(top, path), text);
    }
    symlinkSync(top, join(top, under, 'loop'));
    const found: string[] = [];
    const root = join(top, under);
    const skipped = await walk(root, createIgnoreRules(root), ({ path }) => found.push(path));
    return [found, skipped];
  } finally {
    rmSync(top, { recursive: true });
  }
}

test('lets a deeper .gitignore override the one above it, except inside an ignored folder', async () => {
  const [found] = await walked({
    '.gitignore': '*.log\nout/\n/only-top.md\n',
    'a.log': 'x',
    'only-top.md': 'x',
    'sub/only-top.md': 'x',
    'sub/.gitignore': '!keep.log\n',
    'sub/keep.log': 'x',
    'sub/drop.log': 'x',
    'out/.gitignore': '!*\n',
    'out/a.md': 'x',
    'node_modules/p/readme.md': 'x',
  });
  assert.equal(found, ['.gitignore', 'sub/.gitignore', 'sub/keep.log', 'sub/only-top.md']);
});

test('compares the case of letters in a rule as git does', async () => {
  if (process.platform === 'darwin') return;
  const [found] = await walked({
    '.gitignore': 'Build/\n*.LOG\n/TODO\n',
    'build/a.js': 'x',
    'Build/b.js': 'x',
    'notes.log': 'x',
    'trace.LOG': 'x',
    todo: 'x',
  });
  assert.equal(found.toSorted(), ['.gitignore', 'build/a.js', 'notes.log', 'todo']);
});

test('applies rules from above the root within a repository, unless they ignore the root itself', async () => {
  const files = { '.git/HEAD': 'x', '.gitignore': 'docs/*.tmp\nbuild/\n' };
  const [docs] = await walked({ ...files, 'docs/a.tmp': 'x', 'docs/a.md': 'x' }, 'docs');
  assert.equal(docs, ['a.md']);
  const [build] = await walked({ ...files, 'build/a.md': 'x' }, 'build');
  assert.equal(build, ['a.md']);
});

test('applies info/exclude from below and in a worktree; a .gitignore overrides it', async () => {
  const files = {
    'docs/a.tmp': 'x',
    'docs/b.md': 'x',
    'docs/c.bak': 'x',
    '.gitignore': '!*.bak\n',
  };
  const rules = '*.tmp\n*.bak\n';
  const own = { ...files, '.git/info/exclude': rules };
  assert.equal((await walked(own))[0], ['.gitignore', 'docs/b.md', 'docs/c.bak']);
  assert.equal((await walked(own, 'docs'))[0], ['b.md', 'c.bak']);
  const worktree = {
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`tree/${path}`, text])),
    'tree/.git': 'gitdir: ../main/.git/worktrees/tree\n',
    'main/.git/worktrees/tree/commondir': '../..\n',
    'main/.git/info/exclude': rules,
  };
  const [found] = await walked(worktree, 'tree');
  assert.ok(!found.includes('docs/a.tmp') && found.includes('docs/c.bak'), found.join());
});

test('counts skipped files by reason', async () => {
  const [found, skipped] = await walked({
    'ok.md': 'x',
    'empty.md': '',
    'photo.png': 'x',
    '.env': 'K=v',
    '.env.example': 'K=',
    'server.pem': 'x',
    '.ssh/config': 'x',
    'huge.txt': 'x'.repeat(1_048_577),
  });
  assert.equal(found, ['.env.example', 'ok.md']);
  assert.equal(skipped, { secret: 3, empty: 1, too_large: 1, link: 1, binary: 1 });
});

test('recognises files with secrets by their names', () => {
  const secret =
    '.env .env.local prod.env id_rsa id_ed25519.pub server.key cert.p12 .npmrc .netrc .pypirc ' +
    'credentials credentials.json aws-credentials secrets.yaml service-account.json ' +
    'terraform.tfstate prod.tfvars .git-credentials .htpasswd client_secret.json';
  for (const name of secret.split(' ')) assert.ok(isSecretName(name), name);
  const open =
    'env.ts credentials.md secretary.txt keyboard.md tokenize.ts .env.example package.json';
  for (const name of open.split(' ')) assert.not.ok(isSecretName(name), name);
});

test('treats a block as secret if it seems to contain a credential', () => {
  // Composed here, so that secret scanners do not take them for real ones.
  const secrets = [
    `-----BEGIN RSA ${'PRIVATE'} KEY-----`,
    `aws = ${'AKIA'}${'Q3Z7'.repeat(4)}`,
    `key: sk-${'ant-api03-Zx81'.repeat(3)}`,
    `postgres://app:${'hunter2hunter2'}@db.internal/main`,
    `DB_PASSWORD = "${'kT9$vq2!mZx4'}"`,
    `"apiKey": "${'9f8e7d6c5b4a39281706'}"`,
  ];
  for (const text of secrets) assert.is(contentRisk(text), 'secret', text);
  const safe = [
    'password = os.environ["DB_PASSWORD_2"]',
    'const token = tokenize(text1);',
    'the token: a word between two blanks',
    'api_key: your-key-here-1234',
    'postgres://app:${DB_PASSWORD}@db/main',
    'a task-oriented-description-of-work',
  ];
  for (const text of safe) assert.is(contentRisk(text), 'safe', text);
});

test('recognises generated files by name, first lines or shape', () => {
  assert.ok(isGenerated('package-lock.json', '{}'));
  assert.ok(isGenerated('api.ts', '// Code generated by protoc. DO NOT EDIT.\n'));
  assert.ok(isGenerated('bundle.js', 'a'.repeat(9_000)));
  assert.not.ok(isGenerated('notes.md', '# Notes\n\nHow code is generated here\n'.repeat(300)));
});

test.run();
