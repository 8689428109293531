import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCanceller, createManualClock } from '../../../engine/index.ts';
import { CONVERSATION, LOG } from '../../../fixtures/compress/texts.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import { createCompressThread } from './compress-thread.ts';
import type { CompressThread } from './compress-thread.ts';
import { ContinuedJobs } from './continued-jobs.ts';
import { createConversationCompressor } from './conversation-compressor.ts';
import { UNKNOWN_STATE } from './job.ts';
import type { CompressJob, JobOutcome } from './job.ts';

const { signal } = createCanceller();

/** Turns of a session: a call and its result, every third of which repeats the one before. */
const blocksOf = (turns: number, question = 'Why does it fail?'): readonly ConversationBlock[] => [
  { index: 0, role: 'user', kind: 'user_text', message: 0, text: question },
  ...Array.from({ length: turns }, (_, turn): readonly ConversationBlock[] => {
    const [at, toolUseId] = [2 * turn, `t${turn}`];
    const call = { toolUseId, toolName: 'bash', toolInput: { command: `make m${turn}` } };
    const text = LOG.replaceAll('module', `m${turn - (turn % 3 === 2 ? 1 : 0)}-`).repeat(2);
    return [
      { index: at + 1, role: 'assistant', kind: 'tool_use', message: at + 1, text: '{}', ...call },
      { index: at + 2, role: 'tool', kind: 'tool_result', message: at + 2, text, ...call },
    ];
  }).flat(),
];

const jobOf = (blocks: readonly ConversationBlock[], more = {}): CompressJob => ({
  blocks,
  options: { ...CONVERSATION, ...more },
  conversation: 'c',
});

const alone = (job: CompressJob) => createConversationCompressor(0).compress(job);

async function outcomesOf(
  thread: CompressThread,
  job: CompressJob,
): Promise<readonly JobOutcome[]> {
  const result = await thread.run(job, 0, signal);
  if (!('outcomes' in result)) throw new Error(result.failed);
  assert.is(result.where, 'thread');
  return result.outcomes;
}

const withThread = async (use: (thread: CompressThread) => Promise<void>): Promise<void> => {
  const thread = createCompressThread({ cacheEntries: 10, clock: createManualClock() });
  try {
    await use(thread);
  } finally {
    await thread.close();
  }
};

/** Prepares `next` after `first` was done. */
async function preparedAfter(first: CompressJob, next: CompressJob) {
  const jobs = new ContinuedJobs();
  jobs.done(first, jobs.prepare(first).sent, await alone(first));
  return jobs.prepare(next);
}

test('every next turn gives the outcomes of the whole conversation', () =>
  withThread(async (thread) => {
    for (let turns = 1; turns <= 8; turns += 1) {
      const job = jobOf(blocksOf(turns));
      assert.equal(await outcomesOf(thread, job), await alone(job));
    }
  }));

test('branches, shorter ones, other options, and turns of two runs at once give them, too', () =>
  withThread(async (thread) => {
    const jobs = [
      jobOf(blocksOf(4)),
      jobOf(blocksOf(4)),
      jobOf([...blocksOf(3), ...blocksOf(6).slice(9)]),
      jobOf(blocksOf(2)),
      jobOf(blocksOf(3), { maxChars: 50 }),
      jobOf(blocksOf(5, 'What else is wrong?')),
      jobOf(blocksOf(5).map((block) => ({ ...block, isError: true }))),
      jobOf(blocksOf(6)),
    ];
    for (const job of jobs) assert.equal(await outcomesOf(thread, job), await alone(job));
    const [one, other] = [jobOf(blocksOf(7)), jobOf(blocksOf(8))];
    const both = await Promise.all([outcomesOf(thread, one), outcomesOf(thread, other)]);
    assert.equal(both, [await alone(one), await alone(other)]);
  }));

test('sends a thread only the blocks that it does not know, and no options', async () => {
  const { sent, known } = await preparedAfter(jobOf(blocksOf(5)), jobOf(blocksOf(6)));
  assert.is('continues' in sent, true);
  assert.is('options' in sent, false);
  assert.equal(sent.blocks, blocksOf(6).slice(-2));
  assert.equal(known, await alone(jobOf(blocksOf(5))));
});

test('sends the whole job if anything before its end differs', async () => {
  const first = jobOf(blocksOf(5));
  const others: readonly CompressJob[] = [
    jobOf(blocksOf(4)),
    jobOf(blocksOf(6, 'Why?')),
    jobOf(blocksOf(6), { mode: 'aggressive' }),
    jobOf(blocksOf(6).map((block, at) => (at === 4 ? { ...block, forgotten: '[gone]' } : block))),
    jobOf(blocksOf(6).map((block, at) => (at === 3 ? { ...block, toolInput: {} } : block))),
    { ...jobOf(blocksOf(6)), conversation: 'another' },
    // A text of the last message, which may ask about the blocks before it.
    jobOf([...blocksOf(5), { index: 11, role: 'user', kind: 'user_text', message: 10, text: '?' }]),
  ];
  for (const job of others) {
    const { sent, known } = await preparedAfter(first, job);
    assert.is('continues' in sent, false);
    assert.equal([sent.blocks, known], [job.blocks, []]);
  }
});

test('keeps no state of a short conversation or of one without an id', () => {
  const jobs = new ContinuedJobs();
  const { conversation: _, ...unnamed } = jobOf(blocksOf(5));
  assert.is(jobs.prepare(jobOf(blocksOf(0))).sent.key, undefined);
  assert.is(jobs.prepare(unnamed).sent.key, undefined);
  assert.is.not(jobs.prepare(jobOf(blocksOf(5))).sent.key, undefined);
});

test('a thread that has lost the state says so, and then gets the whole job', async () => {
  const compressor = createConversationCompressor(10);
  assert.is(await compressor.compressNext({ continues: 7, blocks: [] }), UNKNOWN_STATE);
  await withThread(async (thread) => {
    const many = Array.from({ length: 33 }, (_, n) => ({
      ...jobOf(blocksOf(3)),
      conversation: `c${n}`,
    }));
    for (const job of many) await outcomesOf(thread, job);
    for (const { conversation } of many) {
      const job = { ...jobOf(blocksOf(4)), conversation };
      assert.equal(await outcomesOf(thread, job), await alone(job));
    }
  });
});

test('goes on after the death of the thread that had the state', () =>
  withThread(async (thread) => {
    await outcomesOf(thread, jobOf(blocksOf(3)));
    const client = createCanceller();
    const left = thread.run(jobOf(blocksOf(60)), 0, client.signal);
    client.abort('client_gone');
    const end = await left;
    assert.is('failed' in end && end.failed, 'cancelled');
    const job = jobOf(blocksOf(5));
    assert.equal(await outcomesOf(thread, job), await alone(job));
  }));

test.run();
