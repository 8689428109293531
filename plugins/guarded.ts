/**
 * The handlers of a plugin's stage with a time budget and a breaker. A fault affects only its own
 * request; a stage that keeps failing is skipped, or its requests are refused at once, as its
 * author chose. Code that never yields the event loop cannot be stopped from here.
 */
import { SvcError, isSvcError } from '../engine/index.ts';
import type { Clock, Handlers, StageContext, StageState } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import { firstLineOf } from '../stages/providers/hook-fault.ts';
import { checkedFrame, wholeAnswer } from './own-frames.ts';
import type { HandlerStage } from './plugin-stage.ts';
import { stageFault } from './stage-fault.ts';
import type { ReportFault } from './stage-fault.ts';
import { timedAnswer, withTimeout } from './timed-answer.ts';

/** Consecutive faults after which the stage is suspended. */
const MAX_FAULTS = 5;
/** How long it is suspended. */
const SUSPENDED_MS = 30_000;
export const DEFAULT_TIMEOUT_MS = 1000;
/** Longest wait for a frame of a stream: a provider's default limit for the head of its answer. */
export const STREAM_TIMEOUT_MS = 30_000;

type Context = StageContext<StageState>;
type Handler = (frame: ProxyFrame, ctx: Context) => unknown;

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
    // An error of the proxy's own type is the author's answer, not a fault.
    if (isSvcError(thrown)) throw thrown;
    faults += 1;
    const why = firstLineOf(thrown);
    ctx.note('plugin_fault', why);
    if (faults >= MAX_FAULTS) {
      faults = 0;
      suspendedUntilMs = clock.monotonicMs() + SUSPENDED_MS;
      report(
        `${node}: ${MAX_FAULTS} faults in a row: suspended for ${SUSPENDED_MS / 1000} s`,
        thrown,
      );
    } else report(`${node}: ${why}`, thrown);
    if (onFault === 'pass') return undefined;
    throw stageFault(node, thrown);
  }

  function checkedResult(result: unknown, { kind }: ProxyFrame): unknown {
    const isRequest = kind === 'body' || kind === 'request';
    if (Array.isArray(result)) return isRequest ? wholeAnswer(result) : result.map(checkedFrame);
    if (!(result instanceof ReadableStream)) return checkedFrame(result);
    return timedAnswer(result, {
      node,
      timeoutMs: stage.timeoutMs ?? STREAM_TIMEOUT_MS,
      clock,
      report,
      isBegun: kind === 'chunk' || kind === 'end',
    });
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
          const checked = checkedResult(result, frame);
          faults = 0;
          return checked;
        }
        return withTimeout(result, timeoutMs, clock)
          .then((value: unknown) => {
            const checked = checkedResult(value, frame);
            faults = 0;
            return checked;
          })
          .catch((thrown: unknown) => onFailure(thrown, ctx));
      } catch (thrown) {
        return onFailure(thrown, ctx);
      }
    };

  const handlers = Object.entries(stage.on ?? {}).map(([kind, handler]) => [
    kind,
    guard(handler as Handler),
  ]);
  return Object.fromEntries(handlers) as Handlers<ProxyFrame, unknown>;
}
