/** The compressing thread: takes jobs one after another. */
import { parentPort, workerData } from 'node:worker_threads';
import { createConversationCompressor } from './conversation-compressor.ts';
import type { FromCompressor, ToCompressor } from './job.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- given by compress-thread.ts
const { cacheEntries } = workerData as { cacheEntries: number };
const compressor = createConversationCompressor(cacheEntries);
let last: Promise<void> = Promise.resolve();

async function answer({ id, job }: ToCompressor): Promise<void> {
  let message: FromCompressor;
  try {
    const outcomes = await compressor.compress(job);
    message = { id, outcomes, cache: compressor.figures() };
  } catch (thrown) {
    message = { id, failure: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  parentPort?.postMessage(message);
}

parentPort?.on('message', (message: ToCompressor) => {
  last = last.then(() => answer(message));
});
