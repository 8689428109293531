/**
 * The handlers of a plugin's stage with a time budget and a breaker. A fault affects only its own
 * request; a stage that keeps failing is skipped, or its requests are refused at once, as its
 * author chose. Code that never yields the event loop cannot be stopped from here.
 */
import { SvcError } from '../engine/index.ts';
import type { Clock, Handlers, StageContext, StageState } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import { checkedHeads } from './own-head.ts';
import type { HandlerStage } from './plugin-stage.ts';

/** Consecutive faults after which the stage is suspended. */
const MAX_FAULTS = 5;
/** How long it is suspended. */
const SUSPENDED_MS = 30_000;
const DEFAULT_TIMEOUT_MS = 1000;

type Context = StageContext<StageState>;
type Handler = (frame: ProxyFrame, ctx: Context) => unknown;

/** Reports faults: each one that fails or skips a request, and the suspension after too many. */
export type ReportFault = (message: string, cause: unknown) => void;

export function guardHandlers(
  node: string,
  stage: HandlerStage,
  clock: Clock,
  report: ReportFault,
): Handlers<ProxyFrame, unknown> {
  const { onFault = 'fail', timeoutMs = DEFAULT_TIMEOUT_MS } = stage;
  let faults = 0;
  let suspendedUntilMs = Number.NEGATIVE_INFINITY;

  function onFailure(thrown: unknown, ctx: Context): undefined {
    faults += 1;
    ctx.note('plugin_fault', thrown instanceof Error ? thrown.message : String(thrown));
    if (faults >= MAX_FAULTS) {
      faults = 0;
      suspendedUntilMs = clock.monotonicMs() + SUSPENDED_MS;
      report(
        `${node}: ${MAX_FAULTS} faults in a row: suspended for ${SUSPENDED_MS / 1000} s`,
        thrown,
      );
    } else report(`${node}: ${String(thrown)}`, thrown);
    if (onFault === 'pass') return undefined;
    throw thrown;
  }

  const guard =
    (handler: Handler): Handler =>
    (frame, ctx) => {
      if (clock.monotonicMs() < suspendedUntilMs) {
        if (onFault === 'pass') return undefined;
        throw new SvcError(
          'unavailable',
          `The plugin stage ${node} is suspended after too many faults`,
          {
            retryAfterS: (suspendedUntilMs - clock.monotonicMs()) / 1000,
          },
        );
      }
      try {
        const result = handler(frame, ctx);
        if (!(result instanceof Promise)) {
          const checked = checkedHeads(result);
          faults = 0;
          return checked;
        }
        return withTimeout(result, timeoutMs, clock)
          .then((value: unknown) => {
            const checked = checkedHeads(value);
            faults = 0;
            return checked;
          })
          .catch((thrown: unknown) => onFailure(thrown, ctx));
      } catch (thrown) {
        // An error of the proxy's own type is the author's answer, not a fault.
        if (thrown instanceof SvcError) throw thrown;
        return onFailure(thrown, ctx);
      }
    };

  const handlers = Object.entries(stage.on ?? {}).map(([kind, handler]) => [
    kind,
    guard(handler as Handler),
  ]);
  return Object.fromEntries(handlers) as Handlers<ProxyFrame, unknown>;
}

function withTimeout<T>(work: Promise<T>, timeoutMs: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = clock.after(timeoutMs, () =>
      reject(new Error(`it took longer than ${timeoutMs} ms`)),
    );
    work.then(resolve, reject).finally(stop);
  });
}
