/** What is asked of the compressing thread, and what it answers. All of it can be copied between threads. */
import type { Mode } from '../rules/rule.ts';
import type { ConversationOptions, BlockOutcome } from '../pass/conversation.ts';
import type { CacheFigures } from '../pass/cache.ts';
import type { RecipeSet } from '../../model/pass.ts';
import type { ConversationBlock } from '../pass/blocks.ts';

/** The options of a conversation without functions, which cannot be copied. */
export type JobOptions = Omit<ConversationOptions, 'commentLines' | 'definitions' | 'rewriter'> & {
  /** Run before the built-in rules; none if left out. */
  readonly recipes?: RecipeSet;
};

export interface CompressJob {
  readonly blocks: readonly ConversationBlock[];
  readonly options: JobOptions;
  /** Names the conversation: the thread that did its last turn is asked first. */
  readonly conversation?: string;
}

/** Outcomes by block. The texts of unchanged blocks are left out: the asker has them. */
export type JobOutcome = Omit<BlockOutcome, 'text'> & { readonly text: string | undefined };

/** What the jobs to come will ask for. */
export interface Expected {
  readonly mode: Mode;
  readonly recipes: RecipeSet | undefined;
}

/**
 * What the thread does: outcomes by and by, in order, each once, before a block that may take
 * long and at the end; after each job its figures, before the job's end.
 */
export interface CompressProtocol {
  readonly job: CompressJob;
  readonly part: readonly JobOutcome[];
  /** The outcomes that were not reported before. */
  readonly result: readonly JobOutcome[];
  readonly event: CacheFigures;
  readonly notice: Expected;
}
