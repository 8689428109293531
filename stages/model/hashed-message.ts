/** Messages of a request as sent, with the hash that the next request of the conversation takes over. */
import type { Block } from './block.ts';

/** The hashed messages of the newest request of a conversation, for the next one. */
export interface MessageHashes {
  messages: readonly HashedMessage[];
}

export interface SentMessage {
  readonly blocks: readonly Block[];
  /** The texts of the blocks as sent. */
  readonly texts: readonly string[];
  readonly appended: string;
}

export interface HashedMessage extends SentMessage {
  /** Its entry in `CachedTurn.messages`. */
  readonly entry: string;
}
