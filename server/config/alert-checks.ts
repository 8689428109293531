/** What is wrong with rules of alerts beyond their form. */
import { ALERT_METRICS, isAlertMetric } from '../alerts/metrics.ts';
import { nearest } from './distance.ts';
import { fault, quote, type Fault } from './fault.ts';
import type { Values } from './names.ts';
import type { WrittenAlert } from './slices/alerts.ts';

/** Every fault of the rules, one a rule. */
export function checkAlerts(values: Values): readonly Fault[] {
  const taken = new Set<string>();
  return values.get('alerts').flatMap((rule) => {
    const reason = taken.has(rule.name) ? 'another rule has this name' : reasonAgainst(rule);
    taken.add(rule.name);
    if (reason === undefined) return [];
    const text = `alerts: ${quote(rule.name)}: ${reason}`;
    return [fault(values.from('alerts'), 'alerts', text)];
  });
}

function reasonAgainst({ when }: WrittenAlert): string | undefined {
  const { metric, above, below, window_minutes: windowMinutes } = when;
  const known = Object.keys(ALERT_METRICS);
  if (!isAlertMetric(metric)) {
    const near = nearest(metric, known);
    const hint = near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`;
    return `${quote(metric)} is not a metric; ${hint}`;
  }
  if ((above === undefined) === (below === undefined)) return 'expected either above or below';
  if (windowMinutes !== undefined && ALERT_METRICS[metric] !== 'window')
    return `${metric} has no window; leave window_minutes out`;
  return undefined;
}
