/** The owners that a request's spending is added to. */
import type { Original } from '../model/request.ts';
import type { Spender } from './owners.ts';

/** Returns the key that the request came with, and its project. */
export function spenderOf(original: Pick<Original, 'body' | 'project'>): Spender {
  const { caller } = original.body;
  const project = original.project() ?? undefined;
  if (caller === undefined) return { project };
  const { label, perDayNanoUsd = null, perMonthNanoUsd = null } = caller;
  return { project, key: { label, perDayNanoUsd, perMonthNanoUsd } };
}
