/** Limits as providers state them in response headers. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { statedWindows } from './windows.ts';

const NOW_MS = Date.parse('2026-11-27T12:00:00Z');
const inS = (seconds: number): number => NOW_MS + seconds * 1000;

/** Returns the windows in these headers, each as `kind name used minutes reset status`. */
function windowsOf(fields: Readonly<Record<string, string>>): string[] {
  return statedWindows(Object.entries(fields).flat(), NOW_MS).map(
    ({ kind, name, used, minutes, resetsAtMs, status }) =>
      [
        kind,
        name,
        Math.round(used * 1000) / 1000,
        minutes ?? '-',
        resetsAtMs === undefined ? '-' : (resetsAtMs - NOW_MS) / 1000,
        status ?? '-',
      ].join(' '),
  );
}

test('every window of a subscription is read, including those of single models', () => {
  assert.equal(
    windowsOf({
      'Anthropic-Ratelimit-Unified-Status': 'allowed_warning',
      'anthropic-ratelimit-unified-reset': String(inS(600) / 1000),
      'anthropic-ratelimit-unified-5h-status': 'allowed',
      'anthropic-ratelimit-unified-5h-utilization': '0.42',
      'anthropic-ratelimit-unified-5h-reset': String(inS(600) / 1000),
      'anthropic-ratelimit-unified-7d-status': 'allowed_warning',
      'anthropic-ratelimit-unified-7d-utilization': '0.94',
      'anthropic-ratelimit-unified-7d-reset': String(inS(86_400) / 1000),
      'anthropic-ratelimit-unified-7d-surpassed-threshold': '0.75',
      'anthropic-ratelimit-unified-7d_opus-status': 'rejected',
      'anthropic-ratelimit-unified-7d_opus-utilization': '1.02',
      'anthropic-ratelimit-unified-overage-status': 'rejected',
      'anthropic-ratelimit-unified-fallback-percentage': '0.5',
      'anthropic-ratelimit-unified-representative-claim': 'seven_day',
    }),
    [
      'plan 5h 0.42 300 600 allowed',
      'plan 7d 0.94 10080 86400 allowed_warning',
      'plan 7d_opus 1.02 10080 - rejected',
    ],
  );
});

test('the windows of a ChatGPT plan are named by their length', () => {
  assert.equal(
    windowsOf({
      'x-codex-primary-used-percent': '12.5',
      'x-codex-primary-window-minutes': '300',
      'x-codex-primary-reset-after-seconds': '900',
      'x-codex-secondary-used-percent': '84',
      'x-codex-secondary-window-minutes': '10080',
      'x-codex-secondary-reset-at': String(inS(3600) / 1000),
      'x-codex-primary-over-secondary-limit-percent': '3',
      'x-codex-plan-type': 'plus',
      'x-codex-spark-primary-used-percent': '7',
      'x-codex-spark-primary-window-minutes': '300',
    }),
    ['plan 5h 0.125 300 900 -', 'plan 7d 0.84 10080 3600 -', 'plan 5h_spark 0.07 300 - -'],
  );
});

test('a plan with one window has no second one', () => {
  assert.equal(
    windowsOf({
      'x-codex-primary-used-percent': '40',
      'x-codex-primary-window-minutes': '43200',
      'x-codex-secondary-used-percent': '0',
      'x-codex-secondary-window-minutes': '0',
    }),
    ['plan 30d 0.4 43200 - -'],
  );
});

test('rate limits of keys are read, with waits and with dates', () => {
  assert.equal(
    windowsOf({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '45',
      'x-ratelimit-reset-requests': '1m30s',
      'x-ratelimit-limit-tokens': '150000',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-tokens': '6ms',
      'anthropic-ratelimit-input-tokens-limit': '1000',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-27T12:01:00Z',
    }),
    ['rate requests 0.25 - 90 -', 'rate tokens 0 - 0.006 -', 'rate input-tokens 1 - 60 -'],
  );
});

test('a value that is not a number is not a limit', () => {
  const notNumbers = ['', '-1', 'NaN', '1e9', '0x10', '９', '12,5', 'unlimited', '1'.repeat(40)];
  for (const value of notNumbers) {
    assert.equal(windowsOf({ 'anthropic-ratelimit-unified-5h-utilization': value }), []);
    assert.equal(windowsOf({ 'x-codex-primary-used-percent': value }), []);
    assert.equal(windowsOf({ 'x-ratelimit-limit-tokens': value }), []);
  }
  assert.equal(
    windowsOf({ 'x-ratelimit-limit-tokens': '0', 'x-ratelimit-remaining-tokens': '0' }),
    [],
  );
  assert.equal(windowsOf({ 'content-type': 'text/plain', 'x-codex-': '1', date: 'x' }), []);
});

test('an implausible reset time or length is unknown', () => {
  const far = ['8640000000001', '9999999999999', String(NOW_MS), '0', '1'];
  for (const value of far) {
    const used = { 'anthropic-ratelimit-unified-5h-utilization': '0.5' };
    assert.equal(windowsOf({ ...used, 'anthropic-ratelimit-unified-5h-reset': value }), [
      'plan 5h 0.5 300 - -',
    ]);
    const percent = { 'x-codex-primary-used-percent': '5' };
    assert.equal(windowsOf({ ...percent, 'x-codex-primary-reset-at': value }), [
      'plan primary 0.05 - - -',
    ]);
  }
  const rate = { 'x-ratelimit-limit-tokens': '4', 'x-ratelimit-remaining-tokens': '1' };
  for (const value of ['999999999d', '-1', '1', 'soon', '12/11/2026', '2026-13-45T99:00:00Z'])
    assert.equal(windowsOf({ ...rate, 'x-ratelimit-reset-tokens': value }), [
      'rate tokens 0.75 - - -',
    ]);
  const percent = { 'x-codex-primary-used-percent': '5' };
  for (const [after, length] of [
    ['9999999999999', '300'],
    [String(NOW_MS / 1000), '300'],
    ['900', '9999999999999'],
  ] as const) {
    const [window] = windowsOf({
      ...percent,
      'x-codex-primary-reset-after-seconds': after,
      'x-codex-primary-window-minutes': length,
    });
    assert.is(window, after === '900' ? 'plan primary 0.05 - 900 -' : 'plan 5h 0.05 300 - -');
  }
  const long = `${'9'.repeat(400)}d`;
  assert.equal(windowsOf({ [`anthropic-ratelimit-unified-${long}-utilization`]: '0.5' }), [
    `plan ${long} 0.5 - - -`,
  ]);
});

test.run();
