import { appendFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { followFile, lastLines } from './log-file.ts';
import { makePlace } from '../fixtures/cli/run.ts';

test('reads the last lines of a file larger than one read, and of one without a final newline', () => {
  const place = makePlace();
  const path = join(place.folder, 'svc.log');
  const lines = Array.from(
    { length: 9000 },
    (_, index) => `line ${index} é ${'x'.repeat(index % 97)}`,
  );
  writeFileSync(path, `${lines.join('\n')}\n`);
  for (const count of [0, 1, 2, 1500, 9000, 20_000])
    assert.equal(lastLines(path, count), count === 0 ? [] : lines.slice(-count));
  appendFileSync(path, 'unfinished');
  assert.equal(lastLines(path, 2), [lines.at(-1), 'unfinished']);
  assert.equal(lastLines(join(place.folder, 'none.log'), 5), []);
  place.dispose();
});

test('reads rotated files, newest first, and ignores other files', () => {
  const place = makePlace();
  const write = (name: string, text: string) => writeFileSync(join(place.folder, name), text);
  write('svc.log', 'e\n');
  write('svc-20260102-00.log', 'c\nd\n');
  write('svc-20260101-00.log', 'a\nb\n');
  write('svc-other.log', 'no\n');
  write('output.log', 'no\n');
  assert.equal(lastLines(join(place.folder, 'svc.log'), 4), ['b', 'c', 'd', 'e']);
  assert.equal(lastLines(join(place.folder, 'svc.log'), 9), ['a', 'b', 'c', 'd', 'e']);
  place.dispose();
});

test('a follower gets only whole lines, across a rotation and a truncation', () => {
  const place = makePlace();
  const path = join(place.folder, 'svc.log');
  writeFileSync(path, 'old\n');
  const follower = followFile(path);
  assert.equal(follower.read(), []);
  appendFileSync(path, 'one\ntw');
  assert.equal(follower.read(), ['one']);
  appendFileSync(path, 'o\nlast words\n');
  renameSync(path, join(place.folder, 'svc-20260101-00.log'));
  writeFileSync(path, 'new\n');
  assert.equal(follower.read(), ['two', 'last words', 'new']);
  truncateSync(path, 0);
  appendFileSync(path, 'n\n');
  assert.equal(follower.read(), ['n']);
  place.dispose();
});

test('a log that does not exist yet is followed from its first line', () => {
  const place = makePlace();
  const path = join(place.folder, 'svc.log');
  const follower = followFile(path);
  assert.equal(follower.read(), []);
  writeFileSync(path, 'first\n');
  assert.equal(follower.read(), ['first']);
  place.dispose();
});

test.run();
