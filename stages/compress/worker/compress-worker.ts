/** The compression thread: processes jobs one at a time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { serveJobs } from '../../threads/serve.ts';
import { createCodeTools, type CodeTools } from '../rules/code/code-tools.ts';
import { createRecipeCompiler } from '../recipe/set.ts';
import { createConversationCompressor } from './conversation-compressor.ts';
import { UNKNOWN_STATE } from './job.ts';
import type { CompressProtocol, Expected } from './job.ts';
import { warmUpJob } from './warm-up.ts';

serveJobs<CompressProtocol, { readonly cacheEntries: number }>(({ cacheEntries }, port) => {
  const tools = createCodeTools();
  // The first load of a grammar counts towards the thread's start, not the job's time.
  const code: CodeTools = { ...tools, load: (name) => port.whileStarting(tools.load(name)) };
  const compile = createRecipeCompiler();
  const compressor = createConversationCompressor(cacheEntries, code, compile);
  let firstJob: Promise<unknown> | undefined;
  /**
   * Warms up with a separate compressor, so that neither figures nor cache are affected, and one
   * block at a time, so that a first job need not wait for the rest; that job then warms up the
   * thread itself.
   */
  async function warmUp(expected: Expected): Promise<void> {
    try {
      const { blocks, options } = warmUpJob(expected);
      for (const block of blocks) {
        await createConversationCompressor(0, code, compile).compress({ blocks: [block], options });
        await nextTurn();
        if (firstJob !== undefined && expected.mode !== 'aggressive') break;
      }
      // Code may still occur: in a long result, or by the mode that a request names.
      await code.prepare();
      await firstJob;
    } catch {
      // Anything that cannot be prepared will fail, and be reported, when it is needed.
    }
  }
  return {
    prepare: warmUp,
    async run(job, report) {
      let reported = 0;
      const done = compressor.compressNext(job, (outcomes) => {
        reported += outcomes.length;
        report(outcomes);
      });
      firstJob ??= done;
      const all = await done;
      port.emit(compressor.figures());
      return all === UNKNOWN_STATE ? all : all.slice(reported);
    },
  };
});
