import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCanceller, createManualClock } from '../../../engine/index.ts';
import { createConversations } from '../../conversations/conversations.ts';
import { createStore } from '../../conversations/store.ts';
import { requestOf } from '../../../fixtures/compress/stage.ts';
import { createGrammarLoader } from '../../grammars.ts';
import { createCodeTools } from '../rules/code/code-tools.ts';
import { createCompressThread } from '../worker/compress-thread.ts';
import type { CompressThread } from '../worker/compress-thread.ts';
import { createConversationCompressor } from '../worker/conversation-compressor.ts';
import type { ConversationCompressor } from '../worker/conversation-compressor.ts';
import { compressConversation } from './conversation.ts';
import type { ConversationBlock } from './blocks.ts';
import type { CompressJob } from '../worker/job.ts';
import { pinOptions } from './options.ts';
import { compressWithinLimit } from './within-limit.ts';

const LIMIT_MS = 1000;
const options = {
  mode: 'hybrid',
  maxChars: 120,
  thresholdTokens: 0,
  logBudgetTokens: 500,
} as const;

const logOf = (name: string): string =>
  Array.from({ length: 700 }, (_, n) =>
    n === 250 ? `src/${name}.ts:3:1 - error TS2322: wrong` : `Compiling ${name}-${n} v0.${n}.1`,
  ).join('\n');

/** Returns a tool result per text, each followed by a response of the model. */
const turns = (...names: string[]): ConversationBlock[] =>
  names
    .flatMap((name): Omit<ConversationBlock, 'index'>[] => [
      { role: 'tool', kind: 'tool_result', text: logOf(name), toolName: 'bash' },
      { role: 'assistant', kind: 'other', text: 'I see.', protectedReason: 'assistant' },
    ])
    .slice(0, -1)
    .map((block, index) => ({ ...block, index }));

interface Bench {
  readonly clock: ReturnType<typeof createManualClock>;
  readonly thread: CompressThread;
  send(
    blocks: readonly ConversationBlock[],
    thread?: CompressThread,
  ): Promise<readonly (string | undefined)[]>;
}

function createBench(): Bench {
  const clock = createManualClock();
  const thread = createCompressThread({ cacheEntries: 0, clock });
  const memory = createConversations({ store: createStore(clock), clock, version: 0 }).memoryOf(
    requestOf({ messages: [] }),
  );
  pinOptions(
    memory,
    { ...options, thresholdTokens: () => 0 },
    { mode: undefined, macro: undefined },
  );
  const { signal } = createCanceller();
  return {
    clock,
    thread,
    async send(blocks, compressor = thread) {
      const { outcomes } = await compressWithinLimit(blocks, {
        memory,
        compressor,
        options,
        maxTimeMs: LIMIT_MS,
        signal,
      });
      return outcomes.map((outcome) => outcome.text);
    },
  };
}

/**
 * Ends every job at the block with this index, as a thread does that is terminated while working on
 * it.
 */
function endsAt(index: number): CompressThread {
  return {
    run: async ({ blocks, options: own }) => ({
      failed: 'timeout',
      decided: compressConversation(blocks.slice(0, index), own).map((outcome) => ({
        ...outcome,
        text: outcome.changed ? outcome.text : undefined,
      })),
    }),
    prepare: () => undefined,
    figures: () => ({ entries: 0, sizeBytes: 0, hits: 0, misses: 0 }),
    problem: () => undefined,
    load: () => ({ maxThreads: 1, threads: 0, threadsAtWork: 0, jobsWaiting: 0 }),
    close: async () => undefined,
  };
}

test('keeps the bytes of an earlier compressed result when a later turn times out', async () => {
  const bench = createBench();
  const [first] = await bench.send(turns('a'));
  assert.ok(first !== undefined && first.length < logOf('a').length / 2);
  const pending = bench.send(turns('a', 'b'));
  bench.clock.advance(LIMIT_MS + 1);
  assert.equal(await pending, [first, undefined, undefined]);
  const later = await bench.send(turns('a', 'b', 'c'));
  assert.equal(later.slice(0, 4), [first, undefined, undefined, undefined]);
  assert.ok(later[4] !== undefined);
  await bench.thread.close();
});

test('sends a repeated request with the same bytes, however little time there is', async () => {
  const bench = createBench();
  const first = await bench.send(turns('a', 'b'));
  const pending = bench.send(turns('a', 'b'));
  bench.clock.advance(LIMIT_MS + 1);
  assert.equal(await pending, first);
  await bench.thread.close();
});

test('sends blocks compressed that were decided before the time limit, and later ones unchanged in every turn', async () => {
  const bench = createBench();
  const sent = await bench.send(turns('a', 'b', 'c'), endsAt(2));
  assert.ok(sent[0] !== undefined && sent[0].length < logOf('a').length / 2);
  assert.equal(sent.slice(1), [undefined, undefined, undefined, undefined]);
  const later = await bench.send(turns('a', 'b', 'c', 'd'));
  assert.equal(later.slice(0, 6), [...sent, undefined]);
  assert.ok(later[6] !== undefined);
  await bench.thread.close();
});

