/** Lists a provider's models, with what the price list knows about each. */
import { SvcError, createCanceller } from '../../engine/index.ts';
import { parseJson } from '../../stages/dialect/json-kind.ts';
import { dialects } from '../../stages/dialect/registry.ts';
import type { Dialect } from '../../stages/model/dialect.ts';
import { authMissing } from '../../stages/model/errors.ts';
import { emptyUsage } from '../../stages/model/usage.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import { accountProblem } from '../../stages/providers/account.ts';
import { upstreamPath } from '../../stages/providers/address.ts';
import type { Provider } from '../../stages/providers/provider.ts';
import { readWhole } from '../../stages/providers/upstream.ts';
import type { Upstream } from '../../stages/providers/upstream.ts';

/** A model of a provider. Values that neither the provider nor the price list has are null. */
export interface ProviderModel {
  readonly id: string;
  readonly name: string | null;
  readonly contextWindow: number | null;
  readonly inputUsdPer1m: number | null;
  readonly outputUsdPer1m: number | null;
}

export interface ListModelsOptions {
  readonly upstream: Upstream;
  readonly prices: Prices;
  /** Milliseconds since the epoch, for prices. */
  readonly nowMs: number;
}

/** Short, since someone is waiting at a terminal. */
const HEAD_TIMEOUT_MS = 4000;
const IDLE_TIMEOUT_MS = 4000;
const MAX_LIST_BYTES = 8 * 1024 * 1024;
/** Limit on pages, for a list that never ends. */
const MAX_PAGES = 20;

/**
 * Returns the models of `provider` in its own order. Throws AUTH_001 if no key is configured,
 * `unauthorized` if the provider refuses it, `bad_gateway` for a response that is not a list, and
 * upstream errors.
 */
export async function listModels(
  provider: Provider,
  options: ListModelsOptions,
): Promise<ProviderModel[]> {
  const models: ListedModel[] = [];
  const own = provider.kind === 'passthrough' ? dialects.opaque : dialects[provider.kind];
  const list = own.models;
  if (list === undefined) throw noList(provider);
  let { path } = list;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const json = await fetchJson(provider, own, path, options.upstream);
    models.push(...modelsIn(json, list.member, provider));
    const next = list.next(json);
    if (next === undefined) break;
    path = `${list.path}&${next[0]}=${encodeURIComponent(next[1])}`;
  }
  const windows = contextWindows(options);
  return models.map((model) => describe(model, provider, windows, options));
}

/** A model as its provider lists it. */
interface ListedModel {
  readonly id: string;
  readonly name: string | null;
  readonly contextWindow: number | null;
}

function noList({ name }: Provider): SvcError {
  return new SvcError(
    'bad_request',
    `Provider '${name}' passes requests through and has no list of models`,
  );
}

async function fetchJson(
  provider: Provider,
  own: Dialect,
  path: string,
  upstream: Upstream,
): Promise<unknown> {
  const [key] = provider.keys;
  if (key === undefined && provider.needsKey) {
    throw authMissing(`configure a key for provider '${provider.name}'`);
  }
  const response = await upstream.send({
    origin: provider.origin,
    path: upstreamPath(provider, path),
    method: 'GET',
    headers: [
      'accept',
      'application/json',
      'accept-encoding',
      'identity',
      ...own.requiredHeaders,
      ...(key === undefined ? [] : own.keyHeaders(key.secret, key.scheme)),
      ...provider.headers,
    ],
    body: undefined,
    headTimeoutMs: HEAD_TIMEOUT_MS,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    signal: createCanceller().signal,
  });
  const bytes = await readWhole(response.body, MAX_LIST_BYTES);
  if (bytes === undefined) throw new SvcError('bad_gateway', 'The list of models is too long');
  const json = parseJson(bytes.toString('utf8'));
  if (response.status === 200) return json;
  const reason = textAt(json, 'error', 'message');
  const message = `Provider '${provider.name}' answered ${response.status}`;
  const { status } = response;
  const isKey = status === 401 || status === 403 || accountProblem(status, bytes) === 'refused';
  const kind = isKey ? 'unauthorized' : 'bad_gateway';
  throw new SvcError(kind, reason === null ? message : `${message}: ${reason}`);
}

function modelsIn(json: unknown, member: string, { name }: Provider): ListedModel[] {
  const list = valueAt(json, member);
  if (!Array.isArray(list)) {
    throw new SvcError('bad_gateway', `Provider '${name}' did not answer with a list of models`);
  }
  return list.map(toListed).filter((model) => model !== undefined);
}

/** Names of the context size field, as providers and local servers spell it. */
const WINDOW_FIELDS = ['context_window', 'context_length', 'max_model_len', 'inputTokenLimit'];

function toListed(value: unknown): ListedModel | undefined {
  const id = textAt(value, 'id') ?? textAt(value, 'name')?.replace(/^models\//, '');
  if (id === undefined) return undefined;
  const sizes = WINDOW_FIELDS.map((field) => valueAt(value, field));
  return {
    id,
    name: textAt(value, 'display_name') ?? textAt(value, 'displayName'),
    contextWindow: sizes.find((size) => typeof size === 'number') ?? null,
  };
}

/** Returns the price list's context windows by model. */
function contextWindows({ prices, nowMs }: ListModelsOptions): ReadonlyMap<string, number | null> {
  return new Map(prices.listPrices(nowMs).map((line) => [line.model, line.contextWindow]));
}

function describe(
  { id, name, contextWindow }: ListedModel,
  provider: Provider,
  windows: ReadonlyMap<string, number | null>,
  { prices, nowMs }: ListModelsOptions,
): ProviderModel {
  const undated = id.replace(/-\d{8}$/, '');
  // The nano-dollars of 1,000 tokens equal the millionths of a dollar of a million.
  const usdPer1m = (inputTokens: number, outputTokens: number): number | null => {
    const usage = { ...emptyUsage, inputTokens, outputTokens };
    const nanoUsd = prices.costNanoUsd(provider, id, usage, nowMs);
    return nanoUsd === null ? null : nanoUsd / 1e6;
  };
  return {
    id,
    name,
    contextWindow: contextWindow ?? windows.get(id) ?? windows.get(undated) ?? null,
    inputUsdPer1m: usdPer1m(1000, 0),
    outputUsdPer1m: usdPer1m(0, 1000),
  };
}

function valueAt(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function textAt(value: unknown, ...names: readonly string[]): string | null {
  const found = names.reduce(valueAt, value);
  return typeof found === 'string' ? found : null;
}
