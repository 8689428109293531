/** What a request is estimated to cost at a target, before it is sent. */
import type { EstimatedUse } from '../budget/estimate.ts';
import { estimateUsage } from '../budget/estimate.ts';
import { askedOutput } from '../budget/most-output.ts';
import type { Estimate } from '../budget/spending.ts';
import { estimateUnread } from '../budget/unread.ts';
import { askedTerms } from '../dialect/billing.ts';
import { estimateInputTokens } from '../model/input-size.ts';
import { modelOf } from '../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import type { Provider } from '../providers/provider.ts';
import type { Services } from '../services.ts';

function useOf(request: ProxyRequest, provider: Provider | undefined): EstimatedUse {
  const { body, endpoint, json } = request.original;
  if (!endpoint.rewritable) return estimateUnread(body);
  const asked = askedOutput(json);
  // What the configuration adds where the client has none.
  const output =
    asked.limit === undefined && provider !== undefined
      ? { ...asked, limit: askedOutput(Object.fromEntries(provider.extraBody)).limit }
      : asked;
  const terms = askedTerms(json);
  return { model: modelOf(request), inputTokens: estimateInputTokens(request), output, terms };
}

/** What `request` is estimated to cost at `target`; null where no price is known. */
export function estimateOf(
  request: ProxyRequest,
  target: RouteTarget | undefined,
  services: Pick<Services, 'providers' | 'prices' | 'clock'>,
): Required<Estimate> {
  const provider = services.providers.get(target?.provider ?? '');
  const use = useOf(request, provider);
  const wanted = target?.model ?? use.model;
  const model = wanted === undefined ? undefined : (provider?.modelAliases.get(wanted) ?? wanted);
  const usage = estimateUsage(use, model);
  const estimateTokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  // What costs nothing that could be foretold is stopped by a limit that is passed, not by its own price.
  if (estimateTokens === 0) return { estimateTokens, estimateNanoUsd: 0 };
  if (provider === undefined || model === undefined)
    return { estimateTokens, estimateNanoUsd: null };
  const atMs = services.clock.wallMs();
  const { prices } = services;
  const estimateNanoUsd =
    prices.costNanoUsd(provider, model, usage, atMs) ??
    // Terms of no known price: the usual ones hold at least something of the limit.
    prices.costNanoUsd(provider, model, estimateUsage({ ...use, terms: undefined }, model), atMs);
  return { estimateTokens, estimateNanoUsd };
}
