/** A request made ready for one provider, and how its answer is to be read. */
import type { CancelSignal } from '../../engine/index.ts';
import type { Caching } from './caching.ts';
import type { Dialect } from '../model/dialect.ts';
import type { AnswerWishes, TranslatableDialect } from '../dialect/translate.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import type { Provider, ProviderKey } from '../providers/provider.ts';
import type { UpstreamRequest, UpstreamResponse } from '../providers/upstream.ts';

/** How an answer has to be changed before the client may see it. */
export type Reading =
  | { readonly how: 'relay'; readonly asked: boolean }
  /** The client asked for a stream and the provider may not stream. */
  | {
      readonly how: 'one-document';
      readonly from: TranslatableDialect;
      readonly wishes: AnswerWishes;
    }
  | {
      readonly how: 'translate';
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
  /** True if the provider may not know the path at all; then its 404 says nothing of the request. */
  readonly isGuess: boolean;
  /** What was left out or changed knowingly. */
  readonly notes: readonly string[];
  /** What the provider was asked to cache for a client that does not ask; undefined where that is no question. */
  readonly caching: Caching | undefined;
  wire(key: ProviderKey | undefined, signal: CancelSignal): UpstreamRequest;
  /** The answer as the provider's own code leaves it; absent for a provider that is no code. */
  answered?(response: UpstreamResponse): UpstreamResponse;
}
