/** `alerts`: when to say that something is amiss. */
import type { type } from 'arktype';
import { kind, TEXT } from '../../stages/settings/kind.ts';
import { quote, setting } from '../../stages/settings/setting.ts';
import type { Refusal } from '../../stages/settings/setting.ts';
import { didYouMean } from '../config/distance.ts';
import { ALERT_METRICS, isAlertMetric } from './metrics.ts';
import type { AlertMetric } from './metrics.ts';

const MINUTES = '1 <= number.integer <= 44640';
const LIMIT = '-1000000000000 <= number <= 1000000000000';

/** One rule as it is written. */
const RULE = {
  name: TEXT,
  when: {
    metric: TEXT,
    'above?': LIMIT,
    'below?': LIMIT,
    'window_minutes?': MINUTES,
    '+': 'reject',
  },
  'message?': TEXT,
  'cooldown_minutes?': MINUTES,
  '+': 'reject',
} as const;

type WrittenRule = type.infer<typeof RULE>;

const MINUTE_MS = 60_000;

export const alerts = setting('alerts', {
  type: kind(
    [RULE, '[]'],
    'a list of maps, each with name, when: { metric, above or below, window_minutes }, message and cooldown_minutes',
  ),
  default: [],
  about:
    'Rules that a running proxy evaluates every minute and `svc check-alerts` at once, such as `{ name: slow, when: { metric: p95_latency_ms, above: 20000, window_minutes: 15 }, cooldown_minutes: 60 }`.',
  guarded: true,
  refuse: (rules) => {
    const names = rules.map((rule) => rule.name);
    return rules.flatMap((rule, at): readonly Refusal[] => {
      const isTaken = names.indexOf(rule.name) < at;
      const reason = isTaken ? 'another rule has this name' : reasonAgainst(rule);
      return reason === undefined ? [] : [{ reason: `${quote(rule.name)}: ${reason}` }];
    });
  },
  read: (rules) => rules.map(toRule),
});

/** A rule as it is evaluated; exactly one of the two limits is there. */
function toRule({ name, when, message, cooldown_minutes: cooldownMinutes = 60 }: WrittenRule) {
  const { above, below, window_minutes: windowMinutes = 5 } = when;
  return {
    name,
    // Others were refused before.
    metric: when.metric as AlertMetric,
    above: above ?? null,
    below: below ?? null,
    windowMs: windowMinutes * MINUTE_MS,
    message: message ?? null,
    cooldownMs: cooldownMinutes * MINUTE_MS,
  };
}

function reasonAgainst({ when }: WrittenRule): string | undefined {
  const { metric, above, below, window_minutes: windowMinutes } = when;
  const known = Object.keys(ALERT_METRICS);
  if (!isAlertMetric(metric)) {
    const hint = didYouMean(metric, known) || `; there are ${known.join(', ')}`;
    return `${quote(metric)} is not a metric${hint}`;
  }
  if ((above === undefined) === (below === undefined)) return 'expected either above or below';
  if (windowMinutes !== undefined && ALERT_METRICS[metric] !== 'window')
    return `${metric} has no window; leave window_minutes out`;
  return undefined;
}
