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
  readonly job: CompressJob;
  readonly part: readonly JobOutcome[];
  /** The outcomes that were not reported before. */
  readonly result: readonly JobOutcome[];
  readonly event: CacheFigures;
  readonly notice: Expected;
}
