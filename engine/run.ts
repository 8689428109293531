/**
 * One run through a plan: the request half is a loop over one frame, the response half a pipe of
 * web streams into the sink. The settlement is reported to every stage exactly once.
 */
import { isWhole } from './answer.ts';
import { runRequest } from './run-request.ts';
import type { RunInfo } from './context.ts';
import type { SvcError } from './error.ts';
import type { Frame } from './frame.ts';
import type { Plan } from './graph/compile.ts';
import { sendLive, sendWhole } from './respond.ts';
import type { Sink } from './respond.ts';
import { RunScope } from './run-scope.ts';
import type { Outcome, Settlement } from './settle.ts';

/**
 * Sends `first` through the plan and the answer to the sink. Never rejects: the settlement says how
 * it ended.
 */
export async function run<F extends Frame>(
  plan: Plan<F>,
  first: F,
  info: RunInfo,
  sink: Sink<F>,
): Promise<Settlement<F>> {
  const scope = new RunScope(plan, info);
  let error: SvcError | undefined;
  try {
    scope.open();
    const { answer, segments } = await runRequest(plan, first, scope);
    if (isWhole(answer)) await sendWhole(answer, segments, scope, sink);
    else await sendLive(answer, segments, scope, sink);
  } catch (thrown) {
    error = scope.cancelled() ?? scope.faultOf(thrown);
  }
  const outcome = outcomeOf(error, scope);
  if (error !== undefined && outcome !== 'cancelled') await reportFailure(sink, error, scope);
  const settlement = scope.settlement(outcome, error);
  await scope.settle(settlement);
  scope.close();
  return settlement;
}

function outcomeOf<F extends Frame>(error: SvcError | undefined, scope: RunScope<F>): Outcome {
  if (error === undefined) return 'ok';
  if (error.kind === 'cancelled') return 'cancelled';
  return scope.hasSent ? 'partial' : 'error';
}

async function reportFailure<F extends Frame>(sink: Sink<F>, error: SvcError, scope: RunScope<F>) {
  try {
    await sink.fail(error);
  } catch (thrown) {
    scope.noteFault('sink_error', thrown);
  }
}
