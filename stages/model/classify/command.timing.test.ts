import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { printedBy } from './command.ts';

test('a command of any form is read quickly', () => {
  for (const command of [
    '"'.repeat(2e5),
    "a'".repeat(1e5),
    '$('.repeat(1e5),
    'sudo '.repeat(5e4),
  ]) {
    const start = performance.now();
    printedBy(command);
    assert.ok(
      performance.now() - start < 200,
      `${command.slice(0, 4)} ${performance.now() - start}`,
    );
  }
});

test.run();
