import { spawnSync } from 'node:child_process';
import type { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCanceller, createManualClock } from '../../engine/index.ts';
import { WorkerPool } from './pool.ts';
import type { PoolOptions } from './pool-options.ts';
import type { TestProtocol } from './pool-testing.ts';

const entry = new URL('./pool-testing.js', import.meta.url);

/** Returns a pool, the reports of its threads, and which threads ended for what cause. */
function poolOf(options: Partial<PoolOptions<TestProtocol>> = {}) {
  const events: string[] = [];
  const deathCauses: (string | undefined)[] = [];
  const pool = new WorkerPool<TestProtocol>({
    entry,
    name: 'test',
    data: { greeting: 'up' },
    onEvent: (event) => void events.push(event),
    onGone: (_thread, cause) => void deathCauses.push(cause?.message),
    ...options,
  });
  return { pool, events, gone: deathCauses };
}

async function until(condition: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(120_000);
  while (!condition()) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('one thread does jobs in order and sends partial results before the end', async () => {
  const { pool, events, gone } = poolOf();
  assert.not.ok(pool.isRunning);
  const parts: string[] = [];
  const [a, b] = await Promise.all([
    pool.run({ name: 'a', parts: ['1', '2'] }, { onPart: (part) => void parts.push(part) }),
    pool.run({ name: 'b' }),
  ]);
  assert.equal([a, b, parts], [{ done: 'a' }, { done: 'b' }, ['1', '2']]);
  assert.equal(events, ['up']);
  await pool.close();
  assert.equal(gone, [undefined]);
  assert.equal(await pool.run({ name: 'c' }), { failed: 'cancelled' });
});

test('an error thrown by a job fails only that job', async () => {
  const { pool, gone } = poolOf();
  const end = await pool.run({ name: 'bad', fault: 'throw' });
  assert.ok('error' in end);
  const { kind, message, code, cure } = end.error;
  assert.equal([kind, message, code, cure], ['config', 'bad', 'X_1', 'none']);
  assert.equal(await pool.run({ name: 'a' }), { done: 'a' });
  assert.equal(gone, []);
  await pool.close();
});

test('a job that kills its thread fails, and the next one gets a new thread', async () => {
  const { pool, gone } = poolOf();
  const [end, next] = await Promise.all([
    pool.run({ name: 'bad', fault: 'die' }),
    pool.run({ name: 'a' }),
  ]);
  assert.ok('failed' in end && end.failed === 'died');
  assert.is(end.cause?.message, 'bad killed it');
  assert.equal(next, { done: 'a' });
  assert.equal(gone, ['bad killed it']);
  await pool.close();
});

test('repeatable jobs of a dead thread are done again after the delay', async () => {
  const clock = createManualClock();
  const delays: number[] = [];
  const restartAfterMs = (times: number): number => {
    delays.push(times);
    return 1000;
  };
  const { pool, gone } = poolOf({ clock, restartAfterMs, isRepeatable: true, jobsAtOnce: 4 });
  // The pool uses this very object, so the second attempt finds no fault.
  const job: { name: string; fault?: 'die' } = { name: 'a', fault: 'die' };
  const ends = Promise.all([pool.run({ name: 'slow', takesMs: 20 }), pool.run(job)]);
  await until(() => gone.length === 1);
  assert.not.ok(pool.isRunning);
  delete job.fault;
  clock.advance(1000);
  assert.equal(await ends, [{ done: 'slow' }, { done: 'a' }]);
  assert.equal(delays, [0]);
  await pool.close();
});

test('a timeout ends a working thread, but only the job if it is waiting', async () => {
  const clock = createManualClock();
  const { pool, gone } = poolOf({ clock });
  await pool.run({ name: 'first' });
  const slow = pool.run({ name: 'slow', takesMs: 60_000 });
  const waiting = pool.run({ name: 'b' }, { timeoutMs: 10 });
  clock.advance(10);
  assert.equal(await waiting, { failed: 'timeout' });
  assert.equal(gone, []);
  await pool.close();
  assert.equal(await slow, { failed: 'cancelled' });
  const other = poolOf({ clock });
  await other.pool.run({ name: 'first' });
  const late = other.pool.run({ name: 'late', takesMs: 60_000 }, { timeoutMs: 10 });
  const next = other.pool.run({ name: 'next' });
  clock.advance(10);
  assert.equal([await late, await next], [{ failed: 'timeout' }, { done: 'next' }]);
  assert.equal(other.gone, [undefined]);
  await other.pool.close();
});

test('a starting thread survives a job timeout, and the limit of a job counts from the end of the start', async () => {
  const clock = createManualClock();
  const { pool, events, gone } = poolOf({ clock });
  for (let n = 0; n < 3; n++) {
    const [early, waiting] = [1, 2].map(() => pool.run({ name: 'early' }, { timeoutMs: 10 }));
    clock.advance(10);
    assert.equal([await early, await waiting], [{ failed: 'starting' }, { failed: 'starting' }]);
    assert.not.ok(pool.isReady);
    assert.equal(pool.load, { maxThreads: 1, threads: 1, threadsAtWork: 0, jobsWaiting: 0 });
  }
  const late = pool.run({ name: 'late', takesMs: 60_000 }, { timeoutMs: 10 });
  clock.advance(9);
  await until(() => pool.isReady);
  clock.advance(9);
  assert.equal([gone, events], [[], ['up']]);
  clock.advance(1);
  assert.equal(await late, { failed: 'timeout' });
  assert.equal(gone, [undefined]);
  await pool.close();
});

test('a thread that prepares counts as starting, and one that takes too long is ended', async () => {
  const clock = createManualClock();
  const { pool, gone } = poolOf({ clock, startWithinMs: 1000 });
  pool.prepare('slow');
  const job = pool.run({ name: 'a' }, { timeoutMs: 10 });
  // The job runs meanwhile, as far as the preparation allows.
  assert.equal(await job, { done: 'a:slow' });
  assert.not.ok(pool.isReady);
  const late = pool.run({ name: 'b', takesMs: 60_000 }, { timeoutMs: 10 });
  clock.advance(10);
  assert.equal(await late, { failed: 'starting' });
  assert.equal(gone, []);
  clock.advance(990);
  assert.equal(gone, [undefined]);
  await pool.close();
});

test('a job is told apart if its thread dies before it could begin', async () => {
  const workers: Worker[] = [];
  const note = (worker: Worker): void => void workers.push(worker);
  process.on('worker', note);
  const { pool } = poolOf();
  const job = pool.run({ name: 'a' });
  await until(() => workers.length === 1);
  await workers[0]!.terminate();
  process.off('worker', note);
  assert.equal(await job, { failed: 'died', cause: undefined, atStart: true });
  await pool.close();
});

test('cancelling ends a running job without a limit, but one with a limit continues within it', async () => {
  for (const timeoutMs of [0, 60_000]) {
    const { pool, gone } = poolOf();
    await pool.run({ name: 'first' });
    const client = createCanceller();
    const cancelledJob = pool.run({ name: 'a', takesMs: 30 }, { timeoutMs, signal: client.signal });
    client.abort('client_gone');
    assert.equal(await cancelledJob, { failed: 'cancelled' });
    assert.equal(await pool.run({ name: 'a' }, { signal: client.signal }), { failed: 'cancelled' });
    assert.equal(await pool.run({ name: 'b' }), { done: 'b' });
    assert.is(gone.length, timeoutMs === 0 ? 1 : 0);
    await pool.close();
  }
});

test('a slow job is overtaken by another thread, which ends when it is idle', async () => {
  const clock = createManualClock();
  const { pool, events, gone } = poolOf({ clock, size: 2, overtakeAfterMs: 250, idleMs: 1000 });
  const slow = pool.run({ name: 'slow', takesMs: 60_000 });
  const next = pool.run({ name: 'next' });
  await until(() => events.length === 1);
  assert.not.ok(pool.isFree);
  clock.advance(250);
  assert.equal(await next, { done: 'next' });
  assert.is(events.length, 2);
  assert.ok(pool.isFree);
  clock.advance(1000);
  assert.equal(gone, [undefined]);
  await pool.close();
  assert.equal(await slow, { failed: 'cancelled' });
});

const atRest = (maxThreads: number) => ({
  maxThreads,
  threads: 0,
  threadsAtWork: 0,
  jobsWaiting: 0,
});

test('jobs that wait too long get threads of their own, up to the limit', async () => {
  for (const size of [1, 3, 4]) {
    const clock = createManualClock();
    const { pool, events } = poolOf({ clock, size, overtakeAfterMs: 250 });
    assert.equal(pool.load, atRest(size));
    // No single job is slow; the queue is.
    const quick = (name: string) => pool.run({ name, takesMs: 20 });
    await quick('first');
    const jobs = Array.from({ length: 12 }, (_, n) => quick(`job ${n}`));
    assert.equal(pool.load, { maxThreads: size, threads: 1, threadsAtWork: 1, jobsWaiting: 11 });
    clock.advance(249);
    await quick('last');
    await Promise.all(jobs);
    assert.is(pool.load.threads, 1);
    const more = Array.from({ length: 12 }, (_, n) => quick(`job ${n}`));
    clock.advance(250);
    assert.equal(pool.load, {
      maxThreads: size,
      threads: size,
      threadsAtWork: size,
      jobsWaiting: 12 - size,
    });
    await Promise.all(more);
    assert.is(events.length, size);
    await pool.close();
    assert.equal(pool.load, atRest(size));
  }
});

/** Returns a pool of two idle threads, and a function that tells which one did a job. */
async function twoThreads(options: Partial<PoolOptions<TestProtocol>>) {
  const clock = createManualClock();
  const made = poolOf({ clock, size: 2, overtakeAfterMs: 250, ...options });
  const threadFor = async (affinity?: string, takesMs = 0): Promise<string> => {
    const end = await made.pool.run(
      { name: '', takesMs, asksWho: true },
      affinity === undefined ? {} : { affinity },
    );
    return 'done' in end ? end.done : end.failed;
  };
  const both = [threadFor('x', 30), threadFor('y', 30)];
  clock.advance(250);
  const [older, younger] = await Promise.all(both);
  assert.is.not(older, younger);
  return { ...made, clock, who: threadFor, older: older!, younger: younger! };
}

test('a job goes to the thread that had the last job of its affinity, and waits a while for it', async () => {
  const { pool, clock, who: threadFor, older, younger } = await twoThreads({});
  assert.equal(
    [await threadFor('y'), await threadFor('x'), await threadFor()],
    [younger, older, older],
  );
  // That thread is busy and the other one is idle.
  const slow = threadFor('y', 30);
  assert.ok(pool.isFree);
  assert.equal(await Promise.all([threadFor('y'), threadFor('x'), slow]), [
    younger,
    older,
    younger,
  ]);
  // That thread stays busy: another one gets the affinity too.
  const slower = threadFor('y', 60_000);
  const moved = threadFor('y');
  clock.advance(250);
  assert.is(await moved, older);
  assert.is(await threadFor('y'), older);
  await pool.close();
  assert.is(await slower, 'cancelled');
});

test('a job does not wait for a thread that has ended, or longer than the limit', async () => {
  const { pool, clock, who: threadFor, older, younger } = await twoThreads({});
  const dying = pool.run({ name: 'bad', fault: 'die' }, { affinity: 'y' });
  const waiting = threadFor('y');
  assert.is('failed' in (await dying) && 'died', 'died');
  assert.is(await waiting, older);
  assert.is(await threadFor('y'), older);
  // Many short jobs of one affinity.
  const many = Array.from({ length: 8 }, () => threadFor('y', 20));
  clock.advance(250);
  assert.equal(new Set(await Promise.all(many)).size, 2);
  assert.is(pool.load.threads, 2);
  assert.not.ok((await Promise.all(many)).includes(younger));
  await pool.close();
});

test('a thread that dies fails one job, while other jobs continue', async () => {
  const { pool, gone, who: threadFor, older } = await twoThreads({});
  const [beside, bad, ...waiting] = await Promise.all([
    threadFor('x', 50),
    pool.run({ name: 'bad', fault: 'die' }, { affinity: 'y' }),
    threadFor(),
    threadFor('y'),
    threadFor('x'),
  ]);
  assert.is(beside, older);
  assert.ok('failed' in bad && bad.failed === 'died');
  assert.equal(gone, ['bad killed it']);
  assert.equal(
    waiting.filter((end) => !end.startsWith('thread ')),
    [],
  );
  await pool.close();
});

test('a thread needed only by its affinity ends after a while, once its job is done', async () => {
  const { pool, clock, gone, who: threadFor, older, younger } = await twoThreads({ idleMs: 1000 });
  for (let n = 0; n < 9; n += 1) {
    assert.is(await threadFor('y'), younger);
    clock.advance(100);
  }
  const last = threadFor('y', 30);
  clock.advance(100);
  assert.equal(gone, []);
  assert.is(await last, younger);
  assert.equal([gone, pool.load.threads], [[undefined], 1]);
  assert.is(await threadFor('y'), older);
  await pool.close();
  // While the older thread is busy, this one is needed.
  const busy = await twoThreads({ idleMs: 1000 });
  for (let n = 0; n < 3; n += 1) {
    const meanwhile = busy.who('x', 30);
    assert.is(await busy.who('y'), busy.younger);
    await meanwhile;
    busy.clock.advance(600);
  }
  assert.equal(busy.gone, []);
  await busy.pool.close();
});

test('each thread is prepared when it starts, and a running one for new notices', async () => {
  const { pool } = poolOf({ size: 2 });
  pool.prepare('x');
  assert.ok(pool.isRunning);
  const both = (): Promise<unknown> =>
    Promise.all(['a', 'b'].map((name) => pool.run({ name, takesMs: 20 })));
  assert.equal(await both(), [{ done: 'a:x' }, { done: 'b:x' }]);
  pool.prepare('y');
  assert.equal(await both(), [{ done: 'a:y' }, { done: 'b:y' }]);
  await pool.close();
});

test('closing with a grace period finishes waiting jobs', async () => {
  const { pool } = poolOf();
  const jobs = ['a', 'b', 'c'].map((name) => pool.run({ name, takesMs: 20 }));
  await pool.close(5000);
  assert.equal(await Promise.all(jobs), [{ done: 'a' }, { done: 'b' }, { done: 'c' }]);
  const quick = poolOf();
  const never = quick.pool.run({ name: 'never', takesMs: 60_000 });
  await quick.pool.close(50);
  assert.equal(await never, { failed: 'cancelled' });
});

/** Runs `body` with a `pool` in a process; returns its output and how it ended. */
function ran(options: string, body: string) {
  const script = `
    const { WorkerPool } = await import(${JSON.stringify(new URL('./pool.js', import.meta.url).href)});
    const pool = new WorkerPool({ entry: new URL(${JSON.stringify(entry.href)}), name: 'test', data: { greeting: '' }, ${options} });
    ${body}`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { stdout, status };
}

test('jobs keep the process alive if configured, and an idle thread never does', () => {
  const body = `void pool.run({ name: 'a', takesMs: 100 }).then((end) => console.log(end.done));`;
  assert.equal(ran('', body), { stdout: 'a\n', status: 0 });
  assert.equal(ran('keepsAlive: false', body), { stdout: '', status: 0 });
  assert.equal(
    ran(
      'keepsAlive: false',
      `pool.hold(); ${body.replace('end.done', '(pool.close(), end.done)')}`,
    ),
    {
      stdout: 'a\n',
      status: 0,
    },
  );
  assert.equal(
    ran('', `await pool.run({ name: 'a' }); await pool.close(); console.log('closed');`),
    {
      stdout: 'closed\n',
      status: 0,
    },
  );
});

test.run();
