/** What went wrong with a compression, for the trace of its request and for the log. */
import type { StageContext } from '../../../engine/index.ts';
import type { StageLog } from '../../services.ts';
import type { LimitedOutcomes } from './within-limit.ts';

/** Notes what went wrong with one request. What keeps going wrong stands in the log once. */
export function createTroubleNotes(
  log: Pick<StageLog, 'warning'>,
): (result: LimitedOutcomes, ctx: Pick<StageContext, 'note'>) => void {
  const logged = new Set<string>();
  return ({ failed, outcomes }, ctx) => {
    if (failed !== undefined) ctx.note('not_compressed_because', failed);
    const algorithms = new Set(outcomes.flatMap((outcome) => outcome.failed ?? []));
    if (algorithms.size > 0) ctx.note('algorithms_failed', [...algorithms]);
    const skipped = new Set(outcomes.flatMap((outcome) => outcome.skipped ?? []));
    if (skipped.size > 0) ctx.note('recipes_skipped', [...skipped]);
    const undecided = new Set(outcomes.flatMap((outcome) => outcome.undecided ?? []));
    if (undecided.size > 0) ctx.note('undecided_because', [...undecided]);
    for (const because of undecided) {
      if (!logged.has(because)) log.warning('source code is sent unchanged', { because });
      logged.add(because);
    }
  };
}
