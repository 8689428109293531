/** Text that is copied or edited verbatim is sent unmodified, through the whole pass. */
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { result } from '../../../fixtures/compress/texts.ts';

const hash = (n: number, algorithm = 'sha256', form: 'hex' | 'base64' = 'hex'): string =>
  createHash(algorithm).update(String(n)).digest(form);
const bytes = (count: number): Buffer =>
  Buffer.concat(
    Array.from({ length: count / 32 }, (_, n) => createHash('sha256').update(String(n)).digest()),
  );

test('keeps keys, certificates and lists of hashes in aggressive mode, but drops a blob', () => {
  const body = bytes(1536).toString('base64');
  const wrapped = body.match(/.{1,64}/g)!.join('\n');
  const list = (make: (n: number) => string): string =>
    Array.from({ length: 40 }, (_, n) => make(n)).join('\n');
  for (const text of [
    `-----BEGIN CERTIFICATE-----\n${wrapped}\n-----END CERTIFICATE-----\n`,
    wrapped,
    body,
    list((n) => hash(n)),
    list((n) => hash(n, 'sha512')),
    list((n) => hash(n, 'sha512', 'base64')),
    list((n) => hash(n, 'sha1')),
  ]) {
    const out = result(text, 'bash', { command: 'cat x' }, 'aggressive');
    assert.is(out.text, text, `${out.by.join()} ${text.slice(0, 40)}`);
  }
  const long = bytes(32_000).toString('base64');
  for (const blob of [long, long.match(/.{1,76}/g)!.join('\n'), `data:font/woff2;base64,${long}`])
    assert.equal(result(blob, 'bash', { command: 'cat x' }, 'aggressive').by, ['blob']);
});

test('keeps a JSON file unchanged in hybrid mode, but not the JSON response of an API', () => {
  const scripts = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`task-${n}`, `run ${n}`]),
  );
  const text = JSON.stringify({ name: 'x', scripts }, null, 2);
  for (const [tool, input] of [
    ['Read', { file_path: '/r/package.json' }],
    ['read_file', { path: '/r/.prettierrc' }],
    ['bash', { command: 'cat package.json' }],
    ['bash', { command: 'cd r && head -n 200 tsconfig.json' }],
    ['bash', { command: 'cat < Pipfile' }],
    ['bash', { command: 'ls *.json | head -1 | xargs -0 cat' }],
    ['bash', { command: "find . -name 'p*' -exec cat {} \\;" }],
    ['bash', { command: 'bat --style plain package.json' }],
    ['bash', { command: 'head -n 9999 lockfile' }],
    ['bash', { command: "ssh -p 22 host 'cat /srv/state'" }],
    ['bash', { command: 'docker exec -it -e A=b c cat /srv/state' }],
    ['bash', { command: './make-it && cat made.json' }],
  ] as const)
    assert.is(result(text, tool, input, 'hybrid').changed, false, JSON.stringify(input));
  for (const [tool, input] of [
    ['fetch', { path: '/v1/users' }],
    ['bash', { command: 'curl -s localhost/x.json' }],
    ['bash', { command: 'cat package.json | jq .' }],
  ] as const)
    assert.equal(result(text, tool, input, 'hybrid').by, ['json'], JSON.stringify(input));
  // With several lines it can be referenced when it is read again; a table of it could not.
  assert.is(result(text, 'Read', { file_path: 'a.json' }, 'aggressive').changed, false);
  const line = JSON.stringify(Array.from({ length: 60 }, (_, id) => ({ id, state: 'open' })));
  assert.equal(result(line, 'Read', { file_path: 'a.json' }, 'aggressive').by, ['json']);
});

test('keeps every line if a build tool was asked for a list', () => {
  const facts = (make: (n: number) => string): string =>
    Array.from({ length: 200 }, (_, n) => make(n)).join('\n');
  const built = facts((n) => `   Compiling part-${n} v0.${n}.1`);
  for (const [command, text] of [
    ['uv pip freeze', facts((n) => `part-${n}==1.${n}.0`)],
    ['uv pip list', `Package Version\n------- -------\n${facts((n) => `part-${n} 1.${n}.0`)}`],
    ['npm run list-parts', facts((n) => `part ${n} of shelf ${n * 7}`)],
    ['mvn dependency:tree', facts((n) => `[INFO] +- org.part:lib-${n}:jar:1.${n}:compile`)],
    ['gradle tasks', facts((n) => `part${n} - Makes the part.`)],
    ['docker compose ps', facts((n) => `web-${n} "run it" Up ${n} hours 80/tcp`)],
    ['go list -m all', facts((n) => `example.test/part${n} v1.${n}.0`)],
    [
      'cargo run -- list',
      `${built}\n    Finished dev in 9.1s\n     Running \`target/debug/app list\`\n${facts((n) => `${n} is open`)}`,
    ],
  ] as const) {
    const out = result(text, 'bash', { command }, 'hybrid');
    assert.equal(out.removed, [], command);
    for (const word of text.match(/[\w.-]*\d[\w.-]*/g)!) assert.ok(out.text.includes(word), word);
  }
});

test.run();
