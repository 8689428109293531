/** What people copy or edit to the letter goes out as it came, through the whole pass. */
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { result } from './testing.ts';

const hash = (n: number, algorithm = 'sha256', form: 'hex' | 'base64' = 'hex'): string =>
  createHash(algorithm).update(String(n)).digest(form);
const bytes = (count: number): Buffer =>
  Buffer.concat(
    Array.from({ length: count / 32 }, (_, n) => createHash('sha256').update(String(n)).digest()),
  );

test('keys, certificates and lists of hashes stay in aggressive, a blob goes', () => {
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

test('a JSON file that is read stays as it is in hybrid, what an API answers does not', () => {
  const scripts = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`task-${n}`, `run ${n}`]),
  );
  const text = JSON.stringify({ name: 'x', scripts }, null, 2);
  for (const [tool, input] of [
    ['Read', { file_path: '/r/package.json' }],
    ['read_file', { path: '/r/.prettierrc' }],
    ['bash', { command: 'cat package.json' }],
    ['bash', { command: 'cd r && head -n 200 tsconfig.json' }],
  ] as const)
    assert.is(result(text, tool, input, 'hybrid').changed, false, JSON.stringify(input));
  for (const [tool, input] of [
    ['fetch', { path: '/v1/users' }],
    ['bash', { command: 'curl -s localhost/x.json' }],
    ['bash', { command: 'cat package.json | jq .' }],
  ] as const)
    assert.equal(result(text, tool, input, 'hybrid').by, ['json'], JSON.stringify(input));
  assert.equal(result(text, 'Read', { file_path: 'a.json' }, 'aggressive').by, ['json']);
});

test.run();
