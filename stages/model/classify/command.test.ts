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
  ['git pull --rebase && npm test', 'log'],
  ['git fetch -q; git log --oneline', 'other'],
  ['git submodule status', 'other'],
  ['strace -f ls', 'log'],
  ['strace -c ls', 'other'],
  ['gcc -Wall a.c', 'log'],
  ['gcc -E a.c', undefined],
  ['node app.js | npx pino-pretty', 'log'],
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
  ['git ls-files | xargs grep -v npm', 'grep'],
  ['npm test | grep failed', 'grep'],
  ['for f in a b; do rg -n docker "$f"; done', 'grep'],
  ["cat > x.py <<'EOF'\npytest\nEOF\nls src", 'listing'],
  ['echo pytest; ls docker', 'listing'],
  ['uv pip install -r requirements.txt', 'log'],
  ['uv pip freeze', 'other'],
  ['uv pip list --format=columns | head -50', 'other'],
  ['uv tool list', 'other'],
  ['npm --prefix app ls --all', 'other'],
  ['npm run list-users', undefined],
  ['yarn --cwd app workspace app db:list', undefined],
  ['make -j4 help', undefined],
  ['rake db:migrate:status', undefined],
  ['mvn -q -f a/pom.xml dependency:tree -Dverbose', 'other'],
  ['./gradlew :app:dependencies --configuration compile', 'other'],
  ['gradle tasks --all', 'other'],
  ['gradle test --tests UserInfo', 'log'],
  ['sbt dependencyTree', 'other'],
  ['bazel query //...', 'other'],
  ['docker compose -f a.yml ps', 'other'],
  ['docker --context far compose --profile x logs web', 'log'],
  ['docker image ls', 'other'],
  ['docker buildx ls', 'other'],
  ['go list -m all', 'other'],
  ['go mod graph', 'other'],
  ['go mod download', 'log'],
  ['cargo +nightly tree', 'other'],
  ['cargo run -- list', undefined],
  ['pytest --collect-only -q', 'other'],
  ['cargo test -- --list', 'other'],
  ['git stash show -p', 'diff'],
  ['git stash list', 'other'],
  ['ls docker; pytest', undefined],
  ['./pytest-report docker', undefined],
  ['npx vitest run src/routes', 'log'],
  ['vitest run tests/unit/version', 'log'],
  ['vitest list', 'other'],
  ['turbo build projects', 'log'],
  ['turbo run build list', 'log'],
  ['turbo ls', 'other'],
  ['nx test routes', 'log'],
  ['nx run-many list', 'log'],
  ['nx show projects', 'other'],
  ['lerna run test list', 'log'],
  ['lerna list', 'other'],
  ['make test/routes', 'log'],
  ['make -j list-users', undefined],
  ['make -l 2.5 -j 4 help', undefined],
  ['make -j 4 all', 'log'],
  ['make -j all', 'log'],
  ['tar tf a.tar', 'listing'],
  ['tar -tf a.tar', 'listing'],
  ['tar -tzf a.tgz', 'listing'],
  ['tar ztf a.tgz', 'listing'],
  ['tar --list -f a.tar', 'listing'],
  ['tar -tzvf a.tgz', 'other'],
  ['tar tvf a.tar', 'other'],
  ['tar -xf a.tar', undefined],
];

for (const [command, kind] of PRINTED) {
  test(`classifies the output of ${command.split('\n', 1)[0]} as ${kind ?? 'unknown'}`, () => {
    assert.is(printedBy(command).kind, kind);
  });
}

test('finds the command after wrappers that have options with values', () => {
  const wrapped = (before: string): void => {
    assert.is(printedBy(`${before} ls src`).kind, 'listing', before);
    assert.is(printedBy(`${before} npm test`).kind, 'log', before);
    assert.equal(printedBy(`${before} cat a/b.json`).files, ['a/b.json'], before);
  };
  for (const before of [
    'ssh -p 22 host',
    'ssh -i ~/.ssh/key -o StrictHostKeyChecking=no user@host',
    'ssh -tt -p22 host --',
    'ssh host -v -p 22',
    'docker exec -it -e A=b --user 1000 -w /app c',
    'docker -H tcp://far:1 exec -ti c',
    'docker run --rm -v "$PWD":/w -w /w --network host node:20',
    'docker compose -f a.yml -p web exec -T --index 2 web',
    'docker compose run --rm --no-deps -e A=b web',
    'kubectl exec pod --',
    'kubectl -n prod exec -it pod -c app --',
    'kubectl exec -it deploy/x --namespace prod --',
    'sudo -u x',
    'sudo --user x -H',
    'sudo -nu x',
    'timeout 5',
    'timeout -k 3 --signal KILL 10s',
    'env A=b',
    'env -u A -C /tmp B=c',
    'nice -n 5',
    'nice -10',
    'chroot --userspec 1:1 /mnt',
    'flock -w 3 /tmp/lock',
    'uv run --with x --python 3.12',
    'poetry -C app run',
    'conda run -n env --no-capture-output',
    'npm exec --package x --',
  ])
    wrapped(before);
  assert.equal(printedBy("ssh -i key user@host 'cd /srv && cat f.yml'").files, ['f.yml']);
  assert.equal(printedBy('su - deploy -c "cat f.yml"').files, ['f.yml']);
  assert.is(printedBy('docker run -d web').kind, undefined);
  assert.is(printedBy('python -X dev -m pytest -x').kind, 'log');
  assert.is(printedBy('python tools/show.py -m pytest').kind, undefined);
});

