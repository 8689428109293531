/** The compressing thread: takes jobs, of which it is given one at a time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { serveJobs } from '../../threads/serve.ts';
import { createCodeTools } from '../code/code-tools.ts';
import { createRecipeCompiler } from '../recipe/set.ts';
import { createConversationCompressor } from './conversation-compressor.ts';
import type { CompressProtocol, Expected } from './job.ts';
import { warmUpJob } from './warm-up.ts';

serveJobs<CompressProtocol, { readonly cacheEntries: number }>(({ cacheEntries }, port) => {
  const code = createCodeTools();
  const compile = createRecipeCompiler();
  const compressor = createConversationCompressor(cacheEntries, code, compile);
  let isAsked = false;
  /**
   * By a compressor of its own, so that none of it is found in the figures or the cache; a block
   * at a time, so that a first job does not wait for the rest, which it makes needless.
   */
  async function warmUp(expected: Expected): Promise<void> {
    try {
      const { blocks, options } = warmUpJob(expected);
      for (const block of blocks) {
        await createConversationCompressor(0, code, compile).compress({ blocks: [block], options });
        await nextTurn();
        if (isAsked && expected.mode !== 'aggressive') break;
      }
      // Code may come all the same: in a long result, or by the mode that a request asks for.
      await code.prepare();
    } catch {
      // What cannot be prepared will fail, and be reported, when it is needed.
    }
  }
  return {
    prepare: (expected) => void warmUp(expected),
    async run(job, report) {
      isAsked = true;
      let reported = 0;
      const all = await compressor.compress(job, (outcomes) => {
        reported += outcomes.length;
        report(outcomes);
      });
      port.emit(compressor.figures());
      return all.slice(reported);
    },
  };
});
