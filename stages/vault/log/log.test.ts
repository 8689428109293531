import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../../engine/error.ts';
import { openLock } from '../../lock.ts';
import { layoutOf } from './layout.ts';
import { append, LogFollower } from './log.ts';
import type { LogSink } from './log.ts';
import { salvage } from './compact.ts';
import { encodeBlocks, encodeNotice, nextRecord, parseRecord } from './record.ts';

function block(id: string, content: string): Buffer {
  const stored = { id, from: 0, to: 0, risk: 'safe', hash: '', tokens: 1, length: 1, terms: 'x' };
  return encodeBlocks({ record: 'block', path: 'p' }, [{ block: stored, content }]);
}

function drop(path: string): Buffer {
  return encodeNotice({ record: 'drop', root: '/r', path });
}

/** Opens a log in a temporary folder, with a follower that records the size of what it receives. */
async function withLog(
  use: (log: {
    path: string;
    dir: string;
    seen: string[];
    follower: LogFollower;
    add: (...records: Buffer[]) => Promise<void>;
    target: Parameters<typeof append>[0];
  }) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-log-'));
  const layout = layoutOf(dir);
  const lock = openLock(layout.appendLock);
  let ids = 0;
  const target = { path: layout.log, lock, newLogId: () => `log-${++ids}` };
  const seen: string[] = [];
  const sink: LogSink = {
    reset: () => void seen.splice(0),
    apply: ({ header }) => void seen.push('path' in header ? header.path : header.record),
  };
  const follower = new LogFollower(layout.log, sink);
  const add = (...records: Buffer[]): Promise<void> =>
    append(target, follower, () => records, true);
  try {
    await use({ path: layout.log, dir, seen, follower, add, target });
  } finally {
    await follower.close();
    lock.close();
    rmSync(dir, { recursive: true });
  }
}

test('reports a truncated record as incomplete, and one with any changed byte as invalid', () => {
  const whole = block('id', 'some content\nof two lines');
  for (let end = 0; end < whole.length; end++) {
    assert.is(parseRecord(whole.subarray(0, end), 0), 'incomplete', `cut at ${end}`);
  }
  for (let at = 0; at < whole.length; at++) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 1;
    const parsed = parseRecord(changed, 0);
    assert.ok(typeof parsed === 'string', `changed at ${at}`);
  }
});

test('does not mistake a text that looks like a record for one', () => {
  const inner = drop('evil').toString();
  const record = block('id', `\n${inner}\n`);
  assert.is(nextRecord(record, 1), -1);
});

test('waits for the incomplete record of a killed writer, then overwrites it', () =>
  withLog(async ({ path, seen, follower, add }) => {
    await add(drop('a'));
    const torn = block('b', 'text').subarray(0, 60);
    appendFileSync(path, torn);
    assert.is(await follower.catchUp(), 'torn');
    assert.equal(seen, ['a']);
    await add(drop('c'));
    assert.is(await follower.catchUp(), 'clean');
    assert.equal(seen, ['a', 'c']);
    assert.not.ok(readFileSync(path).includes(torn));
  }));

test('appends from two followers, which see all records in the same order', () =>
  withLog(async ({ path, seen, follower, add, target }) => {
    const others: string[] = [];
    const second = new LogFollower(path, {
      reset: () => void others.splice(0),
      apply: ({ header }) => void others.push('path' in header ? header.path : ''),
    });
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    await Promise.all(
      names.map((name, index) =>
        index % 2 === 0 ? add(drop(name)) : append(target, second, () => [drop(name)], false),
      ),
    );
    await follower.catchUp();
    await second.catchUp();
    assert.equal(seen, others);
    assert.equal(seen.toSorted(), names.toSorted());
    await second.close();
  }));

test('reports damage in the middle, moves it aside, and keeps all intact records', () =>
  withLog(async ({ path, dir, seen, follower, add, target }) => {
    await add(block('one', 'first'), block('two', 'second'), block('three', 'third'));
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('second')]! ^= 1;
    writeFileSync(path, bytes);
    const fresh = new LogFollower(path, { reset: () => undefined, apply: () => undefined });
    assert.is(await fresh.catchUp(), 'corrupt');
    await fresh.close();
    try {
      await append(target, fresh, () => [drop('x')], false);
      assert.unreachable();
    } catch (error) {
      assert.ok(isSvcError(error) && error.kind === 'unavailable');
    }
    const saved = await salvage(layoutOf(dir), target, 'now', { owe: () => undefined });
    assert.is(saved.kept, 2);
    assert.is(saved.damages, 1);
    assert.equal(readFileSync(saved.movedTo!), bytes);
    assert.is(await follower.catchUp(), 'clean');
    assert.equal(seen, ['p', 'p']);
  }));

test('keeps files private whatever the umask', () => {
  const before = process.umask(0);
  return withLog(async ({ path, dir, add }) => {
    await add(drop('a'));
    assert.is(statSync(path).mode & 0o777, 0o600);
    assert.is(statSync(layoutOf(dir).appendLock).mode & 0o777, 0o600);
  }).finally(() => process.umask(before));
});

test('gives a lock to one holder; others wait, and give up after a time', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-lock-'));
  const [first, second] = [openLock(join(dir, 'l')), openLock(join(dir, 'l'))];
  const release = await first.acquire();
  assert.is(second.tryAcquire(), undefined);
  let waited = 0;
  try {
    await second.acquire({ timeoutMs: 5, onWait: () => void waited++ });
    assert.unreachable();
  } catch (error) {
    assert.ok(isSvcError(error) && error.kind === 'conflict');
  }
  assert.is(waited, 1);
  release();
  (await second.acquire())();
  first.close();
  second.close();
  rmSync(dir, { recursive: true });
});

test.run();
