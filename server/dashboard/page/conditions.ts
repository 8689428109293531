/** How a provider is and why a request failed, in the words of every dashboard. */
import type { LiveState, ReportAnswer } from '../contract.ts';
import { spanOf } from './format.ts';

type Provider = LiveState['providers'][string];
type FailureGroup = ReportAnswer['failures'][number];

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
}: Provider): readonly [word: string, kind: 'ok' | 'warn' | 'bad'] {
  if (stopped !== null) return ['stopped', 'bad'];
  if (breaker.state === 'open')
    return [
      `breaker open${breaker.open_for_s > 0 ? `, ${spanOf(breaker.open_for_s)} left` : ''}`,
      'bad',
    ];
  if (health.state !== 'healthy') return ['unhealthy', 'bad'];
  if (breaker.state !== 'closed') return ['probing', 'warn'];
  return ['healthy', 'ok'];
}
