import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import type { Clock } from '../../engine/index.ts';
import { isKeptHeader } from './answer.ts';
import type { AnswerStore, KeptAnswer } from './answer.ts';
import { openDiskAnswers } from './disk.ts';
import { decodeAnswer, encodeAnswer } from './file-format.ts';
import { createMemoryAnswers } from './memory.ts';

const keyOf = (n: number): string => n.toString(16).padStart(64, '0');
const answerOf = (text: string, bytes = 0): KeptAnswer => ({
  status: 200,
  headers: ['content-type', 'text/event-stream', 'X-Two', 'a', 'X-Two', 'b'],
  streaming: true,
  chunks: [Buffer.from(text), Buffer.alloc(bytes, 'x'), Buffer.from([0, 255, 10])],
});

interface StoreCase {
  readonly name: string;
  readonly open: (maxBytes: number, clock: Clock) => Promise<AnswerStore>;
}

function inFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-answers-'));
  return body(join(folder, 'cache')).finally(() => rmSync(folder, { recursive: true }));
}
const ttlMs = 3_600_000;

async function inEachStore(body: (store: StoreCase) => Promise<void>): Promise<void> {
  await body({
    name: 'memory',
    open: async (maxBytes, clock) => createMemoryAnswers({ maxBytes, ttlMs, clock }),
  });
  await inFolder((folder) =>
    body({
      name: 'disk',
      open: (maxBytes, clock) => openDiskAnswers({ folder, maxBytes, ttlMs, clock }),
    }),
  );
}

test('applies new bounds at once: expired entries are misses, excess entries are evicted', () =>
  inEachStore(async ({ name, open }) => {
    const clock = createManualClock();
    const store = await open(1e6, clock);
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) store.put(keyOf(n), answerOf('x', 10_000));
    await store.settled();
    store.configure({ maxBytes: 90_000, ttlMs });
    await store.settled();
    assert.is(store.stats().entries, 8, name);
    store.configure({ maxBytes: 45_000, ttlMs });
    await store.settled();
    assert.is(store.stats().entries, 4, name);
    assert.is(await store.get(keyOf(1)), undefined, name);
    clock.advance(1500);
    assert.ok(await store.get(keyOf(8)), name);
    store.configure({ maxBytes: 1e6, ttlMs: 1000 });
    assert.is(await store.get(keyOf(8)), undefined, name);
  }));

test('returns an answer immediately after it was put', () =>
  inEachStore(async ({ name, open }) => {
    const store = await open(1e6, createManualClock());
    const [first, second] = [answerOf('first'), answerOf('second')];
    store.put(keyOf(1), first);
    assert.equal(await store.get(keyOf(1)), first, name);
    store.put(keyOf(1), second);
    assert.equal(await store.get(keyOf(1)), second, name);
    await store.clear();
    assert.is(await store.get(keyOf(1)), undefined, name);
    assert.is(store.stats().entries, 0, name);
    store.put(keyOf(1), first);
    await store.settled();
    assert.equal(await store.get(keyOf(1)), first, name);
  }));

test('returns an answer with the same pieces, and counts hits and misses', () =>
  inEachStore(async ({ name, open }) => {
    const store = await open(1e6, createManualClock());
    assert.is(await store.get(keyOf(1)), undefined);
    assert.is(store.stats().hitRatio, 0);
    const put = answerOf('event: a\n\n');
    store.put(keyOf(1), put);
    await store.settled();
    assert.equal(await store.get(keyOf(1)), put, name);
    const { bytes, ...stats } = store.stats();
    assert.equal(stats, { hits: 1, misses: 1, hitRatio: 0.5, entries: 1, failures: 0 });
    assert.ok(bytes > 13);
    await store.clear();
    assert.is(await store.get(keyOf(1)), undefined);
    assert.equal([store.stats().entries, store.stats().bytes], [0, 0]);
  }));

test('expires an answer after its lifetime, to the millisecond', () =>
  inEachStore(async ({ name, open }) => {
    const clock = createManualClock();
    const store = await open(1e6, clock);
    store.put(keyOf(1), answerOf('x'));
    await store.settled();
    clock.advance(ttlMs - 1);
    assert.ok(await store.get(keyOf(1)), name);
    clock.advance(1);
    assert.is(await store.get(keyOf(1)), undefined, name);
    assert.is(store.stats().entries, 0);
  }));

