/** A worker thread that reads files: batches of tasks in, the bytes of their records out. */
import { serveJobs } from '../../threads/serve.ts';
import { createGrammars } from './grammar.ts';
import type { ReadPoolSettings, ReadProtocol } from './read-pool.ts';
import { readOne, type FileResult } from './read-file.ts';
import { Tokenizer } from '../words/tokenize.ts';

serveJobs<ReadProtocol, ReadPoolSettings>(({ parseCode }) => {
  const reading = {
    tokenizer: new Tokenizer(),
    grammars: parseCode ? createGrammars() : undefined,
    nowMs: () => Date.now(),
  };
  return {
    async run(tasks) {
      reading.grammars?.forgetFailures();
      const results: FileResult[] = [];
      for (const task of tasks) results.push(await readOne(task, reading));
      // Shared, not handed over: once a thread has handed over any buffer, each access to each
      // of its arrays, in all of its loops, asks whether that one is gone as well.
      const size = results.reduce((sum, { record }) => sum + record.length, 0);
      const bytes = new Uint8Array(new SharedArrayBuffer(size));
      let at = 0;
      for (const { record } of results) {
        bytes.set(record, at);
        at += record.length;
      }
      return { bytes, files: results.map(({ outcome, blocks }) => ({ outcome, blocks })) };
    },
  };
});
