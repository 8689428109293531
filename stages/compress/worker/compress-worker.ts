/** The compressing thread: takes jobs, of which it is given one at a time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createCodeTools } from '../code/code-tools.ts';
import type { Mode } from '../rule.ts';
import { createConversationCompressor } from './conversation-compressor.ts';
import type { CompressMessage, FromCompressor, ToCompressor } from './job.ts';
import { warmUpJob } from './warm-up.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- given by compress-thread.ts
const { cacheEntries } = workerData as { cacheEntries: number };
const code = createCodeTools();
const compressor = createConversationCompressor(cacheEntries, code);

const say = (message: FromCompressor): void => parentPort?.postMessage(message);

let isAsked = false;

/**
 * By a compressor of its own, so that none of it is found in the figures or the cache; a block
 * at a time, so that a first job does not wait for the rest, which it makes needless.
 */
async function prepare(mode: Mode): Promise<void> {
  try {
    const { blocks, options } = warmUpJob(mode);
    for (const block of blocks) {
      await createConversationCompressor(0, code).compress({ blocks: [block], options });
      await nextTurn();
      if (isAsked && mode !== 'aggressive') return;
    }
  } catch {
    // What cannot be prepared will fail, and be reported, when it is needed.
  }
}

async function answer({ id, job }: CompressMessage): Promise<void> {
  let told = 0;
  try {
    const all = await compressor.compress(job, (outcomes) => {
      told += outcomes.length;
      say({ id, outcomes });
    });
    say({ id, outcomes: all.slice(told), done: compressor.figures() });
  } catch (thrown) {
    say({ id, failure: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}

parentPort?.on('message', (message: ToCompressor) => {
  if ('prepare' in message) void prepare(message.prepare);
  else {
    isAsked = true;
    void answer(message);
  }
});
