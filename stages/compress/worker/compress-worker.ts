/** The compressing thread: takes jobs, of which it is given one at a time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { serveJobs } from '../../threads/serve.ts';
import { createCodeTools, type CodeTools } from '../rules/code/code-tools.ts';
import { createRecipeCompiler } from '../recipe/set.ts';
import { createConversationCompressor } from './conversation-compressor.ts';
import type { CompressProtocol, Expected } from './job.ts';
import { warmUpJob } from './warm-up.ts';

serveJobs<CompressProtocol, { readonly cacheEntries: number }>(({ cacheEntries }, port) => {
  const tools = createCodeTools();
  // A grammar that is loaded for the first time belongs to the thread's start, not to the job's work.
  const code: CodeTools = { ...tools, load: (name) => port.whileStarting(tools.load(name)) };
  const compile = createRecipeCompiler();
  const compressor = createConversationCompressor(cacheEntries, code, compile);
  let firstJob: Promise<unknown> | undefined;
  /**
   * By a compressor of its own, so that none of it is found in the figures or the cache; a block
   * at a time, so that a first job does not wait for the rest, which it makes needless: then that
   * job is what the thread gets ready by.
   */
  async function warmUp(expected: Expected): Promise<void> {
    try {
      const { blocks, options } = warmUpJob(expected);
      for (const block of blocks) {
        await createConversationCompressor(0, code, compile).compress({ blocks: [block], options });
        await nextTurn();
        if (firstJob !== undefined && expected.mode !== 'aggressive') break;
      }
      // Code may come all the same: in a long result, or by the mode that a request asks for.
      await code.prepare();
      await firstJob;
    } catch {
      // What cannot be prepared will fail, and be reported, when it is needed.
    }
  }
  return {
    prepare: warmUp,
    async run(job, report) {
      let reported = 0;
      const done = compressor.compress(job, (outcomes) => {
        reported += outcomes.length;
        report(outcomes);
      });
      firstJob ??= done;
      const all = await done;
      port.emit(compressor.figures());
      return all.slice(reported);
    },
  };
});
