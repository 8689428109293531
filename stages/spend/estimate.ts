/** What a request is estimated to cost at a target, before it is sent. */
import type { EstimatedUse } from '../budget/estimate.ts';
import { estimateUsage } from '../budget/estimate.ts';
import { askedOutput } from '../budget/most-output.ts';
import type { Estimate } from '../budget/spending.ts';
import { estimateBatch } from '../budget/batch-estimate.ts';
import { estimateUnread, isUnforeseen } from '../budget/unread.ts';
import { askedTerms } from '../dialect/billing.ts';
import { estimateInputTokens } from '../model/input-size.ts';
import { modelOf } from '../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import type { Usage } from '../model/usage.ts';
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

type Needed = Pick<Services, 'providers' | 'prices' | 'clock'>;

/** What is asked, of whom and in what terms; undefined where no price can be known. */
function askedOf(request: ProxyRequest, target: RouteTarget | undefined, services: Needed) {
  const provider = services.providers.get(target?.provider ?? '');
  const use = useOf(request, provider);
  const batch = request.original.endpoint.rewritable
    ? undefined
    : estimateBatch(request.original.body);
  if (batch !== undefined) return { provider, use, ...batch };
  const wanted = target?.model ?? use.model;
  const model = wanted === undefined ? undefined : (provider?.modelAliases.get(wanted) ?? wanted);
  return { provider, use, model, usage: estimateUsage(use, model) };
}

/** What `request` is estimated to cost at `target`; null where no price is known. */
export function estimateOf(
  request: ProxyRequest,
  target: RouteTarget | undefined,
  services: Needed,
): Estimate {
  const { provider, use, model, usage } = askedOf(request, target, services);
  const estimateTokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  if (isUnforeseen(request.original.body)) {
    const known =
      provider === undefined || model === undefined || estimateTokens === 0
        ? null
        : services.prices.costNanoUsd(provider, model, usage, services.clock.wallMs());
    if (known === null) return { estimateTokens: 0, estimateNanoUsd: 0, isUnforeseen: true };
    return { estimateTokens, estimateNanoUsd: known };
  }
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

/**
 * Within which amounts the estimate lies, in nano-dollars: all input read from the cache and nothing
 * answered, and all of it written for an hour with as long an answer as is allowed. Searches and
 * inferences beside the answer, which nobody can foresee, are in neither. Undefined without a price.
 */
export function rangeOf(
  request: ProxyRequest,
  target: RouteTarget | undefined,
  services: Needed,
): readonly [least: number, most: number] | undefined {
  const { provider, model, usage } = askedOf(request, target, services);
  if (provider === undefined || model === undefined) return undefined;
  const input = usage.inputTokens;
  const cost = (changed: Partial<Usage>) =>
    services.prices.costNanoUsd(
      provider,
      model,
      { ...usage, inputTokens: 0, ...changed },
      services.clock.wallMs(),
    );
  const least = cost({ cacheReadTokens: input, outputTokens: 0 });
  const most = cost({ cacheWriteTokens: input, cacheWrite1hTokens: input });
  return least === null || most === null ? undefined : [least, most];
}
