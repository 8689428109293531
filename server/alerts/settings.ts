/** `alerts`: rules for when to send an alert. */
import type { type } from 'arktype';
import { kind, TEXT } from '../../stages/settings/kind.ts';
import { quote, setting } from '../../stages/settings/setting.ts';
import type { Refusal } from '../../stages/settings/setting.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import { isLoopbackHost } from '../config/address.ts';
import { ALERT_METRICS, isAlertMetric } from './metrics.ts';
import type { AlertMetric } from './metrics.ts';
import { templateOf } from './notify/targets.ts';
import type { NotifyTarget } from './notify/targets.ts';

const MINUTES = '1 <= number.integer <= 44640';
const LIMIT = '-1000000000000 <= number <= 1000000000000';

/** Targets of a rule, as written in the file. */
const NOTIFY = {
  'webhook?': TEXT,
  'template?': "'slack' | 'discord' | 'json'",
  'secret?': TEXT,
  'allow_insecure?': 'boolean',
  'command?': [TEXT, '[]'],
  '+': 'reject',
} as const;

/** One rule, as written in the file. */
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
  'notify?': NOTIFY,
  '+': 'reject',
} as const;

type WrittenRule = type.infer<typeof RULE>;

const MINUTE_MS = 60_000;

export const alerts = setting('alerts', {
  type: kind(
    [RULE, '[]'],
    'a list of maps, each with name, when: { metric, above or below, window_minutes }, message, cooldown_minutes and notify: { webhook, template, secret, command }',
  ),
  default: [],
  about:
    'Rules that a running proxy evaluates every minute and `svc check-alerts` at once, such as `{ name: slow, when: { metric: p95_latency_ms, above: 20000, window_minutes: 15 }, cooldown_minutes: 60 }`; `notify` sends them on. `webhook` and `secret` take `${NAME}`.',
  guarded: true,
  secretMembers: ['webhook', 'secret'],
  refuse: (rules) => {
    const names = rules.map((rule) => rule.name);
    return rules.flatMap((rule, index): readonly Refusal[] => {
      const isTaken = names.indexOf(rule.name) < index;
      const reason = isTaken
        ? 'another rule has this name'
        : (reasonAgainst(rule) ?? reasonAgainstNotify(rule));
      return reason === undefined ? [] : [{ reason: `${quote(rule.name)}: ${reason}` }];
    });
  },
  read: (rules) => rules.map(toRule),
});

/** Returns a rule in its evaluated form; exactly one of the two limits is set. */
function toRule({
  name,
  when,
  message,
  cooldown_minutes: cooldownMinutes = 60,
  notify,
}: WrittenRule) {
  const { above, below, window_minutes: windowMinutes = 5 } = when;
  return {
    name,
    // Unknown metrics were refused before.
    metric: when.metric as AlertMetric,
    above: above ?? null,
    below: below ?? null,
    windowMs: windowMinutes * MINUTE_MS,
    message: message ?? null,
    cooldownMs: cooldownMinutes * MINUTE_MS,
    notify: toTargets(notify ?? {}),
  };
}

function toTargets({
  webhook,
  template,
  secret,
  command,
}: NonNullable<WrittenRule['notify']>): readonly NotifyTarget[] {
  const targets: NotifyTarget[] = [];
  if (webhook !== undefined)
    targets.push({
      kind: 'webhook',
      url: webhook,
      template: template ?? templateOf(webhook),
      secret: secret ?? null,
    });
  if (command !== undefined) targets.push({ kind: 'command', argv: command });
  return targets;
}

/**
 * The messages quote no address: it is a secret, since anyone who has it can post to the channel.
 */
function reasonAgainstNotify({ notify }: WrittenRule): string | undefined {
  if (notify === undefined) return undefined;
  const { webhook, command, template, secret, allow_insecure: isInsecure = false } = notify;
  if (webhook === undefined && command === undefined)
    return 'notify: expected a webhook or a command';
  if (command?.length === 0) return 'notify.command: expected a program and its arguments';
  if (webhook === undefined)
    return template === undefined && secret === undefined
      ? undefined
      : 'notify: template and secret are for a webhook, and there is none';
  if (!URL.canParse(webhook)) return 'notify.webhook is not a URL such as https://host/path';
  const { protocol, hostname, hash } = new URL(webhook);
  if (protocol !== 'https:' && protocol !== 'http:')
    return `notify.webhook: ${quote(protocol)} is not read, expected https: or http:`;
  if (hash !== '') return 'notify.webhook may not contain a fragment';
  if (protocol === 'http:' && !isLoopbackHost(hostname) && !isInsecure)
    return `notify.webhook: plain http: would send alerts to ${hostname} unencrypted; use https: or notify.allow_insecure: true`;
  return undefined;
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
