/** The pace at which a window is used, and the time when it will be used up. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { paceOf, usedUpAtMs } from './pace.ts';
import type { Sample } from './pace.ts';

const HOUR_MS = 3_600_000;
const SPAN = { minutes: 300, resetsAtMs: 5 * HOUR_MS };

/** The pace per hour, in thousandths, as of `nowMs`. */
const perHour = (samples: readonly Sample[], nowMs = samples.at(-1)!.atMs): number =>
  Math.round(paceOf(samples, SPAN, nowMs) * HOUR_MS * 1000);

/** A sample every ten minutes, with the hourly use given for each hour. */
function hours(...uses: readonly number[]): readonly Sample[] {
  const samples: Sample[] = [{ atMs: 0, used: 0 }];
  for (const use of uses)
    for (let part = 0; part < 6; part += 1) {
      const { atMs, used } = samples.at(-1)!;
      samples.push({ atMs: atMs + HOUR_MS / 6, used: used + use / 6 });
    }
  return samples;
}

test('steady use is extrapolated unchanged', () => {
  const samples = hours(0.3, 0.3);
  assert.is(perHour(samples), 300);
  const pace = paceOf(samples, SPAN, 2 * HOUR_MS);
  const atMs = usedUpAtMs(samples.at(-1)!, pace, SPAN.resetsAtMs)!;
  assert.is(Math.round(atMs / 60_000), 200);
});

test('only the last two hours of work count', () => {
  assert.is(perHour(hours(0.5, 0.02, 0.02)), 20);
});

test('a break of any length does not lower the pace', () => {
  const worked = hours(0.3, 0.3);
  const after20min = perHour(worked, (2 + 1 / 3) * HOUR_MS);
  assert.is(perHour(worked, 4 * HOUR_MS), after20min);
  const resumed = [...worked, { atMs: 4 * HOUR_MS, used: 0.62 }];
  assert.ok(perHour(resumed) >= after20min);
});

test('use without svc during a gap counts, and so does its time', () => {
  const samples = [...hours(0.1), { atMs: 3 * HOUR_MS, used: 0.5 }];
  assert.is(perHour(samples), 200);
});

test('if svc was started inside a window, the use so far counts', () => {
  assert.is(perHour([{ atMs: 2 * HOUR_MS, used: 0.8 }]), 400);
});

test('an unused window lasts, a full one is used up, and a falling one has no pace', () => {
  assert.is(paceOf([], SPAN, HOUR_MS), 0);
  assert.is(usedUpAtMs({ atMs: 0, used: 0 }, 0, HOUR_MS), undefined);
  assert.is(usedUpAtMs({ atMs: 7, used: 1.2 }, 0, HOUR_MS), 7);
  const down = [
    { atMs: HOUR_MS, used: 0.6 },
    { atMs: 3 * HOUR_MS, used: 0.5 },
  ];
  assert.is(paceOf(down, SPAN, 3 * HOUR_MS), 0);
});

test.run();
