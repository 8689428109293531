/** What is kept of units, and when it is read again. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { UnitMemory } from './unit-memory.ts';
import type { UnitValue } from './unit-memory.ts';
import { MINUTE_MS } from './units.ts';
import type { Units } from './units.ts';
import { HOUR_MS } from '../hours.ts';

const ROWS = { name: 'rows', isOfRows: true };
const SUMS = { name: 'sums', isOfRows: false };

const hours = (from: number, to: number): Units => ({
  fromMs: from * HOUR_MS,
  toMs: to * HOUR_MS,
  lengthMs: HOUR_MS,
});

/** Returns a reader that notes what it reads; units with odd numbers are empty. */
function reader(sizeBytes = 10) {
  const runs: (readonly [from: number, to: number])[] = [];
  const read = async ({ fromMs, toMs, lengthMs }: Units) => {
    runs.push([fromMs / lengthMs, toMs / lengthMs]);
    const found = new Map<number, UnitValue<string>>();
    for (let at = fromMs; at < toMs; at += lengthMs)
      if ((at / lengthMs) % 2 === 0) found.set(at, { value: `unit ${at / lengthMs}`, sizeBytes });
    return found;
  };
  return { runs, read };
}

test('only missing units are read, in runs, and empty ones are remembered', async () => {
  const memory = new UnitMemory();
  const { runs, read } = reader();
  memory.begin();
  assert.equal(await memory.read(ROWS, hours(3, 6), read), [[4 * HOUR_MS, 'unit 4']]);
  const all = await memory.read(ROWS, hours(1, 8), read);
  assert.equal(
    all.map(([, value]) => value),
    ['unit 2', 'unit 4', 'unit 6'],
  );
  assert.equal(runs, [
    [3, 6],
    [1, 3],
    [6, 8],
  ]);
  await memory.read(SUMS, hours(1, 3), read);
  assert.equal(runs.at(-1), [1, 3], 'other facts are read for themselves');
});

test('a unit is read again after new requests in one of its minutes', async () => {
  const memory = new UnitMemory();
  const { runs, read } = reader();
  const seconds = { fromMs: 0, toMs: 3 * MINUTE_MS, lengthMs: 10_000 };
  memory.begin();
  await memory.read(ROWS, hours(0, 9), read);
  await memory.read(ROWS, seconds, read);
  memory.forgetMinutes([1, 4 * 60 + 59]);
  await memory.read(ROWS, hours(0, 9), read);
  await memory.read(ROWS, seconds, read);
  assert.equal(runs.slice(2), [
    [0, 1],
    [4, 5],
    [6, 12],
  ]);
});

test('what rows told is forgotten with them, and sums are not', async () => {
  const memory = new UnitMemory();
  const { runs, read } = reader();
  memory.begin();
  for (const facts of [ROWS, SUMS]) await memory.read(facts, hours(0, 9), read);
  memory.forgetRowsUpto(2 * HOUR_MS + 1);
  for (const facts of [ROWS, SUMS]) await memory.read(facts, hours(0, 9), read);
  assert.equal(runs.slice(2), [[0, 3]]);
});

test('what was read while the ledger changed is not kept', async () => {
  const memory = new UnitMemory();
  const { runs, read } = reader();
  memory.begin();
  const found = await memory.read(ROWS, hours(0, 3), async (units) => {
    memory.forgetMinutes([0]);
    return read(units);
  });
  assert.is(found.length, 2);
  assert.is(memory.sizeBytes, 0);
  await memory.read(ROWS, hours(0, 3), read);
  assert.is(runs.length, 2);
});

test('the size is bounded, and units out of use are removed', async () => {
  const memory = new UnitMemory();
  const { read } = reader(2 ** 20);
  memory.begin();
  for (let hour = 0; hour < 1000; hour += 10) {
    memory.begin();
    const found = await memory.read(ROWS, hours(hour, hour + 10), read);
    assert.is(found.length, 5);
    assert.ok(memory.sizeBytes <= 64 * 2 ** 20);
  }
  for (let report = 0; report < 300; report += 1) memory.begin();
  assert.is(memory.sizeBytes, 0);
  const huge = await memory.read(ROWS, hours(0, 200), read);
  assert.is(huge.length, 100, 'more than may be kept is still found');
  assert.is(memory.sizeBytes, 0);
});

test.run();
