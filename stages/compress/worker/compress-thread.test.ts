import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCanceller, createManualClock } from '../../../engine/index.ts';
import { createCompressThread } from './compress-thread.ts';
import type { JobResult } from './compress-thread.ts';
import type { CompressJob } from './job.ts';
import { CONVERSATION, LOG, SOURCE } from '../../../fixtures/compress/texts.ts';

const options = { ...CONVERSATION, logBudgetTokens: 500 };

/** Returns a job of results, each with a different program; too much for the event loop. */
const jobOf = (...names: string[]): CompressJob => ({
  blocks: names.map((name, index) => ({
    index,
    role: 'tool',
    kind: 'tool_result',
    text: LOG.replaceAll('module', name).repeat(2),
    toolName: 'bash',
  })),
  options,
});

const newThread = () => createCompressThread({ cacheEntries: 10, clock: createManualClock() });
const { signal: stays } = createCanceller();

/** Enough results to keep a thread busy for many seconds. */
const SLOW = Array.from({ length: 2000 }, (_, index) => `slow${index}`);
const SHORT_MS = 300;

async function msOf(done: Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await Promise.race([done, setTimeout(120_000, undefined, { ref: false })]);
  return performance.now() - startedMs;
}

/** Returns the number of cache misses after a job with one block. */
async function missesAfter(first: { limitMs: number; isPrepared?: boolean }): Promise<number> {
  const thread = newThread();
  if (first.isPrepared === true) thread.prepare({ mode: 'aggressive', recipes: undefined });
  const client = createCanceller();
  const left = thread.run(jobOf('a', 'b', 'c'), first.limitMs, client.signal);
  client.abort('client_gone');
  assert.equal(await left, { failed: 'cancelled', decided: [] });
  assert.ok('outcomes' in (await thread.run(jobOf('d'), 0, stays)));
  await thread.close();
  return thread.figures().misses;
}

test('ends a job without a time limit when its client leaves, so that the next need not wait', async () => {
  assert.is(await missesAfter({ limitMs: 0 }), 1);
  assert.is(await missesAfter({ limitMs: 0, isPrepared: true }), 1);
});

test('starts a thread in the background for requests with little time, and uses it later', async () => {
  const workers: Worker[] = [];
  const note = (worker: Worker): void => void workers.push(worker);
  process.on('worker', note);
  const clock = createManualClock();
  const thread = createCompressThread({ cacheEntries: 10, clock });
  for (const limitMs of [120, 20, 1]) {
    const early = thread.run(jobOf('a', 'b'), limitMs, stays);
    clock.advance(limitMs);
    assert.equal(await early, { failed: 'starting', decided: [] });
  }
  assert.match(thread.problem() ?? '', /^compression: the last 3 requests were sent unchanged/);
  assert.ok('outcomes' in (await thread.run(jobOf('a', 'b'), 0, stays)));
  assert.is(thread.problem(), undefined);
  assert.ok('outcomes' in (await thread.run(jobOf('a', 'b', 'c'), 1, stays)));
  assert.is(workers.length, 1);
  process.off('worker', note);
  await thread.close();
});

test('finishes a job with a time limit after its client left, so that the next turn finds it done', async () => {
  assert.is(await missesAfter({ limitMs: 5000 }), 4);
});

test('starts no work for a client that has already left', async () => {
  const thread = newThread();
  const client = createCanceller();
  client.abort('client_gone');
  const result = await thread.run(jobOf('a'), 0, client.signal);
  assert.equal(result, { failed: 'cancelled', decided: [] });
  assert.ok('outcomes' in (await thread.run(jobOf('d'), 0, stays)));
  assert.is(thread.figures().misses, 1);
  await thread.close();
});

test('runs a small job in a free thread, and inline if the thread is busy', async () => {
  const thread = newThread();
  const whereOf = async (names: string[]): Promise<string> => {
    const result = await thread.run(jobOf(...names), 0, stays);
    return 'where' in result ? result.where : result.failed;
  };
  assert.is(await whereOf(['a']), 'thread');
  const text = 'x'.repeat(100);
  const small = { ...jobOf('b'), blocks: jobOf('b').blocks.map((block) => ({ ...block, text })) };
  const busy = whereOf(['c', 'd', 'e']);
  const beside = await thread.run(small, 0, stays);
  assert.is('where' in beside && beside.where, 'inline');
  assert.is(await busy, 'thread');
  await thread.close();
});

test('runs a small job in any free thread, even if that of its conversation is busy', async () => {
  const clock = createManualClock();
  const thread = createCompressThread({ cacheEntries: 10, clock, workers: 2 });
  const run = (job: CompressJob) => thread.run({ ...job, conversation: 'c' }, 0, stays);
  const both = [run(jobOf('a')), thread.run(jobOf('b'), 0, stays)];
  clock.advance(250);
  await Promise.all(both);
  assert.is(thread.load().threads, 2);
  const slow = run(jobOf(...SLOW));
  const small = {
    ...jobOf('a'),
    blocks: jobOf('a').blocks.map((block) => ({ ...block, text: 'x' })),
  };
  const result = await run(small);
  assert.is('where' in result && result.where, 'thread');
  await thread.close();
  assert.ok('failed' in (await slow));
});

