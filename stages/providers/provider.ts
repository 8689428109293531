/** A model provider as the configuration describes it. */

import type { EndpointKind } from '../model/endpoint.ts';
import type { ProviderHooks } from './hooks.ts';

/** The wire dialect of a provider; `passthrough` uses whatever the client's path implies. */
export type ProviderKind = EndpointKind | 'passthrough';

/** The name under which a provider is configured. */
export type ProviderName = string;

/** Where its requests go, derived from its base URL. */
export interface ProviderAddress {
  /** Scheme, host and port. */
  readonly origin: string;
  /**
   * The part before a request's own path; empty or starting with a slash, never ending with one.
   */
  readonly pathPrefix: string;
  /**
   * `path`: the request's whole path follows the prefix; `endpoint`: the part after that path's
   * version.
   */
  readonly appends: 'path' | 'endpoint';
  /**
   * Parameters of every request, such as Azure's `api-version`, without the question mark; often
   * empty.
   */
  readonly query: string;
}

export interface Provider extends ProviderAddress {
  readonly name: ProviderName;
  readonly kind: ProviderKind;
  /** As configured, without a trailing slash. */
  readonly baseUrl: string;
  /**
   * The base URL, including the machine if it is on loopback and state is shared between machines.
   */
  readonly place: string;
  /** Keys in order of use; empty if the client must bring its own. */
  readonly keys: readonly ProviderKey[];
  /** False for a provider that needs no credential at all. */
  readonly needsKey: boolean;
  /** Time for connecting and for the response head, in milliseconds; 0 waits for ever. */
  readonly headTimeoutMs: number;
  /** Longest silence inside a response body, in milliseconds; 0 allows any. */
  readonly idleTimeoutMs: number;
  readonly supportsStreaming: boolean;
  /**
   * Used share of a plan's window from which on another provider is tried first; absent for never.
   */
  readonly fallbackAtPercent?: number;
  /**
   * Whether it accepts markers, or a key, that request caching; `auto` decides by model and
   * address.
   */
  readonly promptCache: 'auto' | 'on' | 'off';
  readonly modelAliases: ReadonlyMap<string, string>;
  /** Extra headers, flat; they replace the client's headers of the same name. */
  readonly headers: readonly string[];
  /** Members set in every request body. */
  readonly extraBody: ReadonlyMap<string, unknown>;
  /** Hooks of a provider that is code. */
  readonly hooks?: ProviderHooks;
}

/** A configured credential; it never appears in anything that is logged or sent elsewhere. */
export interface ProviderKey {
  readonly secret: string;
  /** `bearer` is sent as `Authorization: Bearer`, `key` in the header of the provider's kind. */
  readonly scheme: 'key' | 'bearer';
  /**
   * Safe to show: where it was configured, such as `MSGPROV_API_KEY` or `providers.local.api_key`.
   */
  readonly label: string;
}
