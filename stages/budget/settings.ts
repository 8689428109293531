/** `budget.*`: the spending guard. */
import { count, dollars, flag, whole } from '../settings/kind.ts';
import { isRaised, isSwitchedOff, setting } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';

export const budget = slice({
  enabled: setting('budget.enabled', {
    type: flag,
    default: false,
    about: 'Refuse with 402 what would exceed one of the limits below.',
    loosens: isSwitchedOff,
  }),
  totalTokens: setting('budget.total_tokens', {
    type: count('tokens', 1),
    default: null,
    defaultText: 'no limit',
    about: 'Tokens that this proxy may use a day.',
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
    about: 'US dollars a day (UTC).',
    loosens: isRaised,
  }),
  warnPercent: setting('budget.warn_percent', {
    type: whole(1, 100, 'a percentage'),
    default: 80,
    about: 'Share of a limit from which a warning is given.',
  }),
});
