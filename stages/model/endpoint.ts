/** How one path is served. Which path is served how is the dialects' to say. */
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
