import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createGrammarLoader, packagedFile } from './grammars.ts';

test('a grammar that could not be loaded is tried again when its failure is forgotten, not before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-grammars-'));
  const asked: string[] = [];
  const loader = createGrammarLoader((name) => {
    asked.push(name);
    return join(folder, `tree-sitter-${name}.wasm`);
  });
  const load = (): Promise<boolean> =>
    loader.load('python').then(
      () => true,
      () => false,
    );
  assert.is(await load(), false);
  symlinkSync(packagedFile('python'), join(folder, 'tree-sitter-python.wasm'));
  assert.is(await load(), false);
  assert.is(asked.length, 1);
  loader.forgetFailures();
  assert.is(await load(), true);
  loader.forgetFailures();
  assert.is(await load(), true);
  assert.is(asked.length, 2);
});

test.run();
