/** The messages to and from the compression thread. All of them can be copied between threads. */
import type { Mode } from '../rules/rule.ts';
import type { ConversationOptions, BlockOutcome } from '../pass/conversation.ts';
import type { CacheFigures } from '../pass/cache.ts';
import type { RecipeSet } from '../../model/pass.ts';
import type { ConversationBlock } from '../pass/blocks.ts';

/** The options of a conversation, without functions, which cannot be copied. */
export type JobOptions = Omit<ConversationOptions, 'commentLines' | 'definitions' | 'rewriter'> & {
  /** Recipes to run before the built-in rules; absent: none. */
  readonly recipes?: RecipeSet;
};

export interface CompressJob {
  readonly blocks: readonly ConversationBlock[];
  readonly options: JobOptions;
  /** Conversation id: the thread that did its last turn is preferred. */
  readonly conversation?: string;
}

/** A job as a thread receives it: `blocks` are those that the thread does not know yet. */
export type ThreadJob = {
  /** The thread keeps the state after the job under this key; absent: it keeps none. */
  readonly key?: number;
  readonly blocks: readonly ConversationBlock[];
} & (
  | { readonly options: JobOptions }
  /** The key of an earlier job, which the blocks follow. Its options apply. */
  | { readonly continues: number }
);

/** Conversations whose state a thread keeps for their next turn. */
export const MAX_CONVERSATIONS = 32;

/** The thread does not have the state that a job continues. */
export const UNKNOWN_STATE = 'unknown-state';

/**
 * Outcome of a block. Texts of unchanged blocks are left out, as the sender of the job has them.
 */
export type JobOutcome = Omit<BlockOutcome, 'text'> & { readonly text: string | undefined };

/** What upcoming jobs will need. */
export interface Expected {
  readonly mode: Mode;
  readonly recipes: RecipeSet | undefined;
}

/**
 * Messages of the thread: outcomes in parts, in order, each once, before a block that may take long
 * and at the end; after each job its figures, before the job's result.
 */
export interface CompressProtocol {
  readonly job: ThreadJob;
  readonly part: readonly JobOutcome[];
  /** The outcomes of the job's blocks that were not reported before. */
  readonly result: readonly JobOutcome[] | typeof UNKNOWN_STATE;
  readonly event: CacheFigures;
  readonly notice: Expected;
}

/** Returns true for an outcome that the next job may find different. */
export function isUndecided({ undecided }: Pick<BlockOutcome, 'undecided'>): boolean {
  return undecided !== undefined;
}
