/**
 * What a plugin may see of the proxy besides frames: the estimated cost of a request, and the log.
 */
import { SvcError } from '../engine/index.ts';
import type { Clock } from '../engine/index.ts';
import { estimateInputTokens } from '../stages/model/input-size.ts';
import type { ProxyRequest } from '../stages/model/request.ts';
import type { OwnServices, StageLog } from '../stages/services.ts';
import { estimateOf } from '../stages/spend/estimate.ts';

export interface PluginView {
  /** Tokens of the request as it would be sent now. An estimate: providers count differently. */
  estimateInputTokens(request: ProxyRequest): number;
  /**
   * Estimated cost of the request at its chosen target, in US dollars, with the likely amount of
   * output. Null if no price is known, and before the node `route`.
   */
  estimateCostUsd(request: ProxyRequest): number | null;
  /** Writes into the proxy's log. */
  readonly log: StageLog;
}

/** Creates a view; its providers and prices are set when the graph is complete. */
export function createView(clock: Clock, log: StageLog) {
  let ownServices: OwnServices | undefined;
  const view: PluginView = {
    estimateInputTokens,
    estimateCostUsd(request) {
      if (ownServices === undefined)
        throw new SvcError('internal', 'A cost can be estimated once requests come in');
      const { estimateNanoUsd } = estimateOf(request, request.route?.targets[0], {
        ...ownServices,
        clock,
      });
      return estimateNanoUsd === null ? null : estimateNanoUsd / 1e9;
    },
    log,
  };
  return {
    view,
    bind(services: OwnServices): void {
      ownServices = services;
    },
  };
}
