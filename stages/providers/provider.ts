/** A model provider as the configuration describes it. */

import type { EndpointKind } from '../model/endpoint.ts';
import type { ProviderHooks } from './hooks.ts';

/** The wire dialect that a provider speaks; `passthrough` takes whatever the client's path says. */
export type ProviderKind = EndpointKind | 'passthrough';

/** The name under which a provider is configured. */
export type ProviderName = string;

export interface Provider {
  readonly name: ProviderName;
  readonly kind: ProviderKind;
  /** `origin` and `pathPrefix` together. */
  readonly baseUrl: string;
  /** The base URL, with the machine where it is on loopback and state is shared between machines. */
  readonly place: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** What stands before a request's own path; empty or starting with a slash, never ending with one. */
  readonly pathPrefix: string;
  /** Keys in the order in which they are used; empty where the client must bring its own. */
  readonly keys: readonly ProviderKey[];
  /** False for a provider that wants no credential at all. */
  readonly needsKey: boolean;
  /** Time for connecting and for the response head, in milliseconds; 0 waits for ever. */
  readonly headTimeoutMs: number;
  /** Longest silence inside a response body, in milliseconds; 0 allows any. */
  readonly idleTimeoutMs: number;
  readonly supportsStreaming: boolean;
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

/**
 * The URL path for a request's own target under a provider: the prefix and the
 * target, with a `/v1` at the end of the prefix not doubled.
 */
export function upstreamPath(provider: Provider, target: string): string {
  const { pathPrefix } = provider;
  if (pathPrefix === '') return target;
  const version = /\/v1(?:beta)?$/.exec(pathPrefix)?.[0];
  const doubled = version !== undefined && target.startsWith(`${version}/`);
  return doubled ? pathPrefix + target.slice(version.length) : pathPrefix + target;
}

/** Why an address cannot be a base URL though it is a sound one: people copy the whole line of a manual. */
export function misplacedPath({ pathname }: URL): string | undefined {
  const whole = /\/(?:chat\/completions|v1\/(?:messages|responses|completions|embeddings))\/*$/;
  const [found] = whole.exec(pathname) ?? [];
  return found === undefined
    ? undefined
    : `it ends in ${found}, which each request brings itself; leave that out`;
}
