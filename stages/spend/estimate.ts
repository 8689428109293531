/** What a request is estimated to cost at a target, before it is sent. */
import type { EstimatedUse } from '../budget/estimate.ts';
import { estimateUsage } from '../budget/estimate.ts';
import type { Estimate } from '../budget/spending.ts';
import { estimateInputTokens } from '../model/input-size.ts';
import { modelOf } from '../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import type { Services } from '../services.ts';
import { estimateUnread } from './unread.ts';

function useOf(request: ProxyRequest): EstimatedUse {
  const { body, facts, endpoint } = request.original;
  if (!endpoint.rewritable) return estimateUnread(body);
  const usage = estimateUsage(estimateInputTokens(request), facts.maxOutputTokens);
  return { model: modelOf(request), usage };
}

/** What `request` is estimated to cost at `target`; null where no price is known. */
export function estimateOf(
  request: ProxyRequest,
  target: RouteTarget | undefined,
  services: Pick<Services, 'providers' | 'prices' | 'clock'>,
): Required<Estimate> {
  const provider = services.providers.get(target?.provider ?? '');
  const { model: named, usage } = useOf(request);
  const wanted = target?.model ?? named;
  const estimateTokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  // What costs nothing that could be foretold is stopped by a limit that is passed, not by its own price.
  if (estimateTokens === 0) return { estimateTokens, estimateNanoUsd: 0 };
  if (provider === undefined || wanted === undefined)
    return { estimateTokens, estimateNanoUsd: null };
  const model = provider.modelAliases.get(wanted) ?? wanted;
  const atMs = services.clock.wallMs();
  const estimateNanoUsd = services.prices.costNanoUsd(provider, model, usage, atMs);
  return { estimateTokens, estimateNanoUsd };
}
