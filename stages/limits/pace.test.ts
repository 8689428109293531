/** How long a window will last, on synthetic days. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom } from '../../fixtures/random.ts';
import { paceOf, usedUpAtMs } from './pace.ts';
import type { Sample } from './pace.ts';

const HOUR_MS = 3_600_000;
const SPAN = { minutes: 300, resetsAtMs: 5 * HOUR_MS };

test('a steady use goes on as it was', () => {
  const samples = [0, 1, 2].map((hour) => ({ atMs: hour * HOUR_MS, used: hour * 0.3 }));
  const pace = paceOf(samples, SPAN);
  assert.is(Math.round(pace * HOUR_MS * 1000), 300);
  const atMs = usedUpAtMs(samples.at(-1)!, pace, SPAN.resetsAtMs)!;
  assert.is(Math.round(atMs / 60_000), 200);
});

test('the last fifth counts, not what was before it', () => {
  const samples = [
    { atMs: 0, used: 0 },
    { atMs: HOUR_MS, used: 0.5 },
    { atMs: 3 * HOUR_MS, used: 0.5 },
    { atMs: 4 * HOUR_MS, used: 0.52 },
  ];
  assert.is(Math.round(paceOf(samples, SPAN) * HOUR_MS * 1000), 20);
  assert.is(usedUpAtMs(samples.at(-1)!, paceOf(samples, SPAN), SPAN.resetsAtMs), undefined);
});

test('where svc was started in the middle, what the window has used so far counts', () => {
  const samples = [{ atMs: 2 * HOUR_MS, used: 0.8 }];
  assert.is(Math.round(paceOf(samples, SPAN) * HOUR_MS * 1000), 400);
});

test('nothing used lasts, what is full is used up, what goes down has no pace', () => {
  assert.is(paceOf([], SPAN), 0);
  assert.is(usedUpAtMs({ atMs: 0, used: 0 }, 0, HOUR_MS), undefined);
  assert.is(usedUpAtMs({ atMs: 7, used: 1.2 }, 0, HOUR_MS), 7);
  const down = [
    { atMs: HOUR_MS, used: 0.6 },
    { atMs: 3 * HOUR_MS, used: 0.5 },
  ];
  assert.is(paceOf(down, SPAN), 0);
});

/** Returns a day's usage by the minute: even, in bursts of ten minutes, or with an early pause of an hour. */
function dayOf(kind: number, seed: number): readonly Sample[] {
  const random = createRandom(seed);
  let used = 0;
  return Array.from({ length: 300 }, (_, minute) => {
    const isOn = [true, Math.floor(minute / 10) % 2 === 0, minute < 20 || minute > 80][kind]!;
    used += isOn ? (0.004 + random() * 0.004) * [1, 2, 1][kind]! : 0;
    return { atMs: minute * 60_000, used };
  });
}

test('at half of a window the end is foretold within a tenth of it, in nine of ten days', () => {
  let near = 0;
  for (let day = 0; day < 30; day += 1) {
    const samples = dayOf(day % 3, day + 1);
    const end = samples.find(({ used }) => used >= 1);
    const half = samples.filter(({ atMs }) => atMs <= 2.5 * HOUR_MS);
    const found = usedUpAtMs(half.at(-1)!, paceOf(half, SPAN), SPAN.resetsAtMs);
    const lengthMs = SPAN.resetsAtMs;
    const off = Math.abs((found ?? lengthMs) - (end?.atMs ?? lengthMs)) / lengthMs;
    near += off <= 0.1 ? 1 : 0;
  }
  assert.ok(near >= 27, `${near} of 30`);
});

test.run();
