/** The estimated cost of a request at a target, before it is sent. */
import type { EstimatedUse } from '../budget/estimate.ts';
import { estimateUsage } from '../budget/estimate.ts';
import { requestedOutput } from '../budget/max-output.ts';
import type { Estimate } from '../budget/spending.ts';
import { estimateBatch } from '../budget/batch-estimate.ts';
import { estimateUnparsed, isUnpredictable } from '../budget/unparsed-estimate.ts';
import { requestedTerms } from '../dialect/billing.ts';
import { estimateInputTokens } from '../model/input-size.ts';
import { modelOf } from '../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import type { Usage } from '../model/usage.ts';
import type { Provider } from '../providers/provider.ts';
import type { Services } from '../services.ts';

function useOf(request: ProxyRequest, provider: Provider | undefined): EstimatedUse {
  const { body, endpoint, json } = request.original;
  if (!endpoint.rewritable) return estimateUnparsed(body);
  const limit = requestedOutput(json);
  // What the configuration adds if the client has none.
  const output =
    limit.limit === undefined && provider !== undefined
      ? { ...limit, limit: requestedOutput(Object.fromEntries(provider.extraBody)).limit }
      : limit;
  const terms = requestedTerms(json);
  return { model: modelOf(request), inputTokens: estimateInputTokens(request), output, terms };
}

type Needed = Pick<Services, 'providers' | 'prices' | 'clock'>;

/** Returns usage, provider and terms of the request; undefined if no price can be known. */
function pricedUseOf(request: ProxyRequest, target: RouteTarget | undefined, services: Needed) {
  const provider = services.providers.get(target?.provider ?? '');
  const use = useOf(request, provider);
  const batch = request.original.endpoint.rewritable
    ? undefined
    : estimateBatch(request.original.body);
  if (batch !== undefined) return { provider, use, ...batch };
  const requestedModel = target?.model ?? use.model;
  const model =
    requestedModel === undefined
      ? undefined
      : (provider?.modelAliases.get(requestedModel) ?? requestedModel);
  return { provider, use, model, usage: estimateUsage(use, model) };
}

/** Returns the estimated cost of `request` at `target`; null if no price is known. */
export function estimateOf(
  request: ProxyRequest,
  target: RouteTarget | undefined,
  services: Needed,
): Estimate {
  const { provider, use, model, usage } = pricedUseOf(request, target, services);
  const estimateTokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  if (isUnpredictable(request.original.body)) {
    const known =
      provider === undefined || model === undefined || estimateTokens === 0
        ? null
        : services.prices.costNanoUsd(provider, model, usage, services.clock.wallMs());
    if (known === null) return { estimateTokens: 0, estimateNanoUsd: 0, isUnpredictable: true };
    return { estimateTokens, estimateNanoUsd: known };
  }
  // A request without foreseeable cost is blocked by an exceeded limit, not by its own price.
  if (estimateTokens === 0) return { estimateTokens, estimateNanoUsd: 0 };
  if (provider === undefined || model === undefined)
    return { estimateTokens, estimateNanoUsd: null };
  const atMs = services.clock.wallMs();
  const { prices } = services;
  const estimateNanoUsd =
    prices.costNanoUsd(provider, model, usage, atMs) ??
    // Terms without a known price: the usual ones at least reserve something.
    prices.costNanoUsd(provider, model, estimateUsage({ ...use, terms: undefined }, model), atMs);
  return { estimateTokens, estimateNanoUsd };
}

/**
 * Returns the range of the estimate, in nano-dollars: from all input read from the cache and no
 * output, to all input written for an hour and the longest allowed answer. Additional searches and
 * inferences, which cannot be foreseen, are in neither. Undefined without a price.
 */
export function rangeOf(
  request: ProxyRequest,
  target: RouteTarget | undefined,
  services: Needed,
): readonly [least: number, most: number] | undefined {
  const { provider, model, usage } = pricedUseOf(request, target, services);
  if (provider === undefined || model === undefined) return undefined;
  const input = usage.inputTokens;
  const cost = (changed: Partial<Usage>) =>
    services.prices.costNanoUsd(
      provider,
      model,
      { ...usage, inputTokens: 0, ...changed },
      services.clock.wallMs(),
    );
  const min = cost({ cacheReadTokens: input, outputTokens: 0 });
  const max = cost({ cacheWriteTokens: input, cacheWrite1hTokens: input });
  return min === null || max === null ? undefined : [min, max];
}
