/** A provider that is code, as its author writes it. */
import type { EndpointKind } from '../stages/model/endpoint.ts';
import type { HookedEvent, HookedRequest, HookedResponse } from '../stages/providers/hooks.ts';

/**
 * A provider. Only `kind` and `baseUrl` are required; it is used under its name in
 * `custom_providers`.
 *
 * @example export default defineProvider({
 *   name: 'acme',
 *   kind: 'chat',
 *   baseUrl: 'https://llm.acme.example/api',
 *   auth: { env: 'ACME_API_KEY' },
 *   event(event) {
 *     if (event.data.type === 'keep-alive') return null;
 *   }, });
 */
export interface ProviderDefinition {
  /** For messages about the module itself. */
  readonly name?: string;
  /** Its dialect: requests in another dialect are translated into it. */
  readonly kind: EndpointKind;
  /**
   * Origin with an optional path prefix. Plain `http:` is allowed to this machine only, unless
   * `allowInsecure`.
   */
  readonly baseUrl: string;
  readonly allowInsecure?: boolean;
  /**
   * Where its key comes from. `env` names a variable of the proxy's environment; `scheme` is `key`
   * for the header of the kind (the default) or `bearer`. `none` for a server that needs no key.
   * Without `auth`, only clients with their own key can use it.
   */
  readonly auth?: 'none' | { readonly env: string; readonly scheme?: 'key' | 'bearer' };
  /** Headers added to every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Aliases for its models: alias to model. */
  readonly modelAliases?: Readonly<Record<string, string>>;
  /** Members added to every request body that does not have them. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
  /** False: its answers are fetched whole and forwarded as one short stream. Default true. */
  readonly supportsStreaming?: boolean;
  /**
   * Seconds for connecting and receiving the head of the answer; default: that of the built-in
   * provider of its kind.
   */
  readonly timeoutSeconds?: number;
  /** Seconds of silence after which a running answer is aborted; default: likewise. */
  readonly idleTimeoutSeconds?: number;
  /** US dollars per million tokens; without them its requests have no price. */
  readonly pricing?: { readonly inputUsdPer1m: number; readonly outputUsdPer1m: number };
  /**
   * Changes a request before it is sent, in place or by returning another. Synchronous, at most 50
   * ms.
   */
  readonly request?: (request: HookedRequest) => HookedRequest | void;
  /**
   * Changes an answer that is one JSON document, errors included, before anything else reads it.
   */
  readonly response?: (response: HookedResponse) => HookedResponse | void;
  /** Changes one event of a streamed answer; `null` drops it. */
  readonly event?: (event: HookedEvent) => HookedEvent | null | void;
}

/** Gives a definition its type; a plain object of the same shape works as well. */
export function defineProvider(definition: ProviderDefinition): ProviderDefinition {
  return Object.freeze(definition);
}
