/**
 * The spending guard on a request's way: what it will cost in all likelihood is held before
 * it is sent, and what would pass a limit is refused. The real cost is settled by `meter`,
 * which finds the reservation in the request's report.
 */
import { defineStage } from '../../engine/index.ts';
import type { StageContext } from '../../engine/index.ts';
import { ALLOW_HEADER, amountText, scopeText, spendingFault } from '../budget/estimate.ts';
import { hasLimit } from '../budget/owners.ts';
import { spenderOf } from '../budget/spender.ts';
import type { Reservation } from '../budget/reservation.ts';
import type { SpendingNote, SpendingRequest } from '../budget/spending.ts';
import { mayCost } from '../budget/unread.ts';
import { clientSession, conversationId } from '../model/conversation.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import { headerValue } from '../model/headers.ts';
import { withReport } from '../model/request.ts';
import type { ProxyRequest, RequestReport, RouteTarget } from '../model/request.ts';
import type { Services } from '../services.ts';
import { estimateOf, rangeOf } from './estimate.ts';

export interface SpendConfig {
  /** Off, nothing is estimated or refused but what came with a key that has limits; what is spent is counted all the same. */
  readonly enabled: boolean;
}

/** A limit that is nearly used warns at every request; the log need not say it more often than this. */
const LOG_EVERY_MS = 60_000;

/** True where a limit may stop it: of the proxy, or of its key, which needs no guard that is on. */
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
    // Unread requests say nothing of the conversation that they belong to: each is its own.
    session: session ?? (request.original.json === undefined ? runId : conversationId(request)),
  };
}

/** The reservation as the stages behind this one have it: they know targets and no prices. */
function heldBy(
  request: ProxyRequest,
  reservation: Reservation,
  config: SpendConfig,
  services: Services,
): NonNullable<RequestReport['spending']> {
  // Most requests have nowhere else to go.
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

/** Says each limit that is nearly used, to the trace always and to the log now and then. */
function createWarner(services: Services) {
  const reportedMs = new Map<string, number>();
  return (notes: readonly SpendingNote[], ctx: StageContext): void => {
    ctx.note('spending', notes.map(nearly));
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

function nearly({ scope, name, used, limit }: SpendingNote): string {
  const what = name === undefined ? scope : `${scope} of ${name}`;
  return `${what}: ${amountText(scope, used)} of ${amountText(scope, limit)} used before`;
}

function isAllowed({ original }: ProxyRequest): boolean {
  return headerValue(original.body.headers, ALLOW_HEADER)?.toLowerCase() === 'once';
}

/** Passes `request` on with its reservation. Throws `spending_limit` for what would pass a limit, and `unavailable` where it is not known what was spent. */
export const spend = defineStage<ProxyFrame, SpendConfig, Services>({
  name: 'spend',
  build(config, services) {
    const warn = createWarner(services);
    function hold(request: ProxyRequest, ctx: StageContext): RequestFrame | Promise<RequestFrame> {
      // What was spent just now counts.
      if (isLimited(request, config)) services.afterwards.flush();
      const wanted = toSpending(request, config, services, ctx.run.id);
      const grant = services.spending.reserve(wanted, isAllowed(request));
      if (!grant.granted)
        throw spendingFault(grant.note, rangeOf(request, request.route?.targets[0], services));
      if (grant.warnings.length > 0) warn(grant.warnings, ctx);
      if (grant.allowedOnce) ctx.note('spending', 'allowed once');
      const { reservation } = grant;
      const shared = reservation.share();
      if (shared === undefined) return held(request, reservation);
      return shared.then(({ over, near }) => {
        // Nobody waits for the answer any more, so that nobody would give it back.
        if (over !== undefined || ctx.run.signal.aborted) reservation.release();
        if (over !== undefined)
          throw spendingFault(over, rangeOf(request, request.route?.targets[0], services));
        if (near.length > 0) warn(near, ctx);
        return held(request, reservation);
      });
    }
    function held(request: ProxyRequest, reservation: Reservation): RequestFrame {
      const spending = heldBy(request, reservation, config, services);
      return Object.freeze({ kind: 'request', request: withReport(request, { spending }) });
    }
    return {
      on: {
        request({ request }, ctx) {
          const { body } = request.original;
          // It may bring the bill of work that another proxy has paid.
          if (!mayCost(body))
            return services.deferredBills.lookUp(body.target)?.then(() => undefined);
          const unknown = isLimited(request, config)
            ? services.spending.known(spenderOf(request.original))
            : undefined;
          if (unknown === undefined || isAllowed(request)) return hold(request, ctx);
          return unknown.then(() => hold(request, ctx));
        },
      },
    };
  },
});
