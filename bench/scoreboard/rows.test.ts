/** The rows match the current sources: a defect that can no longer be planted proves nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { projectRoot } from '../../fixtures/paths.ts';
import { ROWS } from './rows.ts';

const textOf = (file: string): string => readFileSync(join(projectRoot, file), 'utf8');

test('every row has a unique id, an existing test, and a defect whose text occurs exactly once', () => {
  assert.is(new Set(ROWS.map(({ id }) => id)).size, ROWS.length);
  for (const { id, file, test: name, sabotage } of ROWS) {
    // A test name may be composed of parts; the longest of its words is in the file in any case.
    const longest = name.split(/[^\w’]+/).toSorted((a, b) => b.length - a.length)[0]!;
    assert.ok(
      longest.length > 3 && textOf(file).includes(longest),
      `${id}: ${file} has no ${name}`,
    );
    assert.is(textOf(sabotage.file).split(sabotage.before).length, 2, `${id}: ${sabotage.file}`);
  }
});

test.run();
