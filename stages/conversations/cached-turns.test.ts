/** Finding the previous turn, and storing only what changed since. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CachedTurn } from '../model/cached-turn.ts';
import { applyCached, createCachedTurns } from './cached-turns.ts';
import type { CachedChange } from './cached-turns.ts';
import { readLine, writeLine } from './record.ts';

let made = 0;

/** Returns a turn with these messages, one per letter. */
function turnOf(messages: string, more: Partial<CachedTurn> = {}): CachedTurn {
  made += 1;
  return {
    request: `req_${made}`,
    atMs: made * 1000,
    doneMs: made * 1000 + 500,
    provider: 'messages',
    model: 'claude-sonnet-4-5',
    key: 'key',
    session: '',
    lifetimeMs: 300_000,
    total: 9000,
    left: 1000 * messages.length,
    read: 0,
    markers: 'some',
    blocks: 0,
    tier: '',
    thinking: '',
    choice: '',
    format: '',
    images: false,
    tools: '',
    system: 'systemis',
    messages: messages
      .split('')
      .map((letter) => letter.repeat(8))
      .join(','),
    steps: [],
    ...more,
  };
}

/**
 * Turns and the changes a file would contain; each is applied twice, which must make no difference.
 */
function fileOf() {
  const runs = new Map<number, CachedTurn>();
  const turns = createCachedTurns(() => []);
  const lines: string[] = [];
  return {
    runs,
    lines,
    follow: (turn: CachedTurn, id = 'one') =>
      turns.follow(turn, id, {
        runs: () => runs,
        set(change: CachedChange) {
          const line = writeLine({ id, beginning: id, atMs: 1, change: { cached: [change] } });
          lines.push(line);
          const read = readLine(line);
          if (read === undefined || !('change' in read)) throw new Error('it cannot be read');
          for (const one of [...read.change.cached!, ...read.change.cached!])
            applyCached(runs, one);
        },
      })?.request,
  };
}

test('finds the previous turn by its repeated messages, and stores only the new part', () => {
  const { follow, runs, lines } = fileOf();
  const first = turnOf('a');
  assert.is(follow(first), undefined);
  assert.is(lines.length, 0, 'most conversations have one request');
  const second = turnOf('abc');
  assert.is(follow(second), first.request);
  const third = turnOf('abcde');
  assert.is(follow(third), second.request);
  assert.is(runs.get(1)!.messages, third.messages);
  assert.is(runs.size, 1);
  assert.ok(lines[1]!.length < lines[0]!.length, 'the second has the new messages');
  assert.not.match(lines[1]!, /aaaaaaaa|systemis/);
});

test('finds the previous turn when a first request is repeated, without storing it', () => {
  const { follow, lines } = fileOf();
  const first = turnOf('a');
  follow(first);
  assert.is(follow(turnOf('a')), first.request);
  assert.is(lines.length, 0);
});

test('compares a second branch with the common part, and continues both', () => {
  const { follow } = fileOf();
  const parent = turnOf('abc');
  follow(turnOf('a'));
  follow(parent);
  const left = turnOf('abcde');
  assert.is(follow(left), parent.request);
  const right = turnOf('abcxy');
  assert.is(follow(right), left.request);
  const more = turnOf('abcdefg');
  assert.is(follow(more), left.request);
  const other = turnOf('abcxyzw');
  assert.is(follow(other), right.request);
});

test('finds the previous turn despite a changed system prompt, first message or key', () => {
  const { follow } = fileOf();
  follow(turnOf('a', { session: 'sessions' }));
  const second = turnOf('abc', { session: 'sessions' });
  follow(second);
  const system = turnOf('abcde', { session: 'sessions', system: 'anothers' });
  assert.is(follow(system, 'two'), second.request);
  const first = turnOf('xbcdefg', { session: 'sessions', system: 'anothers' });
  assert.is(follow(first, 'three'), system.request);
  const key = turnOf('xbcdefghi', { key: 'another', system: 'anothers' });
  assert.is(follow(key, 'three'), first.request);
});

test('ignores turns without an answer so far, and equal turns of other clients', () => {
  const { follow } = fileOf();
  follow(turnOf('a', { doneMs: 1e9 }));
  assert.is(follow(turnOf('abc')), undefined, 'still in flight');
  const others = fileOf();
  others.follow(turnOf('a'));
  assert.is(others.follow(turnOf('a', { key: 'another' })), undefined);
});

test('finds a turn that another process wrote', () => {
  const { follow, runs } = fileOf();
  const elsewhere = turnOf('abc');
  runs.set(3, elsewhere);
  assert.is(follow(turnOf('abcde')), elsewhere.request);
  assert.equal([...runs.keys()], [3]);
});

test('keeps the four most recently continued branches of a conversation', () => {
  const { follow, runs } = fileOf();
  follow(turnOf('a'));
  for (const letter of 'bcdefgh') follow(turnOf(`a${letter}x`));
  assert.is(runs.size, 4);
  assert.equal(
    Array.from(runs.values(), ({ messages }) => messages[9]),
    ['e', 'f', 'g', 'h'],
  );
});

test('ignores a damaged entry', () => {
  const runs = new Map<number, CachedTurn>();
  applyCached(runs, { run: 1, same: 9, messages: 'bbbbbbbb' });
  assert.is(runs.size, 0);
  const line = readLine('{"c":"one","b":"one","t":1,"cached":[{"run":"x"},7,null]}');
  assert.equal(line && 'change' in line ? line.change.cached : undefined, []);
});

test.run();
