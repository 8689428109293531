import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeFolders } from './folder.ts';

test('missing folders are made private, and existing ones are left alone', () => {
  const top = mkdtempSync(join(tmpdir(), 'svc-folder-'));
  const deep = join(top, 'a', 'b', 'c');
  assert.is(makeFolders(deep), true);
  assert.is(statSync(join(top, 'a')).mode & 0o777, 0o700);
  assert.is(makeFolders(deep), false);
  writeFileSync(join(top, 'file'), '');
  assert.throws(() => makeFolders(join(top, 'file', 'x')), /ENOTDIR/);
  rmSync(top, { recursive: true });
});

test.run();
