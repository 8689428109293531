/** `budget.*`: the spending guard. */
import { count, dollars, flag, kind, wholeNumber } from '../settings/kind.ts';
import { isRaised, isSwitchedOff, setting } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';

const DOLLARS = '0 <= number <= 1000000000';

export const budget = slice({
  enabled: setting('budget.enabled', {
    type: flag,
    default: false,
    about: 'Refuse requests that would exceed one of the limits below with status 402.',
    loosens: isSwitchedOff,
  }),
  totalTokens: setting('budget.total_tokens', {
    type: count('tokens', 1),
    default: null,
    defaultText: 'no limit',
    about: 'Tokens that this proxy may use per day.',
    loosens: isRaised,
  }),
  perRequestUsd: setting('budget.per_request_usd', {
    type: dollars,
    default: null,
    defaultText: 'no limit',
    about: 'US dollars that one request may cost, as estimated before it is sent.',
    loosens: isRaised,
  }),
  perSessionUsd: setting('budget.per_session_usd', {
    type: dollars,
    default: null,
    defaultText: 'no limit',
    about:
      'US dollars that one session of a client, or one conversation, may cost. A restart remembers the sessions that a client names, as far back as `metrics.retention_days`.',
    loosens: isRaised,
  }),
  perDayUsd: setting('budget.per_day_usd', {
    type: dollars,
    default: null,
    defaultText: 'no limit',
    about: 'US dollars per day (UTC).',
    loosens: isRaised,
  }),
  perMonthUsd: setting('budget.per_month_usd', {
    type: dollars,
    default: null,
    defaultText: 'no limit',
    about: 'US dollars per calendar month (UTC).',
    loosens: isRaised,
  }),
  projects: setting('budget.projects', {
    type: kind(
      { '[string]': { 'per_day_usd?': DOLLARS, 'per_month_usd?': DOLLARS, '+': 'reject' } },
      'a map of projects, each with per_day_usd, per_month_usd or both',
    ),
    default: null,
    defaultText: 'no limit',
    about:
      'US dollars per day and per month (UTC) that the requests of a project may cost, such as `{ shop: { per_day_usd: 5 } }`. The limits of a key are set with `svc auth`.',
    guarded: true,
    read: (projects) =>
      new Map(
        Object.entries(projects ?? {}).map(([name, limits]) => [
          name,
          { perDayUsd: limits.per_day_usd ?? null, perMonthUsd: limits.per_month_usd ?? null },
        ]),
      ),
  }),
  warnPercent: setting('budget.warn_percent', {
    type: wholeNumber(1, 100, 'a percentage'),
    default: 80,
    about: 'Percentage of a limit from which a warning is given.',
  }),
});