test('evicts the least recently used entry first, and stores no answer that is too large', () =>
  inEachStore(async ({ name, open }) => {
    const store = await open(40_000, createManualClock());
    store.put(keyOf(9), answerOf('big', 11_000));
    for (let i = 0; i < 4; i += 1) store.put(keyOf(i), answerOf('x', 8_500));
    await store.settled();
    assert.is(store.stats().entries, 4, name);
    await store.get(keyOf(0));
    store.put(keyOf(4), answerOf('x', 8_500));
    await store.settled();
    assert.ok(store.stats().bytes <= 40_000);
    assert.is(await store.get(keyOf(1)), undefined, name);
    assert.ok(await store.get(keyOf(0)), name);
    assert.ok(await store.get(keyOf(4)), name);
  }));

test('copies a stored slice, so that the larger buffer it came from can be freed', () => {
  const store = createMemoryAnswers({ maxBytes: 1e6, ttlMs, clock: createManualClock() });
  const read = Buffer.alloc(200_000, 'y');
  const slice = read.subarray(10, 13);
  store.put('k', { status: 200, headers: [], streaming: true, chunks: [slice] });
  read.fill('n');
  const kept = store.get('k');
  assert.ok(kept !== undefined && !(kept instanceof Promise));
  assert.is(kept.chunks[0]?.toString(), 'yyy');
  assert.ok(kept.chunks[0]?.buffer !== read.buffer);
});

test('matches a simple model of a cache, in both stores', async () => {
  const step = fc.record({
    do: fc.constantFrom('put', 'get', 'get', 'wait'),
    key: fc.nat(5),
    size: fc.constantFrom(0, 3_000, 9_000, 20_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), (steps) =>
      inEachStore(async ({ name, open }) => {
        const clock = createManualClock();
        const store = await open(40_000, clock);
        // Newest last. Sizes are measured by storing each response alone.
        let list: { key: number; size: number; bytes: number; atMs: number }[] = [];
        for (const { do: what, key, size } of steps) {
          if (what === 'wait') clock.advance(ttlMs / 4);
          const old = list.find((one) => one.key === key);
          if (what === 'put') {
            const beforeBytes = store.stats().bytes;
            store.put(keyOf(key), answerOf('x', size));
            await store.settled();
            if (size === 20_000) continue;
            const alone = await sizeAlone(size);
            list = [
              ...list.filter((one) => one !== old),
              { key, size, bytes: alone, atMs: clock.monotonicMs() },
            ];
            while (list.reduce((sum, one) => sum + one.bytes, 0) > 40_000) list.shift();
            assert.ok(store.stats().bytes <= Math.max(40_000, beforeBytes));
          }
          if (what !== 'get') continue;
          const actual = await store.get(keyOf(key));
          const isFresh = old !== undefined && clock.monotonicMs() - old.atMs < ttlMs;
          assert.is(actual?.chunks[1]?.length, isFresh ? old.size : undefined, name);
          list = list.filter((one) => one !== old);
          if (isFresh) list.push(old);
        }
        await store.clear();

        async function sizeAlone(bytes: number): Promise<number> {
          const single = createMemoryAnswers({ maxBytes: 1e6, ttlMs, clock });
          if (name === 'disk')
            return encodeAnswer({
              key: keyOf(0),
              keptAtMs: clock.wallMs(),
              answer: answerOf('x', bytes),
            }).length;
          single.put('k', answerOf('x', bytes));
          return single.stats().bytes;
        }
      }),
    ),
    { numRuns: 40 },
  );
});

test('keeps answers across restarts in private files, whatever the umask', () =>
  inFolder(async (folder) => {
    const options = { folder, maxBytes: 40_000, ttlMs, clock: createManualClock() };
    const before = process.umask(0);
    const store = await openDiskAnswers(options);
    store.put(keyOf(3), answerOf('x', 8_500));
    await store.settled();
    process.umask(before);
    assert.is(statSync(join(folder, `${keyOf(3)}.answer`)).mode & 0o777, 0o600);
    assert.is(statSync(folder).mode & 0o777, 0o700);
    writeFileSync(join(folder, 'notes.txt'), 'not ours');
    writeFileSync(join(folder, `${keyOf(7)}.abcdefabcdef.draft`), 'left by a crash');
    const again = await openDiskAnswers(options);
    assert.is(again.stats().entries, 1);
    assert.equal(await again.get(keyOf(3)), answerOf('x', 8_500));
    assert.equal(readdirSync(folder).toSorted(), [`${keyOf(3)}.answer`, 'notes.txt']);
    const small = await openDiskAnswers({ ...options, maxBytes: 5_000 });
    assert.is(small.stats().entries, 0);
    assert.equal(readdirSync(folder), ['notes.txt']);
  }));

