/** A model provider as the configuration describes it. */

import type { EndpointKind } from '../model/endpoint.ts';
import type { ProviderHooks } from './hooks.ts';

/** The wire dialect that a provider speaks; `passthrough` takes whatever the client's path says. */
export type ProviderKind = EndpointKind | 'passthrough';

/** The name under which a provider is configured. */
export type ProviderName = string;

/** What the node of a provider that is code is called, in the graph and in traces. */
export const providerNode = (name: string): string => `provider:${name}`;

/** Where its requests go, as read from its base URL. */
export interface ProviderAddress {
  /** Scheme, host and port. */
  readonly origin: string;
  /** What stands before a request's own path; empty or starting with a slash, never ending with one. */
  readonly pathPrefix: string;
  /** `path`: the request's whole path follows the prefix; `endpoint`: what follows that path's version. */
  readonly appends: 'path' | 'endpoint';
  /** Parameters of every request, such as Azure's `api-version`, without the question mark; often empty. */
  readonly query: string;
}

export interface Provider extends ProviderAddress {
  readonly name: ProviderName;
  readonly kind: ProviderKind;
  /** As it was configured, without a slash at its end. */
  readonly baseUrl: string;
  /** The base URL, with the machine where it is on loopback and state is shared between machines. */
  readonly place: string;
  /** Keys in the order in which they are used; empty where the client must bring its own. */
  readonly keys: readonly ProviderKey[];
  /** False for a provider that wants no credential at all. */
  readonly needsKey: boolean;
  /** Time for connecting and for the response head, in milliseconds; 0 waits for ever. */
  readonly headTimeoutMs: number;
  /** Longest silence inside a response body, in milliseconds; 0 allows any. */
  readonly idleTimeoutMs: number;
  readonly supportsStreaming: boolean;
  /** Of a plan's window: from there on another provider is asked first; absent for never. */
  readonly fallbackAtPercent?: number;
  /** Whether it takes markers, or a key, that ask it to cache; `auto` where model and address must tell. */
  readonly promptCache: 'auto' | 'on' | 'off';
  readonly modelAliases: ReadonlyMap<string, string>;
  /** Extra header fields, flat; they replace the client's fields of the same name. */
  readonly headers: readonly string[];
  /** Members set in every request body. */
  readonly extraBody: ReadonlyMap<string, unknown>;
  /** What a provider that is code changes on the way. */
  readonly hooks?: ProviderHooks;
}

/** A configured credential; it never appears in anything that is written or sent elsewhere. */
export interface ProviderKey {
  readonly secret: string;
  /** `bearer` goes out as `Authorization: Bearer`, `key` in the header of the provider's kind. */
  readonly scheme: 'key' | 'bearer';
  /** Safe to show: where it was configured, such as `MSGPROV_API_KEY` or `providers.local.api_key`. */
  readonly label: string;
}
