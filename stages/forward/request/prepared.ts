/** A request prepared for one provider, and how its answer is to be read. */
import type { CancelSignal } from '../../../engine/index.ts';
import type { AsSent } from '../../conversations/as-sent.ts';
import type { Caching } from './caching.ts';
import type { Dialect, UsageRequest } from '../../model/dialect.ts';
import type {
  ClientOptions,
  Unsupported,
  TranslatableDialect,
} from '../../dialect/translate/translate.ts';
import { modelOf } from '../../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../../model/request.ts';
import type { Provider, ProviderKey, ProviderName } from '../../providers/provider.ts';
import type { Services } from '../../services.ts';
import type { ForwardConfig } from '../config.ts';
import type { ForeignThoughts } from './foreign-thoughts.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../providers/upstream.ts';

/** How an answer has to be changed before the client may see it. */
export type Reading =
  /** `added` was requested here and is removed for the client. */
  | { readonly how: 'passthrough'; readonly added: UsageRequest | undefined }
  /** `one-document`: the client asked for a stream and the provider may not stream. */
  | {
      readonly how: 'one-document' | 'translate';
      readonly from: TranslatableDialect;
      readonly clientOptions: ClientOptions;
    };

/** A request that can go to one provider, with any key. */
export interface Prepared {
  readonly provider: Provider;
  readonly target: RouteTarget;
  /** The request as prepared for this provider. */
  readonly request: ProxyRequest;
  /** The model requested from this provider. */
  readonly model: string | undefined;
  /** The dialect in which the provider answers. */
  readonly dialect: Dialect;
  readonly reading: Reading;
  /**
   * True if the provider may not have the path at all; its 404 then says nothing about the request.
   */
  readonly isGuess: boolean;
  /** Parts of the request that this provider may refuse and that can be left out. */
  readonly removable: readonly Unsupported[];
  /** What was deliberately left out or changed. */
  readonly notes: readonly string[];
  /**
   * What earlier turns of the conversation decided; absent if no thinking is sent to this provider.
   */
  readonly sent?: AsSent;
  /**
   * What the provider is asked to cache for a client that does not request caching; undefined if
   * that does not apply.
   */
  readonly caching: Caching | undefined;
  wire(key: ProviderKey | undefined, signal: CancelSignal): UpstreamRequest;
  /**
   * Returns the answer as changed by the provider's own code; absent for a provider without code.
   */
  transformResponse?(response: UpstreamResponse): UpstreamResponse;
}

/** The prepared request, or why this provider cannot serve it. */
export type Preparation = { readonly ready: Prepared } | { readonly skip: string };

/** How to fetch a whole answer for a client that asked for a stream. */
export interface OneDocument {
  readonly reading: Reading;
  readonly request: ProxyRequest;
  /** Returns the path for whole answers, given the one for streams. */
  readonly path: (path: string) => string;
}

export interface PrepareOptions {
  readonly target: RouteTarget;
  readonly provider: Provider;
  readonly config: ForwardConfig;
  readonly services: Services;
  /** Requests answers without `Content-Encoding`, because events are read. */
  readonly identity: boolean;
  /** What this provider is known to refuse. */
  readonly unsupported: ReadonlySet<Unsupported>;
  /** Encrypted items that providers have refused. */
  readonly foreign: ForeignThoughts;
  /** Chat providers known not to serve the newer path of the same vendor. */
  readonly chatOnly: ReadonlySet<ProviderName>;
}

/** Returns the model to request there, by the provider's own name for it. */
export function modelAt(
  request: ProxyRequest,
  { target, provider }: Pick<PrepareOptions, 'target' | 'provider'>,
): string | undefined {
  const model = target.model ?? modelOf(request);
  return model === undefined ? undefined : (provider.modelAliases.get(model) ?? model);
}

/** Returns true unless the provider, the model or the configuration allows whole answers only. */
export function mayStream(
  request: ProxyRequest,
  { provider, config }: Pick<PrepareOptions, 'provider' | 'config'>,
): boolean {
  return config.streamingEnabled && provider.supportsStreaming && config.streams(modelOf(request));
}
