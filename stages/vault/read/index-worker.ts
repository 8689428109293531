/** A worker thread that reads files: takes batches of tasks, returns the bytes of their records. */
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
      // Shared, not transferred: once a thread has transferred any buffer, every access to any of
      // its arrays has to check for detachment.
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
