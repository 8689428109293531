/**
 * The spending guard on the request path: the likely cost is reserved before a request is sent, and
 * a request that would exceed a limit is refused. The real cost is settled by `meter`, which finds
 * the reservation in the request's report.
 */
import { defineStage } from '../../engine/index.ts';
import type { StageContext } from '../../engine/index.ts';
import { ALLOW_HEADER, amountText, scopeText, spendingFault } from '../budget/estimate.ts';
import { hasLimit } from '../budget/owners.ts';
import { spenderOf } from '../budget/spender.ts';
import type { Reservation } from '../budget/reservation.ts';
import type { SpendingNote, SpendingRequest } from '../budget/spending.ts';
import { mayConcernJob, mayCost } from '../budget/unparsed-estimate.ts';
import { clientSession, conversationId } from '../model/conversation.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import { headerValue } from '../model/headers.ts';
import { withReport } from '../model/request.ts';
import type { ProxyRequest, RequestReport, RouteTarget } from '../model/request.ts';
import type { Services } from '../services.ts';
import { estimateOf, rangeOf } from './estimate.ts';

export interface SpendConfig {
  /**
   * If off, nothing is estimated or refused except for requests with a key that has limits;
   * spending is counted nevertheless.
   */
  readonly enabled: boolean;
}

/** A limit that is nearly used up warns at every request; the log repeats it at most this often. */
const LOG_EVERY_MS = 60_000;

/**
 * Returns true if a limit may block it: the proxy's, or its key's, which applies even while the
 * guard is off.
 */
function isLimited({ original }: ProxyRequest, config: SpendConfig): boolean {
  return config.enabled || hasLimit(original.body.caller);
}

function toSpending(
  request: ProxyRequest,
  config: SpendConfig,
  services: Services,
  runId: string,
): SpendingRequest {
  const session = clientSession(request.original.body.headers);
  const spender = spenderOf(request.original);
  if (!isLimited(request, config)) {
    return { estimateNanoUsd: null, estimateTokens: 0, session: session ?? '', spender };
  }
  return {
    spender,
    ...estimateOf(request, request.route?.targets[0], services),
    // An unread request does not show its conversation: each counts as its own.
    session: session ?? (request.original.json === undefined ? runId : conversationId(request)),
  };
}

/** Returns the reservation for later stages, which know targets but no prices. */
function toSpendingReport(
  request: ProxyRequest,
  reservation: Reservation,
  config: SpendConfig,
  services: Services,
): NonNullable<RequestReport['spending']> {
  // Most requests have a single target.
  if (!isLimited(request, config) || request.route?.targets.length === 1) return reservation;
  const faultOf = (note: SpendingNote | undefined, target: RouteTarget) =>
    note && spendingFault(note, rangeOf(request, target, services));
  return {
    settle: (costNanoUsd, tokens, known) => reservation.settle(costNanoUsd, tokens, known),
    settleUnmeasured: () => reservation.settleUnmeasured(),
    release: () => reservation.release(),
    limitFor: (target) =>
      faultOf(reservation.refuses(estimateOf(request, target, services)), target),
    moveTo: (target) => faultOf(reservation.change(estimateOf(request, target, services)), target),
  };
}

/**
 * Reports each limit that is nearly used up, always to the trace and from time to time to the log.
 */
function createWarner(services: Services) {
  const reportedMs = new Map<string, number>();
  return (notes: readonly SpendingNote[], ctx: StageContext): void => {
    ctx.note('spending', notes.map(nearLimitText));
    const nowMs = services.clock.monotonicMs();
    for (const note of notes) {
      const { scope, name = '', used, limit } = note;
      if (nowMs - (reportedMs.get(`${scope} ${name}`) ?? -Infinity) < LOG_EVERY_MS) continue;
      reportedMs.set(`${scope} ${name}`, nowMs);
      services.log.warning('a spending limit is nearly reached', {
        scope,
        limited: scopeText(note),
        used: amountText(scope, used),
        limit: amountText(scope, limit),
      });
    }
  };
}

function nearLimitText({ scope, name, used, limit }: SpendingNote): string {
  const what = name === undefined ? scope : `${scope} of ${name}`;
  return `${what}: ${amountText(scope, used)} of ${amountText(scope, limit)} used before`;
}

function isAllowed({ original }: ProxyRequest): boolean {
  return headerValue(original.body.headers, ALLOW_HEADER)?.toLowerCase() === 'once';
}

/**
 * Passes `request` on with its reservation. Throws `spending_limit` if it would exceed a limit, and
 * `unavailable` if the spending so far is unknown.
 */
export const spend = defineStage<ProxyFrame, SpendConfig, Services>({
  name: 'spend',
  build(config, services) {
    const warn = createWarner(services);
    function reserve(
      request: ProxyRequest,
      ctx: StageContext,
    ): RequestFrame | Promise<RequestFrame> {
      // Spending of a moment ago counts.
      if (isLimited(request, config)) services.deferredWork.flush();
      const spending = toSpending(request, config, services, ctx.run.id);
      const grant = services.spending.reserve(spending, isAllowed(request));
      if (!grant.granted)
        throw spendingFault(grant.note, rangeOf(request, request.route?.targets[0], services));
      if (grant.warnings.length > 0) warn(grant.warnings, ctx);
      if (grant.allowedOnce) ctx.note('spending', 'allowed once');
      const { reservation } = grant;
      const shared = reservation.share();
      if (shared === undefined) return toHeldRequest(request, reservation);
      return shared.then(({ over, near }) => {
        // The answer is no longer awaited, so the reservation would never be released.
        if (over !== undefined || ctx.run.signal.aborted) reservation.release();
        if (over !== undefined)
          throw spendingFault(over, rangeOf(request, request.route?.targets[0], services));
        if (near.length > 0) warn(near, ctx);
        return toHeldRequest(request, reservation);
      });
    }
    function toHeldRequest(request: ProxyRequest, reservation: Reservation): RequestFrame {
      const spending = toSpendingReport(request, reservation, config, services);
      return Object.freeze({ kind: 'request', request: withReport(request, { spending }) });
    }
    return {
      on: {
        request({ request }, ctx) {
          const { body } = request.original;
          // Its answer may be the bill of work that another proxy has paid.
          if (mayConcernJob(body))
            return services.deferredBills.lookUp(body.target)?.then(() => undefined);
          if (!mayCost(body)) return undefined;
          const unknown = isLimited(request, config)
            ? services.spending.whenChecked(spenderOf(request.original))
            : undefined;
          if (unknown === undefined || isAllowed(request)) return reserve(request, ctx);
          return unknown.then(() => reserve(request, ctx));
        },
      },
    };
  },
});