test('keeps the order of use across restarts', async () => {
  for (const used of [
    [3, 2, 0],
    [0, 1, 3],
    [2, 1, 0],
  ]) {
    await inFolder(async (folder) => {
      const clock = createManualClock();
      const options = { folder, maxBytes: 40_000, ttlMs, clock };
      const store = await openDiskAnswers(options);
      for (let i = 0; i < 4; i += 1) store.put(keyOf(i), answerOf('x', 8_500));
      await store.settled();
      for (const key of used) {
        clock.advance(60_000);
        await store.get(keyOf(key));
      }
      const stampMs = (key: number): number =>
        statSync(join(folder, `${keyOf(key)}.answer`)).mtimeMs;
      // The timestamps are written asynchronously, after the responses were returned.
      while (used.some((key, i) => stampMs(key) !== clock.wallMs() - (2 - i) * 60_000)) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      const again = await openDiskAnswers(options);
      again.put(keyOf(5), answerOf('x', 8_500));
      await again.settled();
      const left = [0, 1, 2, 3].filter((key) => again.get(keyOf(key)) !== undefined);
      assert.equal(
        left,
        used.toSorted((a, b) => a - b),
      );
      await again.clear();
    });
  }
});

test('treats a damaged file as a miss and removes it, wherever the damage is', () =>
  inFolder(async (folder) => {
    const clock = createManualClock();
    const store = await openDiskAnswers({ folder, maxBytes: 1e6, ttlMs, clock });
    const path = join(folder, `${keyOf(1)}.answer`);
    store.put(keyOf(1), answerOf('text'));
    await store.settled();
    const intact = readFileSync(path);
    for (const [index, damaged] of [
      intact.subarray(0, intact.length - 1),
      Buffer.alloc(0),
      Buffer.concat([intact, Buffer.from('!')]),
      encodeAnswer({ key: keyOf(2), keptAtMs: clock.wallMs(), answer: answerOf('other') }),
      encodeAnswer({ key: keyOf(1), keptAtMs: clock.wallMs() + 1e9, answer: answerOf('later') }),
    ].entries()) {
      store.put(keyOf(1), answerOf('text'));
      await store.settled();
      writeFileSync(path, damaged);
      assert.is(await store.get(keyOf(1)), undefined, String(index));
      assert.equal(readdirSync(folder), [], String(index));
    }
    assert.is(store.stats().failures, 4);
    fc.assert(
      fc.property(fc.nat(intact.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const damaged = Buffer.from(intact);
        damaged[at]! ^= mask;
        assert.is(decodeAnswer(damaged), undefined);
      }),
    );
  }));

test('survives a disk that cannot be written, losing only the answer', () =>
  inFolder(async (folder) => {
    const store = await openDiskAnswers({
      folder,
      maxBytes: 1e6,
      ttlMs,
      clock: createManualClock(),
    });
    rmSync(folder, { recursive: true });
    store.put(keyOf(1), answerOf('x'));
    await store.settled();
    assert.is(await store.get(keyOf(1)), undefined);
    assert.equal([store.stats().failures, store.stats().entries], [1, 0]);
  }));

test('does not store header fields that belong to a single exchange', () => {
  for (const name of [
    'set-cookie',
    'date',
    'request-id',
    'x-request-id',
    'retry-after',
    'cf-ray',
    'content-length',
  ])
    assert.is(isKeptHeader(name), false, name);
  assert.is(isKeptHeader('anthropic-ratelimit-requests-remaining'), false);
  assert.is(isKeptHeader('x-ratelimit-limit-tokens'), false);
  for (const name of ['content-type', 'content-encoding', 'x-custom'])
    assert.is(isKeptHeader(name), true);
});

test.run();
