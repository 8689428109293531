/** How a provider is and why a request failed, in the words of every dashboard. */
import type { LiveState, ReportJson } from '../contract.ts';
import type { Tone } from './columns.ts';
import { dollars, duration, share, short, spanOf, whole } from './format.ts';

type Provider = LiveState['providers'][string];
type FailureGroup = ReportJson['failures'][number];

/** A cause in a few words: our code where we have one, else the status that the client got. */
export function causeOf({ status, error_code: code, error_kind: kind }: FailureGroup): string {
  const name = code ?? kind?.replaceAll('_', ' ');
  if (name !== undefined && status !== null) return `${status} ${name}`;
  if (status === null) return name ?? 'no answer';
  return status < 400 ? `${status}, broken off` : `${status} from the provider`;
}

/** How a provider is, in one word, and how bad that is. */
export function conditionOf({
  stopped,
  breaker,
  health,
}: Provider): readonly [word: string, kind: Tone] {
  if (stopped !== null) return ['stopped', 'bad'];
  if (breaker.state === 'open')
    return [
      `breaker open${breaker.open_for_s > 0 ? `, ${spanOf(breaker.open_for_s)} left` : ''}`,
      'bad',
    ];
  if (health.state !== 'healthy') return ['unhealthy', 'bad'];
  if (breaker.state !== 'closed') return ['probing', 'warn'];
  return ['healthy', 'good'];
}

/** What is not as it should be, worst first; commands stand in backticks. */
export function reasonsOf({ health, alerts }: LiveState): readonly string[] {
  return [
    ...(health.paused ? ['Paused: requests go out as they come in. `svc resume` ends that.'] : []),
    ...alerts.map(({ text }) => `Alert ${text}`),
    ...health.reasons,
  ];
}

/** What is known of a provider beside its condition: what went to it in the range, and how it is. */
export function providerFacts(
  { breaker, health, keys, needs_key: needsKey, pace, stopped }: Provider,
  sums: ReportJson['by_provider'][number] | undefined,
): readonly (readonly [name: string, value: string])[] {
  const recovers = health.recovers_in_s;
  return [
    [
      'Requests',
      sums === undefined
        ? 'none in this range of time'
        : `${short(sums.requests)}, ${share(sums.errors / sums.requests)} failed, ${sums.cost === null ? 'cost unknown' : `${dollars(sums.cost)} paid`}, ${duration(sums.avg_latency_ms)} on average`,
    ],
    [
      'Breaker',
      `${breaker.state}, ${whole(breaker.failures)} of ${whole(breaker.requests)} failed in a minute`,
    ],
    [
      'Health',
      `${health.state}${health.reason === null ? '' : `: ${health.reason}`}${recovers !== null && recovers > 0 ? `, tried again in ${spanOf(recovers)}` : ''}`,
    ],
    ...(pace === null
      ? []
      : [
          [
            'Pace',
            Object.entries(pace)
              .map(([what, value]) => `${what} ${String(value)}`)
              .join(', '),
          ] as const,
        ]),
    ...(stopped === null ? [] : [['Stopped', stopped] as const]),
    ...(keys.length > 0
      ? []
      : [['Keys', needsKey ? 'none of its own: the client’s key is used' : 'needs none'] as const]),
  ];
}
