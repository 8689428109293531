/** A line of the log as people read it, in the browser and in the terminal. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fieldsOf } from './page/log-line.ts';

test('fields are shown without JSON syntax, and empty lists are hidden', () => {
  const line = { time: 't', level: 'info', msg: 'configuration reloaded' };
  const fields = { applied: ['routing.fallback', 'budget.enabled'], needsRestart: [], tries: 2 };
  assert.is(fieldsOf({ ...line, ...fields }), 'applied=routing.fallback, budget.enabled tries=2');
  assert.is(
    fieldsOf({ ...line, why: 'it is full', parts: [{ a: 1 }] }),
    'why=it is full parts=[{"a":1}]',
  );
});

test.run();
