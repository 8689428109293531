import { appendFileSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openDecisions } from './decisions.ts';

const never = (error: Error) => {
  throw error;
};

const newFile = () => join(mkdtempSync(join(tmpdir(), 'svc-decisions-')), 'decisions.jsonl');

test('what was decided is there at once, and after a restart', async () => {
  const file = newFile();
  const first = await openDecisions({ file, onTrouble: never });
  first.set('mode:a', 'hybrid');
  first.set('mode:b', 'strict');
  first.set('mode:a', 'aggressive');
  assert.is(first.get('mode:a'), 'aggressive');
  await first.flush();
  const second = await openDecisions({ file, onTrouble: never });
  assert.is(second.get('mode:a'), 'aggressive');
  assert.is(second.get('mode:b'), 'strict');
  assert.is(second.get('__proto__'), undefined);
  assert.is(statSync(file).mode & 0o777, 0o600);
});

test('a last line that was cut short loses itself and nothing else', async () => {
  const file = newFile();
  const first = await openDecisions({ file, onTrouble: never });
  first.set('k', 'v');
  await first.flush();
  appendFileSync(file, '["half","val');
  const second = await openDecisions({ file, onTrouble: never });
  assert.is(second.get('k'), 'v');
  assert.is(second.size, 1);
});

test('a file full of outdated lines is written anew', async () => {
  const file = newFile();
  const decisions = await openDecisions({ file, onTrouble: never });
  for (let n = 0; n < 3000; n += 1) {
    decisions.set('same', `${n}`);
    if (n % 100 === 0) await decisions.flush();
  }
  await decisions.flush();
  assert.ok(readFileSync(file, 'utf8').split('\n').length < 1500);
  const again = await openDecisions({ file, onTrouble: never });
  assert.is(again.get('same'), '2999');
});

test('a disk that refuses is told, and decisions last in memory', async () => {
  const troubles: Error[] = [];
  const file = join(newFile(), 'below', 'a', 'file');
  const decisions = await openDecisions({ file, onTrouble: (error) => troubles.push(error) });
  decisions.set('k', 'v');
  await decisions.flush();
  assert.is(decisions.get('k'), 'v');
  assert.is(troubles.length, 1);
});

test.run();
