import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readOne } from './read-file.ts';
import { parseRecord } from '../log/record.ts';
import { Tokenizer } from '../words/tokenize.ts';

test('drops a file that was read and found unsuitable, but not one that could not be read', async () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-read-'));
  const reading = { tokenizer: new Tokenizer(), grammars: undefined, nowMs: Date.now };
  try {
    mkdirSync(join(root, 'unreadable'));
    writeFileSync(join(root, 'binary'), 'x\0y');
    const read = (path: string) =>
      readOne({ root, path, size: 3, mtimeMs: 0, ctimeMs: 0, knownHash: 'other' }, reading);
    const unreadable = await read('unreadable');
    assert.equal([unreadable.outcome, unreadable.record.length], ['unreadable', 0]);
    const { outcome, record } = await read('binary');
    const parsed = parseRecord(record, 0);
    assert.ok(typeof parsed === 'object');
    assert.equal([outcome, parsed.header.record], ['binary', 'drop']);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test.run();
