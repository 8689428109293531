/**
 * What one turn of a conversation left in a provider's prompt cache, and what is compared to
 * explain why a later turn missed it: hashes, figures and times, no text.
 */

/** Why a turn read less from the provider's cache than the previous turn left in it. */
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
  /**
   * Details as text: which tools, which message and by whom, how long a pause; null if the cause
   * says everything.
   */
  readonly detail: string | null;
  /** Input tokens that the previous turn left in the cache and that were not read from it. */
  readonly missedTokens: number;
  /** The earlier request that this one is compared with; null for a first request. */
  readonly comparedWith: string | null;
  /** The cause according to our own comparison, if the provider names a different one. */
  readonly ourCause?: MissCause;
}

/** A provider's own report of a miss. */
export interface NamedMiss {
  /** The provider's term, such as `tools_changed`. */
  readonly reason: string;
  /** Tokens, if it reports them. */
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
  /** Distinguishes the credential that was sent. */
  readonly key: string;
  /** The client's own session; empty if it names none. */
  readonly session: string;
  /** How long the provider promises to keep what this turn cached. */
  readonly lifetimeMs: number;
  /** Input tokens, and how many of them are in the cache now. */
  readonly total: number;
  readonly left: number;
  /** What the turn read from the cache. */
  readonly read: number;
  /** Whether it has cache markers; `automatic` if the provider needs none. */
  readonly markers: 'some' | 'none' | 'automatic';
  /** Blocks up to the client's last marker; 0 for none. */
  readonly blocks: number;
  /** Speed and service tier, each of which has its own cache. */
  readonly tier: string;
  /** Hash of the parameters for thinking, tool choice, and answer format. */
  readonly thinking: string;
  readonly choice: string;
  readonly format: string;
  readonly images: boolean;
  /** `HASH_CHARS` for the name and `HASH_CHARS` for the definition of each tool. */
  readonly tools: string;
  /** `HASH_CHARS` for each piece of the system prompt. */
  readonly system: string;
  /**
   * A hash for each message as sent, with `~` and the hash of the original if svc changed it;
   * joined by commas.
   */
  readonly messages: string;
  /** What earlier turns of the same run left: how many messages, how many tokens, when. */
  readonly steps: readonly (readonly [messages: number, left: number, atMs: number])[];
}

/**
 * Characters of a hash, 48 bits: enough, since texts are only compared with those at the same
 * place.
 */
export const HASH_CHARS = 8;

/** Return the hash of a message as sent, and as received, from its entry in `messages`. */
export const sentOf = (entry: string | undefined): string | undefined =>
  entry?.slice(0, HASH_CHARS);
export const hashOfEntry = (entry: string | undefined): string | undefined =>
  entry?.slice(-HASH_CHARS);

/** Counts the messages of a turn. */
export function countMessages({ messages }: Pick<CachedTurn, 'messages'>): number {
  let count = 1;
  for (let at = messages.indexOf(','); at >= 0; at = messages.indexOf(',', at + 1)) count += 1;
  return count;
}

/** Counts the leading messages of `before` that `turn` sent again unchanged. */
export function sharedMessages(
  turn: Pick<CachedTurn, 'messages'>,
  before: Pick<CachedTurn, 'messages'>,
): number {
  const { length } = before.messages;
  // Nearly every turn continues the one before: one comparison is enough then.
  const goesOn = turn.messages.length === length || turn.messages[length] === ',';
  if (goesOn && turn.messages.startsWith(before.messages)) return countMessages(before);
  const now = turn.messages.split(',');
  const earlier = before.messages.split(',');
  const end = earlier.findIndex((entry, at) => sentOf(entry) !== sentOf(now[at]));
  return end < 0 ? earlier.length : end;
}
