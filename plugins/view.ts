/** What a plugin may see of the proxy besides frames: what a request would cost, and the log. */
import { SvcError } from '../engine/index.ts';
import type { Clock } from '../engine/index.ts';
import { estimateInputTokens } from '../stages/model/input-size.ts';
import type { ProxyRequest } from '../stages/model/request.ts';
import type { OwnServices, StageLog } from '../stages/services.ts';
import { estimateOf } from '../stages/spend/estimate.ts';

export interface PluginView {
  /** Tokens of the request as it would go out now. An estimate: providers count differently. */
  estimateInputTokens(request: ProxyRequest): number;
  /**
   * What the request will cost at the target that was chosen for it, in US dollars, with as much
   * output as is likely. Null where no price is known, and before the node `route`.
   */
  estimateCostUsd(request: ProxyRequest): number | null;
  /** Writes into the proxy's log. */
  readonly log: StageLog;
}

/** A view whose providers and prices exist only when the graph is complete. */
export function createView(clock: Clock, log: StageLog) {
  let own: OwnServices | undefined;
  const view: PluginView = {
    estimateInputTokens,
    estimateCostUsd(request) {
      if (own === undefined)
        throw new SvcError('internal', 'A cost can be estimated once requests come in');
      const { estimateNanoUsd } = estimateOf(request, request.route?.targets[0], { ...own, clock });
      return estimateNanoUsd === null ? null : estimateNanoUsd / 1e9;
    },
    log,
  };
  return {
    view,
    bind(services: OwnServices): void {
      own = services;
    },
  };
}
