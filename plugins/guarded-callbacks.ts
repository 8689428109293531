/**
 * The callbacks of a plugin's stage that handle no frame. What they return may be a promise, although
 * nothing waits for it: its error is reported, and one that never settles delays no later stage.
 */
import type { Clock, StageContext, StageState } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import { firstLineOf } from '../stages/providers/hook-fault.ts';
import { DEFAULT_TIMEOUT_MS } from './guarded.ts';
import type { HandlerStage, StreamStage } from './plugin-stage.ts';
import { stageFault } from './stage-fault.ts';
import type { ReportFault } from './stage-fault.ts';
import { withTimeout } from './timed-answer.ts';

type Open = NonNullable<HandlerStage['open']>;
type Watch = NonNullable<HandlerStage['watch']>;
type Settled = NonNullable<StreamStage['settled']>;
type Watcher = (frame: ProxyFrame, ctx: StageContext<StageState>) => unknown;

export function guardOpen(node: string, open: Open, report: ReportFault): Open {
  const failed = (thrown: unknown) => {
    const fault = stageFault(node, thrown);
    report(fault.message, thrown);
    return fault;
  };
  return (ctx) => {
    try {
      const state: StageState = open(ctx);
      // A handler that awaits it gets the error too.
      if (state instanceof Promise) state.catch(failed);
      return state;
    } catch (thrown) {
      throw failed(thrown);
    }
  };
}

export function guardWatch(watch: Watch): Watch {
  const guard =
    (watcher: Watcher): Watcher =>
    (frame, ctx) => {
      const result = watcher(frame, ctx);
      if (!(result instanceof Promise)) return;
      result.catch((thrown: unknown) => ctx.note('watch_error', firstLineOf(thrown)));
    };
  const watchers = Object.entries(watch).map(([kind, watcher]) => [
    kind,
    guard(watcher as Watcher),
  ]);
  return Object.fromEntries(watchers) as Watch;
}

/** `timeoutMs`: how long the settlement of the next stage may wait for it. */
export function guardSettled(
  node: string,
  settled: Settled,
  clock: Clock,
  report: ReportFault,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Settled {
  return async (settlement, ctx) => {
    try {
      const result = settled(settlement, ctx);
      if (result instanceof Promise) await withTimeout(result, timeoutMs, clock);
    } catch (thrown) {
      report(`${node}: settled failed: ${firstLineOf(thrown)}`, thrown);
      throw thrown;
    }
  };
}
