/**
 * Days of work replayed as the responses of both vendors, to compare the predicted end of a window
 * with its real end at half of the window and during a break.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom } from '../../fixtures/random.ts';
import { createPlanLimits } from './plan-limits.ts';

const MINUTE_MS = 60_000;
const LENGTH_MIN = 300;
const HALF_MIN = LENGTH_MIN / 2;

interface Minute {
  readonly used: number;
  readonly isWorked: boolean;
}

const KINDS = ['steady', 'bursts', 'a pause'] as const;

/**
 * Returns the use of a window by the minute: in one go, in bursts with gaps of 5 to 25 minutes, or
 * with a pause of 30 to 60 minutes at any time. Some days stay below the limit.
 */
function dayOf(kind: (typeof KINDS)[number], seed: number): readonly Minute[] {
  const random = createRandom(seed);
  const scale = 0.5 + 0.6 * random();
  const pauseMin = 30 + 30 * random();
  const pauseAt = random() * (LENGTH_MIN - pauseMin);
  let used = 0;
  let isOn = true;
  let turnsAt = 5 + 20 * random();
  return Array.from({ length: LENGTH_MIN }, (_, minute) => {
    if (minute >= turnsAt) {
      isOn = !isOn;
      turnsAt = minute + 5 + 20 * random();
    }
    const isPaused = minute >= pauseAt && minute < pauseAt + pauseMin;
    const isWorked = { steady: true, bursts: isOn, 'a pause': !isPaused }[kind];
    const use = (0.004 + 0.004 * random()) * scale * (kind === 'bursts' ? 2 : 1);
    if (isWorked) used += use;
    return { used, isWorked };
  });
}

/** Headers as each vendor sends them: two digits of a share, whole percents. */
const VENDORS: readonly ((used: number, resetsAtS: number) => readonly string[])[] = [
  (used, resetsAtS) => [
    'anthropic-ratelimit-unified-5h-utilization',
    used.toFixed(2),
    'anthropic-ratelimit-unified-5h-reset',
    String(resetsAtS),
  ],
  (used, resetsAtS) => [
    'x-codex-primary-used-percent',
    String(Math.round(used * 100)),
    'x-codex-primary-window-minutes',
    String(LENGTH_MIN),
    'x-codex-primary-reset-at',
    String(resetsAtS),
  ],
];

/** Replays `day` up to `untilMin`, and returns the minute of its foretold end. */
function predictedMin(day: readonly Minute[], vendor: number, untilMin: number): number {
  let nowMs = 0;
  const limits = createPlanLimits({ wallMs: () => nowMs });
  const key = { provider: 'messages', label: 'plan', sent: [], request: 'r' };
  for (const [minute, { used, isWorked }] of day.slice(0, untilMin + 1).entries()) {
    nowMs = minute * MINUTE_MS;
    if (isWorked) limits.note(key, VENDORS[vendor]!(used, LENGTH_MIN * 60));
  }
  const [limit] = limits.list();
  return (limit?.usedUpAtMs ?? LENGTH_MIN * MINUTE_MS) / MINUTE_MS;
}

const endMin = (day: readonly Minute[]): number => {
  const at = day.findIndex(({ used }) => used >= 1);
  return at < 0 ? LENGTH_MIN : at;
};

/** The share of `count` days whose end is foretold at half of the window within a tenth of it. */
function shareFound(count: number, firstSeed: number): number {
  let near = 0;
  for (let at = 0; at < count; at += 1) {
    const day = dayOf(KINDS[at % KINDS.length]!, firstSeed + at);
    const off = Math.abs(predictedMin(day, at % VENDORS.length, HALF_MIN) - endMin(day));
    near += off <= LENGTH_MIN / 10 ? 1 : 0;
  }
  return near / count;
}

test('at half of a window its end is predicted within a tenth of the window on nine of ten days', () => {
  for (const [count, seed] of [
    [30, 1],
    [300, 1000],
  ] as const) {
    const share = shareFound(count, seed);
    assert.ok(share >= 0.9, `${Math.round(share * count)} of ${count}`);
  }
});

const HOURS_PER_WEEK = 168;

/** Returns the use of a week by five minutes, from nine to six each day; it begins at any hour. */
function weekOf(seed: number): readonly number[] {
  const random = createRandom(seed);
  const firstHour = Math.floor(random() * 24);
  const total = 0.7 + 0.9 * random();
  const uses = Array.from({ length: HOURS_PER_WEEK * 12 }, (_, step) => {
    const hour = (firstHour + step / 12) % 24;
    return hour >= 9 && hour < 18 && random() < 0.7 ? 0.5 + random() : 0;
  });
  const sum = uses.reduce((all, use) => all + use, 0);
  return uses.map((use) => (use / sum) * total);
}

test('the end of a week is predicted as well, and its nights do not count as pauses', () => {
  const lengthMs = HOURS_PER_WEEK * 60 * MINUTE_MS;
  let near = 0;
  for (let seed = 1; seed <= 200; seed += 1) {
    let nowMs = 0;
    const limits = createPlanLimits({ wallMs: () => nowMs });
    const key = { provider: 'messages', label: 'plan', sent: [], request: 'r' };
    let used = 0;
    let endMs = lengthMs;
    for (const [step, use] of weekOf(seed).entries()) {
      used += use;
      const atMs = step * 5 * MINUTE_MS;
      if (used >= 1) endMs = Math.min(endMs, atMs);
      if (atMs > lengthMs / 2) continue;
      nowMs = atMs;
      if (use > 0)
        limits.note(key, [
          'anthropic-ratelimit-unified-7d-utilization',
          used.toFixed(2),
          'anthropic-ratelimit-unified-7d-reset',
          String(lengthMs / 1000),
        ]);
    }
    const predictedMs = limits.list()[0]?.usedUpAtMs ?? lengthMs;
    near += Math.abs(predictedMs - endMs) <= lengthMs / 10 ? 1 : 0;
  }
  assert.ok(near >= 180, `${near} of 200`);
});

test('a break alone does not use up a window', () => {
  // Half is used in the first hour, followed by a break of an hour and a half.
  const day = Array.from({ length: LENGTH_MIN }, (_, minute) => ({
    used: Math.min(minute, 60) / 120,
    isWorked: minute <= 60,
  }));
  for (const vendor of VENDORS.keys()) {
    assert.ok(Math.abs(predictedMin(day, vendor, 60) - 120) <= 5);
    const after = predictedMin(day, vendor, HALF_MIN);
    assert.ok(after >= HALF_MIN + 50, `foretold ${after}, seen at ${HALF_MIN}`);
  }
});

test.run();
