/** The link's states, with the test's own connection and a manual clock. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/index.ts';
import type { Connection, ConnectionEvents, Reply } from './connection.ts';
import { RedisLink, describeError } from './link.ts';

interface PendingCommand {
  answer(reply: Reply): void;
  refuse(message: string): void;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function open() {
  const clock = createManualClock();
  const lines: string[] = [];
  const line =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      void lines.push(`${level}: ${message} (${textOf(fields['reason'])})`);
  const commands: PendingCommand[] = [];
  let events: ConnectionEvents | undefined;
  const counts = { reconnects: 0, ready: true };
  const send = (): Promise<Reply> =>
    new Promise((resolve, reject) => {
      commands.push({ answer: resolve, refuse: (message) => reject(new Error(message)) });
    });
  const link = new RedisLink({
    connect(handlers): Connection {
      events = handlers;
      return {
        get isReady() {
          return counts.ready;
        },
        call: send,
        run: send,
        reconnect: () => Object.assign(counts, { reconnects: counts.reconnects + 1, ready: false }),
        close: () => undefined,
      };
    },
    clock,
    log: { info: line('info'), warning: line('warning'), error: line('error') },
    place: '127.0.0.1:1',
    trialKey: 'svc:1:trial',
  });
  const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  return {
    link,
    clock,
    lines,
    asked: commands,
    counts,
    events: events!,
    turn,
    /** Connects, and answers the link's trial command. */
    async up() {
      events!.ready();
      commands.pop()!.answer(1);
      await turn();
    },
    ask: () => link.ask((redis) => redis.call(['PING'])),
  };
}

test('no command is sent before the first trial succeeds, or while Redis is unreachable', async () => {
  const t = open();
  assert.is(await t.ask(), undefined);
  assert.is(t.asked.length, 0);
  t.events.ready();
  assert.is(await t.ask(), undefined, 'connected, but not yet known to accept writes');
  t.asked.pop()!.answer(1);
  await t.turn();
  const reply = t.ask();
  t.asked.pop()!.answer(7);
  assert.is(await reply, 7);
  assert.equal(t.link.view(), {
    state: 'up',
    place: '127.0.0.1:1',
    reason: null,
    asked: 1,
    unanswered: 0,
  });
  assert.equal(t.lines, []);
});

test('after fifty milliseconds without a response no request waits until a trial succeeds', async () => {
  const t = open();
  await t.up();
  const late = t.ask();
  t.clock.advance(49);
  await t.turn();
  assert.ok(t.link.isUp);
  t.clock.advance(1);
  await t.turn();
  assert.is(await late, undefined);
  assert.not.ok(t.link.isUp);
  assert.is(await t.ask(), undefined);
  assert.is(t.asked.length, 2, 'the command and one probe');
  t.clock.advance(900);
  assert.equal(t.lines, [], 'a short pause is not reported');
  t.clock.advance(200);
  assert.equal(t.lines, [
    'warning: Redis is unreachable: this proxy continues with its own limits and state (no answer within 50 ms)',
  ]);
  assert.is(t.asked.length, 2, 'one probe at a time');
  t.asked[1]!.answer(1);
  await t.turn();
  assert.ok(t.link.isUp);
  assert.equal(t.lines.slice(1), ['info: Redis is back ()']);
});

test('a response that arrived while this process was busy is still used', async () => {
  const t = open();
  await t.up();
  const reply = t.ask();
  t.clock.advance(50);
  // Timers come before sockets in a turn of the event loop.
  t.asked.pop()!.answer(3);
  assert.is(await reply, 3);
  assert.ok(t.link.isUp);
});

test('a silent connection and an unfinished connection attempt are dropped', async () => {
  const t = open();
  await t.up();
  void t.ask();
  t.clock.advance(50);
  await t.turn();
  t.clock.advance(6000);
  assert.is(t.counts.reconnects, 1);
  t.asked.pop()!.answer(1);
  await t.turn();
  assert.not.ok(t.link.isUp, 'a late word on the connection that was given up');
  t.events.closed();
  t.clock.advance(6000);
  assert.is(t.counts.reconnects, 2);
  t.counts.ready = true;
  await t.up();
  assert.ok(t.link.isUp);
});

test('an error of the server takes the link down, an error of one command does not', async () => {
  const t = open();
  await t.up();
  const wrong = t.ask();
  t.asked.pop()!.refuse('WRONGTYPE Operation against a key holding the wrong kind of value');
  assert.is(await wrong, undefined);
  assert.ok(t.link.isUp);
  const full = t.ask();
  t.asked.pop()!.refuse("OOM command not allowed when used memory > 'maxmemory'.");
  assert.is(await full, undefined);
  assert.not.ok(t.link.isUp);
  assert.is(t.lines.length, 1);
  t.clock.advance(500);
  t.asked.pop()!.answer(1);
  await t.turn();
  assert.ok(t.link.isUp);
  assert.is(t.link.view().unanswered, 2);
});

test('a lost connection is one warning, however many reconnections fail', async () => {
  const t = open();
  await t.up();
  for (let i = 0; i < 5; i += 1) {
    t.events.failed(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
    t.events.closed();
  }
  assert.is(t.lines.length, 1);
  assert.is(t.link.view().reason, 'connection refused');
});

test('a start waits for the first result, good or bad, and no longer', async () => {
  const good = open();
  const first = good.link.settled(500);
  await good.up();
  await first;
  assert.equal(good.lines, []);
  const bad = open();
  const second = bad.link.settled(500);
  bad.events.failed(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
  bad.events.closed();
  await second;
  assert.match(bad.lines.join(), /^warning: Redis is unreachable.*\(connection refused\)$/);
  const none = open();
  const third = none.link.settled(500);
  none.clock.advance(500);
  await third;
  assert.match(none.lines.join(), /it has not answered yet/);
});

test('pending work runs when the link comes up, and twice a second', async () => {
  const t = open();
  let done = 0;
  t.link.everyTick(() => (done += 1));
  t.clock.advance(2000);
  assert.is(done, 0);
  t.asked.pop()!.answer(1);
  await t.turn();
  assert.is(done, 1);
  t.clock.advance(1000);
  assert.is(done, 3);
  t.link.close();
  t.clock.advance(5000);
  assert.is(done, 3);
});

test('errors never quote what was sent', () => {
  const error = Object.assign(new Error('WRONGPASS invalid username-password pair'), {
    command: { name: 'auth', args: ['s3cret'] },
  });
  assert.not.match(describeError(error), 's3cret');
  class ReplyError extends Error {
    override name = 'ReplyError';
  }
  assert.is(
    describeError(new ReplyError('ERR no\u001b[31m such\r\nthing')),
    'ERR no\\x1b[31m such\\x0d',
  );
  const renamed = "ERR unknown command 'AUTH', with args beginning with: 'svc' 's3cret' ";
  assert.is(describeError(new ReplyError(renamed)), "ERR unknown command 'AUTH'");
  assert.is(describeError('nothing'), 'the connection failed');
});

test.run();
