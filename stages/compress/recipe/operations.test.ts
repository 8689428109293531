import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Args, argFaults } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { render, type Row } from './rows.ts';

const LINES = [
  'one 1',
  '',
  '    two: 2',
  'error: three',
  'error: three',
  'error: three',
  '{"a": [1, 2]}',
];

for (const [name, operation] of OPERATIONS) {
  const { params, example, loss } = operation;
  const run = operation.make(new Args(params, example.with));

  test(`${name} does what its example shows, and says what it is`, () => {
    assert.equal(argFaults(operation, example.with), []);
    const input = example.before.split('\n');
    const rows = run(input.map((text, at) => ({ text, at })));
    assert.is(render(input, rows, { name: 'x', loss }).text, example.after);
    assert.match(operation.about, /^[A-Z].*[.]$/);
    for (const { about } of Object.values(params)) assert.ok(about.length > 3);
  });

  test(`${name} neither drops nor changes a line that stays, and nothing it does not fit`, () => {
    const rows: readonly Row[] = LINES.map((text, at) => ({ text, at, stays: true }));
    const isOnText = /^(?:json_|html_)/.test(name);
    if (!isOnText) {
      const out = run(rows).map(({ text }) => text);
      for (const line of LINES) assert.ok(out.includes(line), `${line} is gone`);
    }
  });
}

test('there are at least thirty', () => {
  assert.ok(OPERATIONS.size >= 30, String(OPERATIONS.size));
});

test.run();
