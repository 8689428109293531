import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/index.ts';
import { openDecisions } from './decisions.ts';
import type { Decisions } from './decisions.ts';

async function within(use: (file: string, open: () => Promise<Decisions>) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-decisions-'));
  const file = join(folder, 'decisions.jsonl');
  const onTrouble = (error: Error) => {
    throw error;
  };
  try {
    await use(file, () => openDecisions({ file, clock: systemClock, onTrouble, maxChars: 1000 }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('what was set is there after a restart, the last value of each key', async () => {
  await within(async (file, open) => {
    const first = await open();
    first.set('a', '1');
    first.set('b', '2');
    first.set('a', '3');
    await first.flush();
    const again = await open();
    assert.equal([again.get('a'), again.get('b'), again.size], ['3', '2', 2]);
    assert.is(statSync(file).mode & 0o777, 0o600);
  });
});

test("somebody else's file is put aside, and reported", async () => {
  await within(async (file) => {
    writeFileSync(file, 'my notes\nof a day\n');
    const troubles: string[] = [];
    const onTrouble = (error: Error) => void troubles.push(error.message);
    const decisions = await openDecisions({ file, clock: systemClock, onTrouble });
    decisions.set('a', '1');
    await decisions.flush();
    assert.match(troubles.join(), /does not contain decisions; it was moved to .*corrupt-/);
    const aside = readdirSync(dirname(file)).find((name) => name.includes('corrupt-'));
    assert.is(readFileSync(join(dirname(file), aside!), 'utf8'), 'my notes\nof a day\n');
    assert.is(readFileSync(file, 'utf8'), '["a","1"]\n');
  });
});

test('the oldest go when there are too many characters, also after a restart', async () => {
  await within(async (_file, open) => {
    const first = await open();
    for (let n = 0; n < 20; n++) first.set(`k${n}`, 'x'.repeat(98));
    assert.equal([first.size, first.get('k0'), first.get('k19')?.length], [9, undefined, 98]);
    await first.flush();
    const again = await open();
    assert.equal([again.size, again.get('k10'), again.get('k11')?.length], [9, undefined, 98]);
  });
});

test('the file is written anew before what is out of use grows without end', async () => {
  await within(async (file, open) => {
    const decisions = await open();
    for (let n = 0; n < 60; n++) {
      decisions.set('one', `${n}`.padEnd(100_000, '.'));
      await decisions.flush();
    }
    assert.ok(readFileSync(file).length < 2.5 * 1024 * 1024);
    const again = await open();
    assert.ok(again.get('one')?.startsWith('59.'));
  });
});

test.run();
