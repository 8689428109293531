/**
 * What one turn of a conversation left in a provider's prompt cache, and what must be compared to say
 * why a later turn did not find it there: hashes, figures and times, no text.
 */

/** Why a turn read less from the provider's cache than the turn before left in it. */
export const MISS_CAUSES = [
  'first_request',
  'pause',
  'model',
  'system',
  'tools',
  'thinking',
  'tool_choice_or_images',
  'message',
  'below_least_length',
  'no_marker',
  'key_or_provider',
  'evicted',
] as const;

export type MissCause = (typeof MISS_CAUSES)[number];

/** One cache miss, explained. */
export interface CacheMiss {
  readonly cause: MissCause;
  /** What exactly, in words: which tools, which message and by whom, how long a pause; null where the cause says all. */
  readonly detail: string | null;
  /** Input tokens that the turn before left in the cache and that were not read from it. */
  readonly missedTokens: number;
  /** The request that is compared with; null for a first request. */
  readonly comparedWith: string | null;
  /** The cause by our own comparison, where the provider names another one. */
  readonly ourCause?: MissCause;
}

/** What a provider says of a miss by itself. */
export interface NamedMiss {
  /** The provider's word, such as `tools_changed`. */
  readonly reason: string;
  /** Tokens, where it says them. */
  readonly missedTokens: number | null;
}

export interface CachedTurn {
  /** The request's id. */
  readonly request: string;
  /** When it was sent and when its answer ended, in wall time. */
  readonly atMs: number;
  readonly doneMs: number;
  readonly provider: string;
  readonly model: string;
  /** Tells the credential that went out from others. */
  readonly key: string;
  /** The client's own session; empty where it names none. */
  readonly session: string;
  /** For how long the provider promises to keep what this turn left. */
  readonly lifetimeMs: number;
  /** Input tokens, and those of them that are in the cache now. */
  readonly total: number;
  readonly left: number;
  /** What the turn read from the cache. */
  readonly read: number;
  /** Whether it carried cache markers; `automatic` where the provider needs none. */
  readonly markers: 'some' | 'none' | 'automatic';
  /** Blocks up to the last one that carries a marker of the client; 0 for none. */
  readonly blocks: number;
  /** Speed and service tier, which have caches of their own. */
  readonly tier: string;
  /** Of the parameters of thinking, of the choice of tools, and of the format of the answer. */
  readonly thinking: string;
  readonly choice: string;
  readonly format: string;
  readonly images: boolean;
  /** `HASH_CHARS` for the name and as many for the definition of each tool. */
  readonly tools: string;
  /** `HASH_CHARS` for each piece of the system prompt. */
  readonly system: string;
  /** A hash for each message as it went out, with `~` and the hash of what came where svc changed it; joined by commas. */
  readonly messages: string;
  /** What earlier turns of the same run left: how many messages, how many tokens, when. */
  readonly steps: readonly (readonly [messages: number, left: number, atMs: number])[];
}

/** Characters of a hash, 48 bits: texts are compared with those at the same place alone. */
export const HASH_CHARS = 8;
