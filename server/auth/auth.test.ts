import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import type { SvcError } from '../../engine/error.ts';
import { createKeyring, generateKey, openKeyStore } from './auth.ts';
import type { Keyring } from './auth.ts';

const START_MS = Date.UTC(2026, 0, 1);
const test = suite<{ folder: string }>('proxy keys');

test.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'svc-auth-'));
});
test.after.each((context) => {
  rmSync(context.folder, { recursive: true, force: true });
});

function open(folder: string) {
  const clock = createManualClock(START_MS);
  const file = join(folder, 'home', 'keys.json');
  const faults: SvcError[] = [];
  const store = openKeyStore({ file, clock, random: randomBytes });
  const ring = createKeyring({ file, clock, onFault: (fault) => faults.push(fault) });
  return { clock, file, faults, store, ring };
}

/** Returns the keyring's verdict on a key, without the caller fields that go into ledger rows. */
function verdictOf(ring: Keyring, key: string) {
  const verdict = ring.check(key);
  if (typeof verdict === 'string') return verdict;
  const { caller, ...rest } = verdict;
  assert.is(caller.keyId, verdict.keyId);
  return rest;
}

test('a key consists of 256 bits from the random source', () => {
  assert.is(
    generateKey((size) => Buffer.alloc(size, 0xff)),
    `svc_${'_'.repeat(42)}8`,
  );
  assert.match(generateKey(randomBytes), /^svc_[A-Za-z0-9_-]{43}$/);
});

test('the store is private and contains the hash of a key, never the key', ({ folder }) => {
  const { store, file } = open(folder);
  const mask = process.umask(0);
  try {
    const { key, stored } = store.create({ label: 'laptop' });
    const text = readFileSync(file, 'utf8');
    assert.not.match(text, key);
    assert.not.match(text, key.slice(4, 20));
    assert.match(text, stored.sha256);
    assert.is(statSync(file).mode & 0o777, 0o600);
    assert.is(statSync(join(folder, 'home')).mode & 0o777, 0o700);
    assert.equal(readdirSync(join(folder, 'home')), ['keys.json']);
  } finally {
    process.umask(mask);
  }
});

test('a running server sees new, revoked and expired keys within a second', ({ folder }) => {
  const { store, ring, clock } = open(folder);
  assert.is(ring.check('anything'), 'unknown');
  const laptop = store.create({ label: 'laptop' });
  const guest = store.create({ label: 'guest', expiresInS: 60 });
  assert.is(ring.check(laptop.key), 'unknown', 'the file is not read again within a second');
  clock.advance(1000);
  assert.equal(verdictOf(ring, laptop.key), { verdict: 'keyed', keyId: laptop.stored.id });
  assert.equal(verdictOf(ring, guest.key), { verdict: 'keyed', keyId: guest.stored.id });
  clock.advance(59_000);
  assert.is(ring.check(guest.key), 'dead');
  store.revoke('laptop');
  clock.advance(1000);
  assert.is(ring.check(laptop.key), 'dead');
  assert.is(ring.check(`${laptop.key}x`), 'unknown');
  assert.is(ring.check(laptop.key.slice(0, -1)), 'unknown');
  assert.is(ring.check(''), 'unknown');
  assert.is(ring.check('x'.repeat(20_000)), 'unknown');
});

test('list shows all keys, and revoke takes an id or an unambiguous label', ({ folder }) => {
  const { store } = open(folder);
  const first = store.create({ label: 'ci' });
  const second = store.create({ label: 'ci' });
  assert.equal(
    store.list().map((key) => key.id),
    [first.stored.id, second.stored.id],
  );
  assert.throws(
    () => store.revoke('ci'),
    (error: SvcError) => error.kind === 'conflict',
  );
  assert.throws(
    () => store.revoke('nobody'),
    (error: SvcError) => error.kind === 'not_found',
  );
  const [ended, ...others] = store.revoke(first.stored.id);
  assert.is(ended.revoked, new Date(START_MS).toISOString());
  assert.is(others.length, 0);
  assert.is(store.revoke('ci')[0].id, second.stored.id);
  assert.throws(
    () => store.revoke('ci'),
    (error: SvcError) => error.kind === 'not_found',
  );
  assert.is(store.list().length, 2);
});

