/** Whose spending a request adds to. */
import type { Original } from '../model/request.ts';
import type { Spender } from './owners.ts';

/** The key that it came with, and its project. */
export function spenderOf(original: Pick<Original, 'body' | 'project'>): Spender {
  const { caller } = original.body;
  const project = original.project() ?? undefined;
  if (caller === undefined) return { project };
  const { label, perDayNanoUsd = null, perMonthNanoUsd = null } = caller;
  return { project, key: { label, perDayNanoUsd, perMonthNanoUsd } };
}
