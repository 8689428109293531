/** How one path is served. Which path is served how, each dialect defines: `dialect/<name>/endpoints.ts`. */
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
  /** `opaque` where bytes pass without being read. */
  readonly dialect: DialectName;
  /** `probe` is answered by the proxy itself: a client asks whether anyone is there. */
  readonly operation: Operation;
  /** True if stages may alter the request; a body that nobody alters is not even decoded. */
  readonly rewritable: boolean;
  /**
   * True if the body is a conversation, or a prompt: it goes to the provider that was chosen for
   * those and to no other, whatever is done with it there.
   */
  readonly isConversation: boolean;
  /** The provider that serves it unless a route says otherwise; `by-credential` means `kindByCredential`. */
  readonly defaultKind: EndpointKind | 'by-credential';
}

/** The path is ours and the method is not; these are the ones that are. */
export interface WrongMethod {
  readonly allow: readonly string[];
}

/** How a dialect's paths are served. */
export interface DialectEndpoints {
  /** Paths that take POST, and no other method but the GETs among them. */
  readonly posts: Readonly<Record<string, Endpoint>>;
  /** How a GET of one of them is served: a list of what was posted there and kept. */
  readonly gets?: Readonly<Record<string, Endpoint>>;
  /** Any other path that belongs to the dialect alone; undefined for one that does not. */
  readonly other?: (path: string, method: string) => Endpoint | WrongMethod | undefined;
}

/** A path whose requests and answers are read. */
export function generating(dialect: DialectName, defaultKind: EndpointKind): Endpoint {
  const what = { dialect, operation: 'generate', rewritable: true, isConversation: true } as const;
  return Object.freeze({ ...what, defaultKind });
}

/** A path that counts what would be sent: the request is read and made as the turn itself would be. */
export function counting(dialect: DialectName, defaultKind: EndpointKind): Endpoint {
  return Object.freeze({ ...generating(dialect, defaultKind), operation: 'count_tokens' as const });
}

/** A path that has the provider summarise a conversation: its blocks go out as the turns sent them. */
export function compacting(dialect: DialectName, defaultKind: EndpointKind): Endpoint {
  return Object.freeze({ ...generating(dialect, defaultKind), operation: 'compact' as const });
}

/** A path whose body passes unread and is a conversation all the same. */
export function passingConversation(operation: Operation, defaultKind: EndpointKind): Endpoint {
  return Object.freeze({ ...passing(operation, defaultKind), isConversation: true });
}

/** A path whose body passes unread. */
export function passing(operation: Operation, defaultKind: Endpoint['defaultKind']): Endpoint {
  const what = { dialect: 'opaque', rewritable: false, isConversation: false } as const;
  return Object.freeze({ ...what, operation, defaultKind });
}