test('a label selects the current key and the keys it replaced, but no expired ones', ({
  folder,
}) => {
  const { store, ring, clock } = open(folder);
  store.create({ label: 'ci', expiresInS: 10 });
  clock.advance(20_000);
  const keys = [store.create({ label: 'ci', may: ['capture'] })];
  for (let turns = 0; turns < 3; turns += 1) keys.push(store.rotate('ci', { graceS: 3600 }));
  clock.advance(1000);
  const last = keys.at(-1)!;
  assert.equal(verdictOf(ring, last.key), {
    verdict: 'keyed',
    keyId: last.stored.id,
    may: ['capture'],
  });
  assert.equal(
    store.revoke('ci').map(({ id }) => id),
    keys.map(({ stored }) => stored.id).toReversed(),
  );
  clock.advance(1000);
  for (const { key } of keys) assert.is(ring.check(key), 'dead');
});

test('an id selects only its own key, even after a rotation', ({ folder }) => {
  const { store, ring, clock } = open(folder);
  const first = store.create({ label: 'ci' });
  const second = store.rotate('ci', { graceS: 3600 });
  store.revoke(second.stored.id);
  const third = store.create({ label: 'ci' });
  assert.throws(
    () => store.revoke('ci'),
    (error: SvcError) => error.kind === 'conflict',
  );
  store.revoke(first.stored.id);
  clock.advance(1000);
  assert.is(ring.check(first.key), 'dead');
  assert.is.not(ring.check(third.key), 'dead');
  assert.equal(store.revoke('ci').length, 1);
});

test('the configured key is accepted too, until a reload replaces it', ({ folder }) => {
  const { ring } = open(folder);
  ring.setConfigKey('old');
  assert.equal(verdictOf(ring, 'old'), { verdict: 'keyed', keyId: 'config' });
  ring.setConfigKey('old');
  assert.equal(verdictOf(ring, 'old'), { verdict: 'keyed', keyId: 'config' });
  ring.setConfigKey('new');
  assert.is(ring.check('old'), 'dead');
  assert.equal(verdictOf(ring, 'new'), { verdict: 'keyed', keyId: 'config' });
  ring.setConfigKey('old');
  assert.equal(verdictOf(ring, 'old'), { verdict: 'keyed', keyId: 'config' });
  ring.setConfigKey(undefined);
  assert.is(ring.check('old'), 'dead');
  assert.is(ring.check(''), 'unknown');
});

test('a broken file is reported once, and the keys that were read last stay valid', ({
  folder,
}) => {
  const { store, ring, clock, file, faults } = open(folder);
  const { key } = store.create({ label: 'laptop' });
  assert.is.not(ring.check(key), 'unknown');
  for (const [index, text] of [
    '{',
    '[]',
    '{"format":2,"keys":[]}',
    '{"format":1,"keys":[1]}',
  ].entries()) {
    writeFileSync(file, text);
    clock.advance(1000);
    assert.is.not(ring.check(key), 'unknown');
    clock.advance(1000);
    ring.check(key);
    assert.is(faults.length, index + 1);
    assert.is(faults[index]?.kind, 'config');
  }
});

test('a key file that other users can write is not trusted', ({ folder }) => {
  const { store, clock, file } = open(folder);
  const { key } = store.create({ label: 'laptop' });
  chmodSync(file, 0o666);
  const faults: string[] = [];
  const ring = createKeyring({ file, clock, onFault: (fault) => faults.push(fault.message) });
  assert.is(ring.check(key), 'unknown');
  assert.match(faults[0] ?? '', /other users can write/);
  chmodSync(file, 0o600);
  clock.advance(1000);
  assert.is.not(ring.check(key), 'unknown');
});

test('a second concurrent writer gets an error, and a lock left by a crash expires', ({
  folder,
}) => {
  const { store, file } = open(folder);
  store.create({ label: 'one' });
  writeFileSync(`${file}.new`, '');
  utimesSync(`${file}.new`, START_MS / 1000, START_MS / 1000 - 5);
  assert.throws(
    () => store.create({ label: 'two' }),
    (error: SvcError) => error.kind === 'conflict',
  );
  utimesSync(`${file}.new`, START_MS / 1000, START_MS / 1000 - 11);
  store.create({ label: 'three' });
  assert.equal(
    store.list().map((key) => key.label),
    ['one', 'three'],
  );
});

test.run();
