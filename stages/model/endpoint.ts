/** How one path is served. Each dialect defines its paths: `dialect/<name>/endpoints.ts`. */
import type { DialectName } from './dialect.ts';

/** The kind of provider whose native protocol a path belongs to. */
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];
export const ENDPOINT_KINDS = ['messages', 'chat', 'generative'] as const;

export type Operation =
  | 'generate'
  | 'count_tokens'
  | 'compact'
  | 'embeddings'
  | 'completions'
  | 'models'
  | 'probe'
  | 'other';

/** How one path is served. */
export interface Endpoint {
  /** `opaque` if bytes pass without being read. */
  readonly dialect: DialectName;
  /** `probe` is answered by the proxy itself: a client checks whether the server is up. */
  readonly operation: Operation;
  /** True if stages may alter the request; a body that is never altered is not even decoded. */
  readonly rewritable: boolean;
  /**
   * True if the body is a conversation or a prompt: it only goes to the provider chosen for those,
   * whatever is done with it there.
   */
  readonly isConversation: boolean;
  /**
   * The provider that serves it unless a route says otherwise; `by-credential` means
   * `kindByCredential`.
   */
  readonly defaultKind: EndpointKind | 'by-credential';
}

/** The path is one of ours but the method is not; `allow` lists the valid ones. */
export interface WrongMethod {
  readonly allow: readonly string[];
}

/** How a dialect's paths are served. */
export interface DialectEndpoints {
  /** Paths that take POST, and otherwise only the GETs in `gets`. */
  readonly posts: Readonly<Record<string, Endpoint>>;
  /** How a GET of one of them is served: a list of what was posted there and stored. */
  readonly gets?: Readonly<Record<string, Endpoint>>;
  /** Any other path that belongs to the dialect alone; undefined for a path that does not. */
  readonly other?: (path: string, method: string) => Endpoint | WrongMethod | undefined;
}

/** Defines a path whose requests and answers are read. */
export function generationEndpoint(dialect: DialectName, defaultKind: EndpointKind): Endpoint {
  const what = { dialect, operation: 'generate', rewritable: true, isConversation: true } as const;
  return Object.freeze({ ...what, defaultKind });
}

/**
 * Defines a path that counts tokens: the request is read and edited as the turn itself would be.
 */
export function countingEndpoint(dialect: DialectName, defaultKind: EndpointKind): Endpoint {
  return Object.freeze({
    ...generationEndpoint(dialect, defaultKind),
    operation: 'count_tokens' as const,
  });
}

/**
 * Defines a path where the provider summarises a conversation: its blocks are sent as the turns
 * sent them.
 */
export function compactionEndpoint(dialect: DialectName, defaultKind: EndpointKind): Endpoint {
  return Object.freeze({
    ...generationEndpoint(dialect, defaultKind),
    operation: 'compact' as const,
  });
}

/** Defines a path whose body is forwarded without being parsed, but is a conversation. */
export function opaqueConversationEndpoint(
  operation: Operation,
  defaultKind: EndpointKind,
): Endpoint {
  return Object.freeze({ ...opaqueEndpoint(operation, defaultKind), isConversation: true });
}

/** Defines a path whose body is forwarded without being parsed. */
export function opaqueEndpoint(
  operation: Operation,
  defaultKind: Endpoint['defaultKind'],
): Endpoint {
  const what = { dialect: 'opaque', rewritable: false, isConversation: false } as const;
  return Object.freeze({ ...what, operation, defaultKind });
}
