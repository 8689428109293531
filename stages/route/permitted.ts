/** Which models and providers a request with a key of this proxy may use. */
import type { SvcError } from '../../engine/index.ts';
import { estimateUnparsed, mayCost } from '../budget/unparsed-estimate.ts';
import type { Caller } from '../model/caller.ts';
import { isObject } from '../dialect/json-kind.ts';
import { keyForbids } from '../model/errors.ts';
import { modelOf } from '../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import type { Provider } from '../providers/provider.ts';
import { isGlobMatch } from './rules.ts';

/**
 * Returns why the request's key may not use `target` of `provider`; undefined if it may, and
 * without a key. A model may be allowed under the client's name for it, or under the name it stands
 * for.
 */
export function whyForbidden(
  request: ProxyRequest,
  { model }: Pick<RouteTarget, 'model'>,
  provider: Provider,
): SvcError | undefined {
  const { caller } = request.original.body;
  if (caller === undefined) return undefined;
  const { providers, models } = caller;
  if (providers !== undefined && !isAmong(provider.name, providers))
    return keyForbids(caller.label, `provider '${provider.name}'`, providers);
  if (models === undefined || !mayCost(request.original.body)) return undefined;
  const named = model ?? modelOf(request) ?? estimateUnparsed(request.original.body).model;
  if (named === undefined)
    return keyForbids(caller.label, 'a request whose model cannot be read', models);
  const resolved = provider.modelAliases.get(named) ?? named;
  if (!isAmong(resolved, models) && (model !== undefined || !isAmong(named, models)))
    return keyForbids(caller.label, `model '${resolved}'`, models);
  return whyOthersForbidden(request, caller, models);
}

/**
 * Checks the same for models that the body names besides its own: of tools that call a model, and
 * fallbacks.
 */
function whyOthersForbidden(
  { original: { json } }: ProxyRequest,
  { label }: Caller,
  models: readonly string[],
): SvcError | undefined {
  if (!isObject(json)) return undefined;
  // The provider chooses the fallback model, and reports it only afterwards.
  if (typeof json['fallbacks'] === 'string' && !isAmong(ANY_CLAUDE, models))
    return keyForbids(label, `fallbacks: ${json['fallbacks']}`, models);
  const lists: readonly unknown[] = [json['tools'], json['fallbacks'], json['models']];
  for (const entry of lists.flatMap((list: unknown) => (Array.isArray(list) ? list : []))) {
    const name: unknown = isObject(entry) ? entry['model'] : entry;
    if (typeof name === 'string' && !isAmong(name, models))
      return keyForbids(label, `model '${name}'`, models);
  }
  return undefined;
}

/** Matches patterns that allow every model of the only vendor with that option. */
const ANY_CLAUDE = 'claude-';

function isAmong(name: string, globs: readonly string[]): boolean {
  return globs.some((glob) => isGlobMatch(glob.toLowerCase(), name.toLowerCase()));
}
