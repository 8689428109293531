import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from './clock.ts';
import { createDeferredWork, createTurn } from './turn.ts';

const onFault = (thrown: unknown): never => {
  throw thrown;
};

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

test('work runs together, in the order added, once everything has been read', async () => {
  const turn = createTurn();
  const done: string[] = [];
  turn.later(() => done.push('a'));
  process.nextTick(() => turn.later(() => done.push('b')));
  await Promise.resolve();
  assert.equal(done, []);
  await endOfTurn();
  assert.equal(done, ['a', 'b']);
});

test('work added while a turn runs waits for the next turn', async () => {
  const turn = createTurn();
  const done: string[] = [];
  turn.later(() => {
    done.push('first');
    turn.later(() => done.push('second'));
  });
  await endOfTurn();
  assert.equal(done, ['first']);
  await endOfTurn();
  assert.equal(done, ['first', 'second']);
});

test('work added with first runs, with its promises, before work added with later', async () => {
  const turn = createTurn();
  const done: string[] = [];
  turn.later(() => done.push('rest'));
  turn.first(() => {
    done.push('first');
    void Promise.resolve()
      .then(() => undefined)
      .then(() => done.push('its promise'));
    turn.first(() => done.push('next turn'));
  });
  await endOfTurn();
  assert.equal(done, ['first', 'its promise', 'rest']);
  await endOfTurn();
  assert.equal(done, ['first', 'its promise', 'rest', 'next turn']);
});

test('work that throws does not stop the other work', async () => {
  const turn = createTurn();
  const done: string[] = [];
  const thrown = new Promise<unknown>((resolve) => process.once('uncaughtException', resolve));
  turn.later(() => {
    throw new Error('a fault');
  });
  turn.later(() => done.push('after'));
  assert.match(String(await thrown), /a fault/);
  await endOfTurn();
  await endOfTurn();
  assert.equal(done, ['after']);
});

test('deferred work runs within its deadline, or on flush', () => {
  const clock = createManualClock();
  const queue = createDeferredWork(clock, { withinMs: 20, maxPending: 100, onFault });
  const done: string[] = [];
  queue.later(() => done.push('a'));
  clock.advance(10);
  queue.later(() => done.push('b'));
  assert.equal(done, []);
  clock.advance(10);
  assert.equal(done, ['a', 'b']);
  queue.later(() => done.push('c'));
  queue.flush();
  assert.equal(done, ['a', 'b', 'c']);
  clock.advance(20);
  assert.equal(done, ['a', 'b', 'c']);
});

test('an error in deferred work is reported and does not stop the rest', () => {
  const clock = createManualClock();
  const faults: unknown[] = [];
  const queue = createDeferredWork(clock, {
    withinMs: 20,
    maxPending: 100,
    onFault: (thrown) => faults.push(thrown),
  });
  const done: string[] = [];
  queue.later(() => {
    throw new RangeError('too deep');
  });
  queue.later(() => done.push('after'));
  clock.advance(20);
  assert.equal(done, ['after']);
  assert.match(String(faults), /too deep/);
});

test('deferred work does not accumulate beyond its limit', async () => {
  const clock = createManualClock();
  const queue = createDeferredWork(clock, { withinMs: 20, maxPending: 2, onFault });
  const done: string[] = [];
  queue.later(() => done.push('a'));
  await endOfTurn();
  assert.equal(done, []);
  queue.later(() => done.push('b'));
  queue.later(() => done.push('c'));
  assert.equal(done, []);
  await endOfTurn();
  assert.equal(done, ['a', 'b', 'c']);
  queue.later(() => done.push('d'));
  clock.advance(20);
  assert.equal(done, ['a', 'b', 'c', 'd']);
});

test.run();
