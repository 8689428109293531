import { writeFileSync } from 'node:fs';
import { Database } from './sqlite.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isDiskFault, reasonOf } from './disk-reason.ts';

function thrownBy(work: () => void): unknown {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  return assert.unreachable();
}

test('errors of the disk and the database have a reason, and other errors their own message', () => {
  const database = new Database(':memory:');
  database.exec('CREATE TABLE t (x); PRAGMA max_page_count = 3');
  const full = thrownBy(() => database.exec('INSERT INTO t VALUES (zeroblob(100000))'));
  database.close();
  const folder = thrownBy(() => writeFileSync('/', ''));
  assert.equal([isDiskFault(full), isDiskFault(folder)], [true, true]);
  assert.equal([reasonOf(full), reasonOf(folder)], ['no space left on the disk', 'it is a folder']);
  const other = new TypeError('x is not a function');
  for (const thrown of [other, 'text', undefined]) assert.is(isDiskFault(thrown), false);
  assert.equal([reasonOf(other), reasonOf('text')], ['x is not a function', 'text']);
});

test.run();