test('sends a result unchanged in every later turn if its earlier compression cannot be repeated', async () => {
  const bench = createBench();
  const [first] = await bench.send(turns('a'));
  assert.ok(first !== undefined);
  // The job times out, and then the thread that recomputes what was sent runs out of memory.
  const broken: CompressThread = {
    ...endsAt(0),
    run: async (_, maxTimeMs) => ({ failed: maxTimeMs > 0 ? 'timeout' : 'broken', decided: [] }),
  };
  const sent = await bench.send(turns('a', 'b'), broken);
  assert.equal(sent, [undefined, undefined, undefined]);
  const later = await bench.send(turns('a', 'b', 'c'));
  assert.equal(later.slice(0, 4), [...sent, undefined]);
  assert.ok(later[4] !== undefined);
  await bench.thread.close();
});

test('remembers nothing for a client that leaves while earlier results are recomputed', async () => {
  const bench = createBench();
  const [first] = await bench.send(turns('a'));
  const left: CompressThread = {
    ...endsAt(0),
    run: async (_, maxTimeMs) => ({ failed: maxTimeMs > 0 ? 'timeout' : 'cancelled', decided: [] }),
  };
  assert.equal(await bench.send(turns('a', 'b'), left), []);
  const later = await bench.send(turns('a', 'b'));
  assert.is(later[0], first);
  assert.ok(later[2] !== undefined);
  await bench.thread.close();
});

test('keeps the bytes of source code whose grammar was missing when the grammar becomes available', async () => {
  const bench = createBench();
  const source = (name: string): string =>
    `# a remark\n# and another\ndef ${name}(value):\n    return value\n\n`.repeat(40);
  const read = (...names: string[]): ConversationBlock[] =>
    turns(...names).map((block) =>
      block.kind === 'other'
        ? block
        : {
            ...block,
            text: source(names[block.index / 2]!),
            toolName: 'Read',
            toolInput: { file_path: 'a.py' },
          },
    );
  const readBy = (compressor: ConversationCompressor): CompressThread => ({
    ...endsAt(0),
    run: async ({ blocks, options: own }) => ({
      outcomes: await compressor.compress({ blocks, options: { ...own, mode: 'aggressive' } }),
      where: 'inline',
    }),
  });
  const noGrammars = createCodeTools(createGrammarLoader(() => '/nowhere'));
  const without = readBy(createConversationCompressor(10, noGrammars));
  assert.equal(await bench.send(read('a'), without), [undefined]);
  const again = readBy(createConversationCompressor(10));
  const later = await bench.send(read('a', 'b'), again);
  assert.equal(later.slice(0, 2), [undefined, undefined]);
  assert.ok(later[2] !== undefined);
  assert.equal((await bench.send(read('a', 'b', 'c'), again)).slice(0, 3), later);
});

test('does not remember blocks for which no thread was ready', async () => {
  const bench = createBench();
  const late: CompressThread = {
    ...endsAt(0),
    run: async () => ({ failed: 'starting', decided: [] }),
  };
  assert.equal(await bench.send(turns('a'), late), [undefined]);
  const [later] = await bench.send(turns('a', 'b'));
  assert.ok(later !== undefined && later.length < logOf('a').length / 2);
  await bench.thread.close();
});

test('applies the time limit to the first request of a conversation', async () => {
  const bench = createBench();
  const pending = bench.send(turns('a', 'b'));
  bench.clock.advance(LIMIT_MS + 1);
  assert.equal(await pending, [undefined, undefined, undefined]);
  await bench.thread.close();
});

test('does not end the jobs of others, waiting or running, when one job times out', async () => {
  const clock = createManualClock();
  const thread = createCompressThread({ cacheEntries: 0, clock });
  const { signal } = createCanceller();
  const run = (name: string, limitMs: number) =>
    thread.run({ blocks: turns(name), options }, limitMs, signal);
  await run('first', 0);
  const inWork = run('a', 1);
  const waiting = run('b', 1);
  const patient = [run('c', 5000), run('d', 0)];
  clock.advance(2);
  assert.equal(await inWork, { failed: 'timeout', decided: [] });
  // By then the thread has ended, and the next one is starting.
  assert.equal(await waiting, { failed: 'starting', decided: [] });
  for (const result of await Promise.all(patient)) assert.ok('outcomes' in result);
  const patientInWork = run('e', 5000);
  const impatient = run('f', 1);
  clock.advance(2);
  assert.ok('failed' in (await impatient));
  assert.ok('outcomes' in (await patientInWork));
  await thread.close();
});

test('gives the same result in a prepared thread, and does not count its preparation', async () => {
  const source = '# a remark\n# and another\ndef f(value):\n    return value\n\n'.repeat(40);
  const blocks = turns('a').map((block) => ({
    ...block,
    text: source,
    toolName: 'Read',
    toolInput: { file_path: 'a.py' },
  }));
  const job: CompressJob = { blocks, options: { ...options, mode: 'aggressive' } };
  const { signal } = createCanceller();
  const clock = createManualClock();
  const [prepared, other] = [1, 2].map(() => createCompressThread({ cacheEntries: 10, clock }));
  prepared!.prepare({ mode: 'aggressive', recipes: undefined });
  const result = await prepared!.run(job, 0, signal);
  assert.equal(result, await other!.run(job, 0, signal));
  assert.ok('outcomes' in result && result.outcomes.some(({ by }) => by.includes('code')));
  assert.equal(prepared!.figures(), other!.figures());
  await Promise.all([prepared!.close(), other!.close()]);
});

test.run();
