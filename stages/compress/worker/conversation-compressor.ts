/**
 * Compresses conversations one after another, with the caches that make the next turn fast. The
 * same code runs in a thread of its own and, for small conversations, inline.
 */
import { LRUCache } from 'lru-cache';
import { createBlockCache } from '../pass/cache.ts';
import { createCodeTools, type CodeTools } from '../rules/code/code-tools.ts';
import { compressNextBlocks, emptyState } from '../pass/conversation.ts';
import type {
  BlockOutcome,
  ConversationOptions,
  ConversationState,
  OnBlockDecided,
} from '../pass/conversation.ts';
import { GrammarNeeded } from '../rules/code/grammar-needed.ts';
import { ContinuedJobs } from './continued-jobs.ts';
import type { Prepared } from './continued-jobs.ts';
import { isUndecided, MAX_CONVERSATIONS, UNKNOWN_STATE } from './job.ts';
import type { CompressJob, JobOptions, JobOutcome, ThreadJob } from './job.ts';
import { queriesOf } from '../pass/query.ts';
import type { RecipeSet } from '../../model/pass.ts';
import { createRecipeCompiler } from '../recipe/set.ts';
import type { Rewriter } from '../rules/rewrite.ts';

/** A block of this many characters takes a millisecond or more. */
const LONG_CHARS = 4096;

/** The state after a job that another one may continue. */
interface KeptState {
  readonly state: ConversationState;
  readonly options: JobOptions;
}

/** Receives new outcomes, each once, before a block that may take long. */
type Report = (outcomes: readonly JobOutcome[]) => void;

export type ConversationCompressor = ReturnType<typeof createConversationCompressor>;

/**
 * Creates a compressor with a cache of `cacheEntries` results. Several may share `code` tools and a
 * recipe compiler.
 */
export function createConversationCompressor(
  cacheEntries: number,
  code: CodeTools = createCodeTools(),
  compile: (set: RecipeSet) => Rewriter = createRecipeCompiler(),
) {
  const cache = createBlockCache(cacheEntries);
  const jobs = new ContinuedJobs();
  const kept = new LRUCache<number, KeptState>({ max: MAX_CONVERSATIONS });
  const fullOptions = (options: JobOptions): ConversationOptions => {
    code.forgetFailures();
    const { recipes, ...plain } = options;
    return {
      ...plain,
      definitions: code.definitions,
      ...(options.mode === 'aggressive' && { commentLines: code.commentLines }),
      ...(recipes !== undefined && { rewriter: compile(recipes) }),
    };
  };
  /**
   * Runs `pass`, and reruns it from the start once a missing grammar is loaded; that is fast, as
   * results are cached.
   */
  const withGrammars = async <T>(pass: () => T): Promise<T> => {
    for (;;) {
      try {
        return pass();
      } catch (thrown) {
        if (!(thrown instanceof GrammarNeeded) || thrown.reason !== undefined) throw thrown;
        await code.load(thrown.grammar);
      }
    }
  };
  /** Returns the outcomes of the job's own blocks, and keeps the state after them. */
  async function compressNext(
    job: ThreadJob,
    report?: Report,
  ): Promise<readonly JobOutcome[] | typeof UNKNOWN_STATE> {
    const before = 'continues' in job ? kept.get(job.continues) : undefined;
    if ('continues' in job && before === undefined) return UNKNOWN_STATE;
    const options = 'options' in job ? job.options : before!.options;
    const state = before?.state ?? emptyState();
    if ('continues' in job) kept.delete(job.continues);
    cache.addHits(state.lookups);
    const full = fullOptions(options);
    const from = state.outcomes.length;
    const watch = watcher(from, report);
    const queries = queriesOf(job.blocks);
    await withGrammars(() => {
      const done = state.outcomes.length - from;
      const [blocks, asked] = [job.blocks.slice(done), queries.slice(done)];
      compressNextBlocks(blocks, full, cache, state, watch, asked);
    });
    const outcomes = state.outcomes.slice(from);
    if (job.key !== undefined && !outcomes.some(isUndecided)) kept.set(job.key, { state, options });
    return outcomes.map(withoutKeptText);
  }
  /** Returns the outcomes of all blocks. */
  async function compress(
    job: CompressJob,
    report?: Report,
    { sent, known }: Prepared = jobs.prepare(job),
  ): Promise<readonly JobOutcome[]> {
    const made = await compressNext(sent, report);
    if (made === UNKNOWN_STATE) return compress(job, report, jobs.whole(job));
    const outcomes = [...known, ...made];
    jobs.done(job, sent, outcomes);
    return outcomes;
  }
  return {
    compress: (job: CompressJob, report?: Report) => compress(job, report),
    compressNext,
    /**
     * Recomputes without any cached state, as after a restart; returns the state after the last
     * block.
     */
    compressUncached({ blocks, options }: CompressJob): Promise<ConversationState> {
      const full = fullOptions(options);
      return withGrammars(() => {
        const state = emptyState();
        compressNextBlocks(blocks, full, undefined, state, undefined, queriesOf(blocks));
        return state;
      });
    },
    figures: cache.figures,
  };
}

/** Reports the outcomes after the first `from` ones. */
function watcher(from: number, report: Report | undefined): OnBlockDecided {
  let reported = from;
  return (decided, next) => {
    if (next.text.length < LONG_CHARS || decided.length <= reported) return;
    report?.(decided.slice(reported).map(withoutKeptText));
    reported = decided.length;
  };
}

function withoutKeptText({ text, ...rest }: BlockOutcome): JobOutcome {
  return { ...rest, text: rest.changed ? text : undefined };
}
