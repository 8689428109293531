/** A request made ready for one provider, what that takes, and how its answer is to be read. */
import type { CancelSignal } from '../../../engine/index.ts';
import type { AsSent } from '../../conversations/as-sent.ts';
import type { Caching } from './caching.ts';
import type { Dialect, UsageRequest } from '../../model/dialect.ts';
import type {
  AnswerWishes,
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
  /** `added` is what was asked for here and the client does not get. */
  | { readonly how: 'passthrough'; readonly added: UsageRequest | undefined }
  /** `one-document`: the client asked for a stream and the provider may not stream. */
  | {
      readonly how: 'one-document' | 'translate';
      readonly from: TranslatableDialect;
      readonly wishes: AnswerWishes;
    };

/** A request that can go to one provider, with any key. */
export interface Prepared {
  readonly provider: Provider;
  readonly target: RouteTarget;
  /** The request as it stands for this provider. */
  readonly request: ProxyRequest;
  /** The model that this provider is asked for. */
  readonly model: string | undefined;
  /** The dialect in which the provider answers. */
  readonly dialect: Dialect;
  readonly reading: Reading;
  /** The id of the configured key that the conversation began with. */
  readonly preferredKey?: string | undefined;
  /** Notes the id of the key that goes out; false where it is not the one that the conversation began with. */
  readonly noteKey?: (keyId: string) => boolean;
  /** True if the provider may not know the path at all; then its 404 says nothing of the request. */
  readonly isGuess: boolean;
  /** What it holds that this provider may refuse, and can do without. */
  readonly spare: readonly Unsupported[];
  /** What was left out or changed knowingly. */
  readonly notes: readonly string[];
  /** What of it was decided by what went out before; absent where no thought goes to this provider. */
  readonly sent?: AsSent;
  /** What the provider was asked to cache for a client that does not ask; undefined where that is no question. */
  readonly caching: Caching | undefined;
  wire(key: ProviderKey | undefined, signal: CancelSignal): UpstreamRequest;
  /** The answer as the provider's own code leaves it; absent for a provider that is no code. */
  answered?(response: UpstreamResponse): UpstreamResponse;
}

/** The request ready, or why this provider cannot have it. */
export type Preparation = { readonly ready: Prepared } | { readonly skip: string };

/** What a whole answer takes where the client asked for a stream. */
export interface OneDocument {
  readonly reading: Reading;
  readonly request: ProxyRequest;
  /** The path that gives whole answers, from the one that gives streams. */
  readonly path: (path: string) => string;
}

export interface PrepareOptions {
  readonly target: RouteTarget;
  readonly provider: Provider;
  readonly config: ForwardConfig;
  readonly services: Services;
  /** Ask for answers without `Content-Encoding`, because events are looked at. */
  readonly identity: boolean;
  /** What this provider was found to refuse. */
  readonly unsupported: ReadonlySet<Unsupported>;
  /** Sealed thoughts that providers have refused. */
  readonly foreign: ForeignThoughts;
  /** Chat providers that were found not to serve the newer path of the same maker. */
  readonly chatOnly: ReadonlySet<ProviderName>;
}

/** The model to ask there, by the provider's own name of it. */
export function modelAt(
  request: ProxyRequest,
  { target, provider }: Pick<PrepareOptions, 'target' | 'provider'>,
): string | undefined {
  const wanted = target.model ?? modelOf(request);
  return wanted === undefined ? undefined : (provider.modelAliases.get(wanted) ?? wanted);
}

/** True unless the provider, the model or the configuration allows whole answers only. */
export function mayStream(
  request: ProxyRequest,
  { provider, config }: Pick<PrepareOptions, 'provider' | 'config'>,
): boolean {
  return config.streamingEnabled && provider.supportsStreaming && config.streams(modelOf(request));
}
