/** The ways in which a pool's job ends. */
import { SvcError } from '../../engine/index.ts';
import type { FromThread, Protocol } from './messages.ts';

/**
 * Why a job was not done although nothing threw. `starting`: its time ran out while its thread was
 * still starting (the start continues), or the start exceeded its own limit.
 */
export type JobFault = 'timeout' | 'cancelled' | 'starting';

export type JobEnd<Result> =
  | { readonly done: Result }
  | { readonly failed: JobFault }
  /** The job threw. */
  | { readonly failed: 'threw'; readonly error: SvcError }
  /** Its thread died; `atStart`: before it could begin any job. */
  | { readonly failed: 'died'; readonly cause: Error | undefined; readonly atStart: boolean };

/** Converts a thread's last message about a job to its end. */
export function endOf<P extends Protocol>(
  message: Extract<FromThread<P>, { result: unknown } | { failure: unknown }>,
): JobEnd<P['result']> {
  if ('result' in message) return { done: message.result };
  const { kind, message: text, ...details } = message.failure;
  return { failed: 'threw', error: new SvcError(kind, text, details) };
}