test('recognises files that are shown whole, however the command names them', () => {
  for (const [command, files] of [
    ['cat < a.json', ['a.json']],
    ['<a.json cat', ['a.json']],
    ['head -n 9999 f.json', ['f.json']],
    ['head --lines 9999 -c 5000 f.json', ['f.json']],
    ['tail -n +1 a.json b.yaml', ['a.json', 'b.yaml']],
    ['bat f.json', ['f.json']],
    ['bat --style plain --paging=never -l json f', ['f']],
    ['batcat -p f.json | cat', ['f.json']],
    ['sed -n p < a.json', ['a.json']],
    ["find . -name '*.json' -exec cat {} \\;", ['{}']],
    ['find . -exec head -n 50 {} +', ['{}']],
    ['find . -type f -print0 | xargs -0 cat', ['{}']],
    ['ls *.json | xargs -I{} cat {}', ['{}']],
    ['ls *.json | xargs -n 1 -I % cat %', ['%']],
    ['git ls-files | xargs -r tail -n 40', ['{}']],
    ['while read f; do cat "$f"; done', ['$f']],
    ['while read f; do cat "$f"; done < names', ['$f']],
    ['git cat-file -p HEAD:a.json', ['a.json']],
    ['git cat-file blob HEAD:a.json', ['a.json']],
    ['unzip -p a.zip x/a.json', ['a.zip', 'x/a.json']],
    ['tar -xzOf a.tgz x/a.json', ['a.tgz', 'x/a.json']],
    ['tar -Oxzf a.tgz x/a.json', ['a.tgz', 'x/a.json']],
    ['tar Oxzf a.tgz x/a.json', ['a.tgz', 'x/a.json']],
    ['tar --to-stdout -xf a.tgz x/a.json', ['a.tgz', 'x/a.json']],
    ['unzip -pq a.zip x/a.json', ['a.zip', 'x/a.json']],
    ['unzip -cq a.zip x/a.json', ['a.zip', 'x/a.json']],
    ['gzip -dc a.json.gz', ['a.json.gz']],
    ['gzip -d -c a.json.gz', ['a.json.gz']],
    ['gunzip --to-stdout a.json.gz', ['a.json.gz']],
    ['bunzip2 -c a.json.bz2', ['a.json.bz2']],
    ['xz -dc a.json.xz', ['a.json.xz']],
    ['unxz --stdout a.json.xz', ['a.json.xz']],
    ['zstd -dc a.json.zst', ['a.json.zst']],
  ] as const)
    assert.equal(printedBy(command).files, files, command);
  const json = JSON.stringify({ a: Array.from({ length: 9 }, (_, n) => ({ n })) }, null, 2);
  for (const command of [
    'cat < Pipfile',
    'ls | xargs cat',
    'find . -exec cat {} \\;',
    'bat x',
    './make-it && cat x.json',
  ])
    assert.is(classify(json, { command }).file, true, command);
  for (const command of [
    'jq . < a.json',
    'cat a.json | jq .',
    'cat',
    'curl x | cat',
    'npm x | head',
  ])
    assert.is.not(classify(json, { command }).file, true, command);
});

test('recognises the files that viewers show, wherever they are', () => {
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

test('does not take a tool’s name in a path for a command that writes logs', () => {
  for (const command of ['cat docker-compose.yml', 'cat .github/workflows/docker.yml'])
    assert.is(classify(COMPOSE, { command }).kind, 'config', command);
  for (const command of ["sed -n '1,99p' mypy/a.py", 'cat src/docker/a.py', 'tail -99 npm/a.py'])
    assert.is(classify(MODULE.join('\n'), { command }).kind, 'code', command);
});

test('classifies output of a tool that writes logs as a log, unless it looks like something else', () => {
  assert.is(classify(COMPOSE, { command: 'npm run print-config' }).kind, 'config');
  assert.is(classify(MODULE.join('\n'), { command: 'make show' }).kind, 'code');
  const rows = Array.from({ length: 30 }, (_, n) => `app-${n}    running    ${n} hours`).join('\n');
  assert.is(classify(rows, { command: 'npm run state' }).kind, 'other');
  const steps = Array.from({ length: 30 }, (_, n) => `step ${n} took ${n * 7} ms`).join('\n');
  assert.is(classify(steps, { command: 'npm run build' }).kind, 'log');
});

test.run();
