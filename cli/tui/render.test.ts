/** Frames of the dashboard at several sizes, without a terminal. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createColors, withoutColors } from '../screen/colors.ts';
import { widthOf } from '../screen/fit.ts';
import type { LiveState } from '../../server/dashboard/contract.ts';
import { renderScreen } from './render.ts';
import type { Size } from './render.ts';
import { press } from './keys.ts';
import { requestLines } from './requests.ts';
import type { Model } from './model.ts';
import { SIZES, row, REPORT, LIVE, MODEL, PLAIN, TRACE, VIEWS } from './screens-testing.ts';

const textOf = (model: Model, size: Size) => renderScreen(model, size, PLAIN).lines.join('\n');

test('every view fills the screen exactly, and no content can control the terminal', () => {
  for (const [name, model] of VIEWS)
    for (const size of SIZES)
      for (const colors of [PLAIN, createColors(true)]) {
        const { lines } = renderScreen(model, size, colors);
        const where = `${name} at ${size.columns}×${size.rows}`;
        assert.is(lines.length, size.rows, where);
        for (const line of lines) {
          assert.ok(widthOf(line) <= size.columns, `${where}: ${line}`);
          assert.not.match(withoutColors(line), /[\p{Cc}\u202e]/u, where);
        }
      }
});

test('the overview shows savings, cost and failures, also without colours', () => {
  const text = textOf(MODEL, SIZES[0]!);
  assert.match(text, '[1 Overview]');
  assert.match(text, /Requests +12 {2}3 running, up 1 min 5 s/);
  assert.match(text, /Saved +\$1\.50 {2}120K tokens, 55% of input/);
  assert.match(text, /Paid +\$1\.50 {2}\$3\.00 without svc/);
  assert.match(text, /Failed +1 {2}/);
  assert.match(text, 'p99 –');
  assert.match(text, '502 PROVIDER_003');
  assert.match(text, 'messages breaker open, 12 s left');
  assert.match(
    text,
    /^Outlook +fallback 7, failed attempts 31, budget left 12%, thoughts dropped 2$/m,
  );
  assert.match(text, 'degraded');
});

const FIVE_HOURS = {
  provider: 'messages',
  key: 'KEY',
  kind: 'plan',
  window: '5h',
  status: null,
  resets_at: new Date(Date.now() + 7_200_000).toISOString(),
  used_per_hour: 0.1,
  used_up_at: null,
  spared_tokens: 0,
  spared_requests: 0,
};

test('the word in the header reflects the worst known state', () => {
  const word = (change: object, health: object = {}) => {
    const calm = {
      ...LIVE.health,
      status: 'ok',
      reasons: [],
      budget: { enabled: false },
      conversations: { thoughts_dropped: {} },
      ...health,
    };
    const live = { ...LIVE, alerts: [], providers: {}, health: calm, ...change };
    return textOf({ ...MODEL, live: live as unknown as LiveState }, SIZES[0]!).split('  ')[2];
  };
  assert.is(word({}), 'working');
  assert.is(word({}, { paused: true }), 'paused');
  assert.is(word({}, { conversations: { thoughts_dropped: { prefix: 1 } } }), 'needs a look');
  assert.is(word({ alerts: [{ name: 'a', text: 'a: it fires' }] }), 'degraded');
  assert.is(word({}, { reasons: ['ledger: the disk is full'] }), 'degraded');
  const limits = { per_day_usd: 5, per_month_usd: 10 };
  const spent = (left_percent: number, spent_month_usd: number) =>
    word({}, { budget: { enabled: true, left_percent, limits, spent_usd: 1, spent_month_usd } });
  assert.is(spent(80, 5), 'working');
  assert.is(spent(80, 8.5), 'needs a look');
  assert.is(spent(12, 1), 'needs a look');
  assert.is(spent(0, 1), 'degraded');
  const plan = (used: number, more: object = {}) =>
    word({ limits: [{ ...FIVE_HOURS, used, ...more }] });
  assert.is(plan(0.4), 'working');
  assert.is(plan(0.4, { used_up_at: new Date(Date.now() + 60_000).toISOString() }), 'needs a look');
  assert.is(plan(0.85), 'needs a look');
  assert.is(plan(1.02), 'degraded');
  assert.is(plan(0.9, { status: 'rejected' }), 'degraded');
  assert.is(plan(1, { kind: 'rate' }), 'working');
  assert.is(plan(1, { resets_at: new Date(Date.now() - 1).toISOString() }), 'working');
});

test('a plan is shown with its remaining time, or not at all if none is known', () => {
  const text = (limits: readonly object[]) =>
    textOf({ ...MODEL, live: { ...LIVE, limits } as unknown as LiveState }, SIZES[0]!);
  assert.match(
    text([{ ...FIVE_HOURS, used: 0.4 }]).replaceAll(/\s+/g, ' '),
    /plan used 40% \(5h of messages: lasts, resets \d\d:\d\d\)/,
  );
  assert.not.match(text([]), 'plan used');
});

test('a proxy of an older version, which reports no attempts, is shown all the same', () => {
  const { tries: _tries, ...messages } = LIVE.providers['messages']!;
  const { attempts: _attempts, ...report } = REPORT;
  const { conversations: _conversations, ...health } = LIVE.health;
  const older = { ...MODEL, live: { ...LIVE, health, providers: { messages } }, report };
  for (const tab of ['overview', 'providers'] as const)
    assert.match(textOf({ ...older, tab } as unknown as Model, SIZES[0]!), 'messages');
});

test('a screen of 24 rows shows the newest requests below many causes of failure', () => {
  const [failure] = REPORT.failures;
  const report = {
    ...REPORT,
    failures: Array.from({ length: 6 }, () => ({ ...failure!, provider: 'chat' })),
  };
  const live = {
    ...LIVE,
    alerts: [],
    health: { ...LIVE.health, reasons: [] },
    providers: {
      messages: { ...LIVE.providers['messages'], breaker: { state: 'closed', open_for_s: 0 } },
    },
  } as unknown as LiveState;
  const requests = [row(1), row(2)];
  const text = textOf({ ...MODEL, live, report, requests }, { columns: 80, rows: 24 });
  assert.match(text, /^Time +Model.*\n\d\d:\d\d/m);
});

test('a firing alert, a long reason and omitted old results are shown in full', () => {
  const alerts = [{ name: 'spend', text: 'spend: $12 in an hour, over $10' }];
  assert.match(
    textOf({ ...MODEL, live: { ...LIVE, alerts } as unknown as LiveState }, SIZES[0]!),
    /^! Alert spend: \$12 in an hour, over \$10$/m,
  );
  const providers = {
    messages: {
      ...LIVE.providers['messages']!,
      health: {
        state: 'unhealthy',
        reason: `${'it refused the connection, '.repeat(5)}at last`,
        recovers_in_s: 12,
      },
    },
  };
  const live = { ...LIVE, providers } as unknown as LiveState;
  const printed = textOf({ ...MODEL, live, tab: 'providers' }, SIZES[0]!);
  assert.match(printed, /at last, tried again\s+in 12 s/);
  const savings = textOf({ ...MODEL, tab: 'savings' }, SIZES[0]!);
  assert.match(savings, /Saved by old results that were left out +−\$0\.2500/);
  assert.match(savings, /Old results left out +\$0\.2500 {2}7,000 tokens not sent in 2 requests/);
});

test('a cancelled request has no status, and a failed response is an error', () => {
  const requests = [
    row(1, { outcome: 'cancelled', status_code: 200 }),
    row(2, { outcome: 'ok', status_code: 429, failed: true }),
  ];
  const printed = textOf({ ...MODEL, requests, tab: 'requests' }, SIZES[0]!);
  assert.match(printed, /cancelled$/m);
  assert.match(printed, /error 429$/m);
});

test('columns are dropped before figures are cut', () => {
  const wide = textOf({ ...MODEL, tab: 'requests' }, SIZES[2]!);
  for (const head of ['Provider', 'Agent', 'Sent', 'Cost', 'Took', 'Outcome'])
    assert.match(wide, head);
  const narrow = textOf({ ...MODEL, tab: 'requests' }, SIZES[1]!);
  assert.not.match(narrow, 'Provider');
  assert.match(narrow, 'error 502');
});

test('the selected request is marked, stays selected as others arrive, and opens with its stages', () => {
  let model: Model = { ...MODEL, tab: 'requests' };
  const [newest = '', next = ''] = model.requests!.map((one) => one.request_id);
  model = press(model, { name: 'j' }, 20) as Model;
  assert.is(model.selectedId, next);
  model = { ...model, requests: [row(50), ...model.requests!] };
  assert.match(textOf(model, SIZES[0]!), /^> .*モデル模型/mu);
  model = press(model, { name: 'k' }, 20) as Model;
  assert.is(model.selectedId, newest);
  model = press(model, { name: 'g', shift: true }, 20) as Model;
  assert.is(model.selectedId, MODEL.requests!.at(-1)!.request_id);
  model = press(press(model, { name: 'g' }, 20) as Model, { name: 'down' }, 20) as Model;
  const opened = press(model, { name: 'return' }, 20) as Model;
  assert.is(opened.detail?.id, newest);
  const printed = textOf(VIEWS.find(([name]) => name === 'request')![1], { columns: 80, rows: 40 });
  assert.match(printed, /^parse {3}█·+ +1\.0 ms$/m);
  assert.match(printed, /^▸ x {5}·+×+ +60 ms$/m);
  assert.is((press(opened, { name: 'escape' }, 20) as Model).detail, undefined);
});

test('the reason of a refused request is shown, and those of other attempts below the attempts', () => {
  const [, view] = VIEWS.find(([name]) => name === 'request')!;
  const attempt = (provider: string, status: number, words: string) => ({
    ...TRACE.attempts[0]!,
    provider,
    status,
    failure: null,
    words,
  });
  const attempts = [attempt('messages', 529, 'too busy'), attempt('spare', 400, 'no such model')];
  // The client gets the answer of the provider that it asked.
  const trace = { ...TRACE, error: null, provider: 'messages', status: 529, attempts };
  const { detail } = view;
  const json = { ...detail!.json!, trace };
  const printed = textOf({ ...view, detail: { ...detail!, json } }, { columns: 80, rows: 40 });
  const at = (text: string) => printed.indexOf(text);
  const [reason, stages] = [at('messages answered 529: too busy'), at('Stages')];
  assert.ok(reason > 0 && reason < stages, printed);
  assert.ok(at('spare answered 400: no such model') > at('Attempts at providers'));
});

test('filters failed requests, opens views by number, and quits', () => {
  const failed = press({ ...MODEL, tab: 'requests' }, { name: 'f' }, 20) as Model;
  assert.is(textOf(failed, SIZES[0]!).match(/error 502/g)?.length, 1);
  assert.not.match(textOf(failed, SIZES[0]!), 'モデル模型');
  assert.is((press(MODEL, { sequence: '5', name: '5' }, 20) as Model).tab, 'log');
  assert.is((press(MODEL, { name: 'tab', shift: true }, 20) as Model).tab, 'log');
  assert.is(press(MODEL, { name: 'q' }, 20), 'quit');
  assert.is(press(MODEL, { name: 'c', ctrl: true }, 20), 'quit');
});

test('a view cannot be scrolled beyond its end', () => {
  const end = renderScreen({ ...MODEL, tab: 'savings', scroll: 1_000_000 }, SIZES[1]!, PLAIN);
  assert.ok(end.scroll > 0 && end.scroll < 100);
  assert.not.match(end.lines.at(-1)!, 'more below');
});

test('at 80 columns the responding model is shown whole, and the requested one is shortened', () => {
  const answering = 'claude-sonnet-4-5-20250929-preview';
  const requested = 'claude-opus-with-a-very-long-name-4-1-20250805';
  const rows = [row(1, { model_requested: requested, model_resolved: answering }), row(2)];
  for (const columns of [80, 66, 58]) {
    const lines = requestLines(rows, Date.UTC(2026, 0, 1), columns, createColors(false));
    assert.ok(
      lines.every((line) => widthOf(line) <= columns),
      lines.join('\n'),
    );
    assert.ok(lines[1]!.includes(answering), lines[1]);
  }
});

test.run();
