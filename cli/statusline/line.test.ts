/**
 * The line itself: precedence of figures, omissions, output formats, and no terminal control from
 * outside.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { figuresOf } from './figures.ts';
import { FIELD_NAMES, SESSION_FORMAT, TODAY_FORMAT, statusLine } from './line.ts';
import type { LineOptions } from './line.ts';

const NOW_MS = new Date(2026, 10, 28, 14, 0).getTime();
const inHours = (hours: number): number => NOW_MS + hours * 3_600_000;
const iso = (atMs: number): string => new Date(atMs).toISOString();

const CLIENT = {
  session_id: 'one',
  model: { id: 'claude-opus-5-5', display_name: 'Opus 5.5' },
  workspace: { current_dir: '/home/me/shop' },
  cost: { total_cost_usd: 1.5 },
  context_window: { used_percentage: 42, context_window_size: 1_000_000 },
  prompt_cache: { hit_ratio: 0.91 },
  rate_limits: {
    five_hour: { used_percentage: 40, resets_at: inHours(2) / 1000 },
    seven_day: { used_percentage: 70, resets_at: inHours(60) / 1000 },
  },
};
const plan = (key: string, window: string, used: number, more: object = {}) => ({
  provider: 'messages',
  key,
  kind: 'plan',
  window,
  used,
  resets_at: iso(inHours(2)),
  used_up_at: null,
  ...more,
});
const session = (cost: number, saved: number, key: string | null) => ({
  requests: 7,
  cost_usd: cost,
  saved_usd: saved,
  saved_tokens: 12_345,
  cache_ratio: 0.8,
  provider: key === null ? null : 'messages',
  key,
});
const STATUS = {
  sessions: { one: session(2, 0.5, 'client 1'), other: session(9, 9, 'client 2') },
  today: { day: iso(NOW_MS).slice(0, 10), ...session(30, 10, null) },
  limits: [
    plan('client 2', '5h', 0.99),
    plan('client 1', '5h', 0.6, { used_up_at: iso(inHours(1.5)) }),
    { ...plan('client 1', 'requests', 1), kind: 'rate' },
  ],
};

interface LineInput extends Partial<LineOptions> {
  readonly client?: object | undefined;
  readonly status?: object;
  readonly isRunning?: boolean;
}

function line({ client, status = STATUS, isRunning = true, ...options }: LineInput): string {
  const figures = figuresOf(
    client as Readonly<Record<string, unknown>>,
    { ...status },
    { nowMs: NOW_MS, isRunning },
  );
  return statusLine(figures, {
    format: client === undefined ? TODAY_FORMAT : SESSION_FORMAT,
    shownIn: 'plain',
    hasColors: true,
    width: Number.POSITIVE_INFINITY,
    nowMs: NOW_MS,
    ...options,
  });
}

test('a session shows what svc counted for it, and the window of its credential that ends first', () => {
  assert.is(
    line({ client: CLIENT }),
    'Opus 5.5 | ctx 42% | $2.00 | saved $0.5000 | cache 80% | 5h 60%, used up ~15:30',
  );
  const all = line({ client: CLIENT, format: '{windows}' });
  assert.match(all, /^5h 60%, used up ~15:30, 7d 70%, resets (?:Sun|Mon|Tue) \d\d:00$/);
});

test('figures unknown to svc come from the client, and are marked as such', () => {
  const foreign = line({ client: { ...CLIENT, session_id: 'foreign' } });
  assert.match(
    foreign,
    /^Opus 5\.5 \| ctx 42% \| \$1\.50 \| cache 91% \| 7d 70%, .* \| not through svc$/,
  );
  const alone = line({ client: CLIENT, status: {}, isRunning: false });
  assert.match(alone, /^Opus 5\.5 \| ctx 42% \| \$1\.50 \| cache 91% \| 7d 70%, .* \| svc off$/);
  // A name such as `__proto__` is not a session.
  const proto = line({ client: { ...CLIENT, session_id: '__proto__' } });
  assert.match(proto, 'not through svc');
});

test('without a client the line shows the figures of today for all credentials', () => {
  assert.is(
    line({ client: undefined }),
    'today $30.00 | saved $10.00 | cache 80% | 5h 60%, used up ~15:30',
  );
  const yesterday = { ...STATUS, today: { ...STATUS.today, day: '2026-11-27' }, limits: [] };
  assert.is(line({ client: undefined, status: yesterday, isRunning: false }), 'svc off');
});

test('during a break the end of a window moves with the clock, until the window has elapsed', () => {
  // Half an hour's use is left; the file is as it was when the break began.
  const ends = { used_up_at: iso(inHours(-1)), used_per_hour: 0.8 };
  const shown = (resets: number): string => {
    const limits = [plan('client 1', '5h', 0.6, { ...ends, resets_at: iso(inHours(resets)) })];
    return line({ client: CLIENT, status: { ...STATUS, limits }, format: '{windows}' });
  };
  assert.match(shown(2), '5h 60%, used up ~14:30');
  assert.match(shown(0.4), '5h 60%, resets');
});

test('a window that has started again is not shown with its old use', () => {
  const limits = [plan('client 1', '5h', 0.9, { resets_at: iso(NOW_MS - 1) })];
  const rate_limits = { five_hour: { used_percentage: 90, resets_at: NOW_MS / 1000 - 1 } };
  const shown = line({ client: { ...CLIENT, rate_limits }, status: { ...STATUS, limits } });
  assert.not.match(shown, '5h');
});

test('segments without data are omitted, and the least important ones on a narrow line', () => {
  assert.is(line({ client: {}, status: {} }), '');
  assert.is(line({ client: { model: { id: 'm' } }, status: {} }), 'm');
  assert.is(line({ client: CLIENT, width: 45 }), 'Opus 5.5 | ctx 42% | 5h 60%, used up ~15:30');
  assert.is(line({ client: CLIENT, width: 30 }), 'ctx 42% | 5h 60%, used up ~15:30'.slice(10));
  assert.is(line({ client: CLIENT, width: 5 }), '5h 60');
  for (let width = 1; width < 100; width += 1)
    assert.ok(line({ client: CLIENT, width }).length <= width, `${width}`);
});

test('a template can use every field, and leaves unknown ones unchanged', () => {
  for (const name of FIELD_NAMES.filter((one) => one !== 'svc'))
    assert.is.not(line({ client: CLIENT, format: `{${name}}` }), '', name);
  assert.is(line({ client: CLIENT, format: '{svc}' }), '');
  assert.is(line({ client: CLIENT, format: '{toString} {cost}!' }), '{toString} $2.00!');
  assert.is(
    line({
      client: CLIENT,
      format: '{directory} {context_size} {saved_percent} {saved_tokens} {requests}',
    }),
    'shop 1M 20% 12k 7',
  );
});

test('colours are those of the terminal that shows the line', () => {
  const shown = (options: Partial<LineOptions>) =>
    line({ client: CLIENT, format: '{saved}', ...options });
  assert.is(shown({ shownIn: 'claude-code' }), '\u001b[32msaved $0.5000\u001b[0m');
  assert.is(shown({ shownIn: 'tmux' }), '#[fg=green]saved $0.5000#[default]');
  assert.is(shown({ shownIn: 'starship' }), 'saved $0.5000');
  assert.is(shown({ shownIn: 'claude-code', hasColors: false }), 'saved $0.5000');
  const model = { display_name: 'a#[fg=red]b' };
  assert.is(
    line({ client: { model }, status: {}, shownIn: 'tmux', hasColors: false }),
    'a##[fg=red]b',
  );
});

test('implausible numbers are treated as unknown', () => {
  for (const value of [-1, -1e300, 1e300, Number.MAX_SAFE_INTEGER]) {
    const client = {
      cost: { total_cost_usd: value },
      context_window: { used_percentage: value, context_window_size: value },
      prompt_cache: { hit_ratio: value },
      rate_limits: { five_hour: { used_percentage: value, resets_at: 1 } },
    };
    const format = '{context} | {context_size} | {cost} | {cache} | {windows}';
    assert.is(line({ client, status: {}, format }), '', `${value}`);
    const rate_limits = { five_hour: { used_percentage: 40, resets_at: value } };
    assert.is(line({ client: { rate_limits }, status: {}, format: '{windows}' }), '5h 40%');
  }
});

test('input of any type is accepted and printed as text', () => {
  const hostile = {
    session_id: 'one',
    model: { display_name: 'x\u001b]0;owned\u0007\n\u009b2J' },
    workspace: { current_dir: '/a/\u001b[31mb' },
  };
  const shown = line({ client: hostile, format: '{model} {directory}' });
  // oxlint-disable-next-line no-control-regex -- looks for control characters
  assert.not.match(shown, /[\u0000-\u001f\u0080-\u009f]/);
  for (const value of [null, [], 'x', -1, Number.POSITIVE_INFINITY, Number.NaN, {}, true]) {
    const client = Object.fromEntries(Object.keys(CLIENT).map((name) => [name, value]));
    const status = {
      sessions: value,
      today: value,
      limits: [value, { kind: 'plan', used: value, window: value }],
    };
    assert.type(line({ client, status }), 'string');
    assert.type(line({ client: undefined, status }), 'string');
  }
});

test.run();