test('starts a second thread beside a slow job, and ends it when it is idle', async () => {
  const clock = createManualClock();
  const thread = createCompressThread({ cacheEntries: 10, clock });
  thread.prepare({ mode: 'hybrid', recipes: undefined });
  let isSlowDone = false;
  const slow = thread.run(jobOf(...SLOW), 0, stays).then((result) => {
    isSlowDone = true;
    return result;
  });
  let isNextDone = false;
  const next = thread.run(jobOf('b'), 0, stays).then((result) => {
    isNextDone = true;
    return result;
  });
  await setTimeout(SHORT_MS);
  assert.not.ok(isNextDone, 'a second thread was started at once');
  clock.advance(250);
  const overtakenMs = await msOf(next);
  assert.ok(isNextDone, 'the next job waits for the slow one');
  const besideMs = await msOf(thread.run(jobOf('c'), 0, stays));
  assert.not.ok(isSlowDone, `the slow job was done within ${overtakenMs} + ${besideMs} ms`);
  // The second thread has cached results of its own.
  assert.is(thread.figures().entries, 2);
  clock.advance(60_000);
  assert.is(thread.figures().entries, 0);
  assert.is(thread.figures().misses, 2);
  await thread.close();
  assert.is('failed' in (await slow) && 'cancelled', 'cancelled');
});

/** Jobs of six conversations in three turns each: logs, hits and code, more in each turn. */
const CONVERSATIONS = Array.from({ length: 6 }, (_, n) =>
  [1, 2, 3].map((turns): CompressJob => {
    const results = Array.from({ length: turns }, (__, turn) => [
      { toolName: 'bash', text: LOG.replaceAll('module', `part-${n}-${turn}`).repeat(2) },
      { toolName: 'Read', text: SOURCE.replaceAll('value', `value${n}${turn}_`) },
      { toolName: 'Grep', text: LOG.replaceAll('Compiling', `src/part-${n}.ts:1:`) },
    ]).flat();
    const blocks = results.map((result, index) => ({
      ...result,
      index,
      role: 'tool',
      kind: 'tool_result' as const,
      ...(result.toolName === 'Read' && { toolInput: { file_path: 'a.ts' } }),
    }));
    const mode = n % 2 === 0 ? ('hybrid' as const) : ('aggressive' as const);
    return { blocks, options: { ...options, mode } };
  }),
);

/** Returns all outcomes of the conversations, run concurrently, turn by turn. */
async function allTurns(workers: number, isNamed = true) {
  const clock = createManualClock();
  const thread = createCompressThread({ cacheEntries: 100, clock, workers });
  const found: JobResult[] = [];
  for (const turn of [0, 1, 2]) {
    const jobs = CONVERSATIONS.map((turns, n) => {
      const name = isNamed ? { conversation: `c${n}` } : {};
      return thread.run({ ...turns[turn]!, ...name }, 0, stays);
    });
    // Waiting conversations get the other threads; later each waits for its own.
    if (turn === 0) clock.advance(250);
    found.push(...(await Promise.all(jobs)));
  }
  const { threads } = thread.load();
  const { misses } = thread.figures();
  await thread.close();
  return { found, threads, misses };
}

test('uses as many threads as allowed, with the same bytes whichever thread runs a job', async () => {
  const one = await allTurns(1);
  assert.is(one.threads, 1);
  assert.ok(one.found.every((result) => 'outcomes' in result));
  const changed = one.found.flatMap((result) =>
    'outcomes' in result ? result.outcomes.filter((outcome) => outcome.changed) : [],
  );
  assert.ok(changed.length > 18, `${changed.length}`);
  for (const workers of [2, 4]) {
    const more = await allTurns(workers);
    assert.is(more.threads, workers);
    assert.equal(more.found, one.found);
    // Every turn ran in the thread that ran the one before it; each thread loads its own grammar.
    assert.ok(more.misses < one.misses + workers, `${more.misses} and ${one.misses}`);
  }
  const anywhere = await allTurns(2, false);
  assert.equal(anywhere.found, one.found);
});

test('loses only the undecided blocks of one job when a thread is killed', async () => {
  const workers: Worker[] = [];
  const note = (worker: Worker): void => void workers.push(worker);
  process.on('worker', note);
  const clock = createManualClock();
  const thread = createCompressThread({ cacheEntries: 10, clock, workers: 2 });
  const run = (job: CompressJob, conversation: string) =>
    thread.run({ ...job, conversation }, 0, stays);
  const hurt = run(jobOf(...SLOW), 'hurt');
  const beside = run(jobOf('a', 'b'), 'beside');
  const waiting = run(jobOf('c'), 'hurt');
  clock.advance(250);
  assert.ok('outcomes' in (await beside));
  assert.is(workers.length, 2);
  await workers[0]!.terminate();
  const end = await hurt;
  assert.is('failed' in end && end.failed, 'broken');
  assert.ok('outcomes' in (await waiting));
  assert.ok('outcomes' in (await run(jobOf('d'), 'hurt')));
  process.off('worker', note);
  await thread.close();
});

/** Compiling the grammars takes more processor time than this, waiting for it far less. */
const GRAMMARS_MS = 100;
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

test('prepares a running thread once code is expected', async () => {
  const thread = newThread();
  assert.ok('outcomes' in (await thread.run(jobOf('d'), 0, stays)));
  const idleMs = cpuMs();
  thread.prepare({ mode: 'aggressive', recipes: undefined });
  // Meanwhile compiling the grammars is the only work in this process.
  for (let waits = 0; waits < 480 && cpuMs() - idleMs < GRAMMARS_MS; waits += 1)
    await setTimeout(250);
  const spentMs = cpuMs() - idleMs;
  await thread.close();
  assert.ok(spentMs >= GRAMMARS_MS, `${spentMs} ms`);
});

test.run();
