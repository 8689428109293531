import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { classify } from './classify.ts';
import { printedBy } from './command.ts';

const PRINTED: readonly (readonly [string, string | undefined])[] = [
  ['npm run build 2>&1 | tail -3', 'log'],
  ['cd app && sudo -u ci env A=b npx jest --ci', 'log'],
  ['docker compose exec -T web python -m pytest -x', 'log'],
  ['.venv/bin/pytest tests/docker', 'log'],
  ['python tests/runtests.py admin', 'log'],
  ['bash -lc "cargo test --workspace"', 'log'],
  ['docker build -t x . && docker logs x', 'log'],
  ['docker ps', 'other'],
  ['docker --version', 'other'],
  ['pip list', 'other'],
  ['npm ls', 'other'],
  ['pytest --help', 'other'],
  ['env', 'other'],
  ['git -C docker log --oneline', 'other'],
  ['git log -p docker/', 'diff'],
  ['git --no-pager show abc123', 'diff'],
  ['find packages/npm -type f', 'listing'],
  ['ls packages/npm/* | sort | head -50', 'listing'],
  ['rg -l npm', 'listing'],
  ['find . -name "*.ts" -exec grep -n docker {} +', 'grep'],
  ['git ls-files | xargs grep -n npm', 'grep'],
  ['npm test | grep -v skipped', 'log'],
  ['npm test | grep failed', 'grep'],
  ['for f in a b; do rg -n docker "$f"; done', 'grep'],
  ["cat > x.py <<'EOF'\npytest\nEOF\nls src", 'listing'],
  ['echo pytest; ls docker', 'listing'],
  ['ls docker; pytest', undefined],
  ['./pytest-report docker', undefined],
];

for (const [command, kind] of PRINTED) {
  test(`${command.split('\n', 1)[0]} prints ${kind ?? 'what is not known'}`, () => {
    assert.is(printedBy(command).kind, kind);
  });
}

test('viewers show the files that they name, wherever those lie', () => {
  for (const [command, files] of [
    ['cat docker-compose.yml', ['docker-compose.yml']],
    ["sed -n '1,2000p' mypy/checker.py", ['mypy/checker.py']],
    ['head -n 20 src/docker/a.py | cat', ['src/docker/a.py']],
    ['cat "my npm/a.ts" b.ts', ['my npm/a.ts', 'b.ts']],
    ['tail -50 make.go; cat cargo.go', ['make.go', 'cargo.go']],
    ["awk 'NR>3' jest/x.c", ['jest/x.c']],
    ['nl -ba x/pip.py | sed -n 10,20p', ['x/pip.py']],
    ['git show HEAD~1:docker/a.rb', ['docker/a.rb']],
  ] as const)
    assert.equal(printedBy(command).files, files, command);
});

const SERVICES = Array.from(
  { length: 12 },
  (_, n) => `  web${n}:\n    image: registry.test/web${n}\n    ports:\n      - "80${n}:80"`,
);
const COMPOSE = `services:\n${SERVICES.join('\n')}\n`;
const MODULE = Array.from({ length: 20 }, (_, n) => `def step_${n}(a):\n    return a + ${n}\n`);

test('a tool named in a path makes no log', () => {
  for (const command of ['cat docker-compose.yml', 'cat .github/workflows/docker.yml'])
    assert.is(classify(COMPOSE, { command }).kind, 'config', command);
  for (const command of ["sed -n '1,99p' mypy/a.py", 'cat src/docker/a.py', 'tail -99 npm/a.py'])
    assert.is(classify(MODULE.join('\n'), { command }).kind, 'code', command);
});

test('what a tool that writes logs prints is a log only if it does not look like something else', () => {
  assert.is(classify(COMPOSE, { command: 'npm run print-config' }).kind, 'config');
  assert.is(classify(MODULE.join('\n'), { command: 'make show' }).kind, 'code');
  const rows = Array.from({ length: 30 }, (_, n) => `app-${n}    running    ${n} hours`).join('\n');
  assert.is(classify(rows, { command: 'npm run state' }).kind, 'other');
  const steps = Array.from({ length: 30 }, (_, n) => `step ${n} took ${n * 7} ms`).join('\n');
  assert.is(classify(steps, { command: 'npm run build' }).kind, 'log');
});

test.run();
