import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { builtInBodies, readBodies, readBody, toBenchBody } from './bodies.ts';

const pathOf = (value: unknown): string => toBenchBody('x', JSON.stringify(value)).path;

test('the endpoint is recognised from the shape of a body', () => {
  const messages = [{ role: 'user', content: 'x' }];
  assert.is(pathOf({ model: 'claude-x', messages }), '/v1/messages');
  assert.is(pathOf({ model: 'local', system: 'be kind', messages }), '/v1/messages');
  assert.is(pathOf({ model: 'local', tools: [{ input_schema: {} }], messages }), '/v1/messages');
  assert.is(pathOf({ model: 'gpt-x', messages }), '/v1/chat/completions');
  assert.is(pathOf({ model: 'gpt-x', input: 'x' }), '/v1/responses');
  assert.is(pathOf({ model: 'g', contents: [] }), '/v1beta/models/g:generateContent');
});

test('a file that is not a request is reported with its name', () => {
  assert.throws(() => toBenchBody('x', '{}', 'a/x.json'), /a\/x\.json is not a request/);
  assert.throws(() => toBenchBody('x', '[]', 'a/x.json'), /not a JSON object/);
  assert.throws(() => toBenchBody('x', '{', 'a/x.json'), /not a JSON object/);
});

test('the JSON files of a folder are loaded in order of name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bodies-'));
  try {
    assert.throws(() => readBodies(folder), /holds no request body/);
    writeFileSync(join(folder, 'b.json'), '{"model":"m","input":"x"}');
    writeFileSync(join(folder, 'a.json'), '{"model":"m","messages":[]}');
    writeFileSync(join(folder, 'notes.txt'), 'no request');
    assert.equal(
      readBodies(folder).map(({ name }) => name),
      ['a', 'b'],
    );
    assert.throws(() => readBodies(join(folder, 'none')), /There is no folder/);
    assert.throws(
      () => readBody(join(folder, 'none.json')),
      /none\.json cannot be read: it does not exist/,
    );
    assert.throws(() => readBody(folder), /cannot be read: it is a folder/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the built-in set consists of requests of different sizes', () => {
  const bodies = builtInBodies();
  assert.ok(bodies.length >= 5);
  assert.is(new Set(bodies.map(({ name }) => name)).size, bodies.length);
  for (const { body, path } of bodies) {
    assert.ok(path.startsWith('/v1/'));
    assert.is(typeof JSON.parse(body), 'object');
  }
  assert.ok(bodies.some(({ body }) => body.length > 300_000));
});

test.run();
