import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fileNamesOf, fileWritesOf, writtenBy } from './file-writes.ts';

const call = (toolName: string, toolInput: unknown) =>
  ({ index: 0, role: 'assistant', kind: 'tool_use', text: '', toolName, toolInput }) as const;

test('finds no edits in tools and commands that only read', () => {
  for (const name of ['Read', 'view_file', 'Grep', 'mcp__files__readText', 'list_dir', 'WebFetch'])
    assert.equal(writtenBy(call(name, { path: '/w/a.ts' })), [], name);
  for (const command of [
    'cat src/a.ts',
    "sed -n '1,40p' a.py | head",
    'cd /w && grep -rn foo a.ts 2>/dev/null',
    'pytest tests/test_a.py -q 2>&1 | tail -5',
  ])
    assert.equal(writtenBy(call('Bash', { command })), [], command);
});

test('recognises every tool and command that may write', () => {
  assert.equal(writtenBy(call('Edit', { file_path: '/w/a.ts', new_string: 'x' })), ['a.ts', 'x']);
  assert.ok(writtenBy(call('mcp__files__write', { path: 'b/c.py' })).includes('c.py'));
  for (const command of [
    "sed -i 's/a/b/' src/a.py",
    'echo x > a.py',
    'cat <<EOF >> lib/a.py\nx\nEOF',
    'git checkout a.py',
    'python fix.py a.py',
    'prettier --write a.py',
    'tee a.py < b.txt',
    "apply_patch <<'E'\n*** Update File: lib/a.py\nE",
  ])
    assert.ok(writtenBy(call('Bash', { command })).includes('a.py'), command);
  const patch = '*** Begin Patch\n*** Update File: lib/a.py\n@@\n-x\n+y\n*** End Patch';
  assert.ok(writtenBy(call('apply_patch', patch)).includes('a.py'));
});

test('recognises file names without an extension, and editors that are a single tool', () => {
  const tool = 'str_replace_based_edit_tool';
  const [view, change] = ['view', 'str_replace'].map((command) =>
    call(tool, { command, path: '/w/src/a.py', old_str: 'q' }),
  );
  assert.equal(writtenBy(view!), []);
  assert.ok(fileNamesOf(view!).includes('a.py'));
  assert.ok(writtenBy(change!).includes('a.py'));
  for (const [command, name] of [
    ['echo x >> Makefile', 'Makefile'],
    ["sed -i 's/a/b/' bin/start", 'start'],
    ['echo A=1 > .env', '.env'],
  ] as const)
    assert.ok(writtenBy(call('Bash', { command })).includes(name), command);
  assert.ok(fileNamesOf(call('Bash', { command: 'cat Makefile' })).includes('Makefile'));
});

test('returns every path in an input by its last part', () => {
  assert.equal(fileNamesOf(call('Read', { file_path: '/w/src/a.ts' })), ['a.ts']);
  assert.equal(fileNamesOf(call('Bash', { command: 'cat src/a.ts lib/b.py | head -3' })), [
    'a.ts',
    'b.py',
  ]);
});

/** Returns true if a file that was read counts as written after the command. */
const edits = (command: string, path = '/w/src/a.py'): boolean => {
  const read = call('Read', { file_path: path });
  return fileWritesOf([read, call('Bash', { command })]).isWrittenAfter(0, read);
};

test('assumes that a command which writes unnamed files edits all those in its folder', () => {
  for (const command of [
    'black .',
    'cd /w && black -q src && git diff --stat',
    'ruff check --fix .',
    'ruff check src --fix',
    'uvx ruff format',
    'poetry run isort src tests',
    'git checkout -- .',
    'git checkout .',
    'git checkout main',
    'git -C /w restore .',
    'git stash',
    'git stash pop',
    'git reset --hard HEAD~1',
    'git pull --rebase',
    'git apply fix.patch',
    'patch -p1 < /tmp/x.diff',
    "sed -i 's/a/b/' src/*.py",
    "sed -i.bak -e 's/a/b/' $(grep -rl foo src)",
    "sed -i '' 's/a{$/b/' src/*.py",
    "perl -pi -e 's/a/b/' **/*.py",
    "grep -rl foo . | xargs sed -i 's/a/b/'",
    "find . -name '*.py' -exec sed -i 's/a/b/' {} +",
    'for f in src/*.py; do sed -i s/a/b/ "$f"; done',
    'make fmt',
    'npm run lint:fix',
    'tox -e format',
    'pre-commit run --all-files',
    'some-linter --fix src/',
    'cp -r ../other/src .',
    'rm -rf src',
    'rm -rf /w/src',
    "python - <<'E'\nfor p in Path('.').rglob('*'):\n  p.write_text(p.read_text().replace('a', 'b'))\nE",
  ])
    assert.ok(edits(command), command);
  assert.ok(edits('npx prettier --write .', '/w/src/a.ts'));
  assert.ok(edits("npx prettier --write 'src/**/*.ts'", '/w/src/deep/a.ts'));
  assert.ok(edits('cargo fmt', '/w/src/a.rs'));
  assert.ok(edits('cargo fmt --all', 'src/a.rs'));
  assert.ok(edits('gofmt -w .', '/w/a.go'));
  assert.ok(edits('gofmt -s -w ./...', '/w/a.go'));
  assert.ok(edits('go fmt ./...', '/w/a.go'));
  assert.ok(edits('go mod tidy', '/w/go.mod'));
  assert.ok(edits('npm install left-pad', '/w/package.json'));
});

test('finds no edits in a command that only checks, or writes elsewhere', () => {
  for (const command of [
    'black --check .',
    'ruff check .',
    'git checkout -b topic',
    'git stash list',
    'git reset HEAD',
    'git restore --staged .',
    'git diff --stat',
    'git commit -am "fix"',
    'black tests',
    'rm -rf build dist',
    "sed -i 's/a/b/' lib/*.py",
    "sed -i '' 's/a{$/b/' lib/c.py",
    "sed -n '1,9p' src/*.py",
    'cargo fmt',
    'gofmt -l .',
    'npm run format:check',
    'npm install',
    'make test',
    'find . -name "*.pyc" | head',
    'npx eslint --format json src',
    'pip list --format=freeze',
    'pytest -q',
  ])
    assert.not.ok(edits(command), command);
  assert.not.ok(edits('gofmt -w .', '/w/a.md'));
});

test.run();
