import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/index.ts';
import { openStore } from './store-file.ts';
import type { ConversationStore, StoreLimits } from './store.ts';

type Open = (limits?: StoreLimits) => Promise<ConversationStore>;

async function within(use: (file: string, open: Open, problems: string[]) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-conversations-'));
  const file = join(folder, 'decisions.jsonl');
  const problems: string[] = [];
  const onProblem = (error: Error) => void problems.push(error.message);
  try {
    await use(
      file,
      (limits = {}) => openStore({ file, clock: systemClock, onProblem, ...limits }),
      problems,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PIN = {
  version: 1,
  mode: 'hybrid',
  maxChars: 120,
  thresholdTokens: 0,
  logBudgetTokens: 3500,
} as const;

test('restores after a restart what several changes added up to', () =>
  within(async (file, open) => {
    const first = await open();
    first.set('a', 'b', { pin: PIN, timedOut: ['1'], sent: [['k', 'x']] });
    first.set('a', 'b', {
      timedOut: ['2'],
      parts: [['p', true]],
      leftOut: [['r', 'line', 3]],
      injected: [['q', { text: 't', ids: ['i'], tokens: 1, atMs: 2, settings: 's' }]],
      tails: [{ blocks: 1, hash: 'h', atMs: 1, gaps: '', goesOn: true }],
      sent: [
        ['k', 'y'],
        ['l', ''],
      ],
      tools: [['t', '[]']],
      keys: [['messages', 'one']],
      dropsThoughts: true,
    });
    first.setRecipes('r', '{}');
    await first.flush();
    const record = (await open()).get('a');
    assert.equal(record, first.get('a'));
    assert.equal([...record!.timedOut], ['1', '2']);
    assert.equal(
      [...record!.sent!],
      [
        ['k', 'y'],
        ['l', ''],
      ],
    );
    assert.is((await open()).recipes('r'), '{}');
    assert.is(statSync(file).mode & 0o777, 0o600);
  }));

test('reads the lines of an older version', () =>
  within(async (file, open) => {
    const older = [
      ['compress:c', JSON.stringify({ ...PIN, sent: { blocks: 3, last: 'm' } })],
      ['slow:c', '1:a 2:b'],
      ['forget:c', JSON.stringify([['r', 'line', 7]])],
      ['long:c', JSON.stringify({ p: true, q: false })],
      ['turns:c', JSON.stringify([{ blocks: 1, hash: 'h', atMs: 1, gaps: 's', goesOn: true }])],
      ['recipes:x', '{"id":"x"}'],
      ['inject:q', JSON.stringify({ text: 't', ids: [], tokens: 1, atMs: 2, settings: 's' })],
      ['inject:gone', ''],
    ];
    writeFileSync(file, older.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const store = await open();
    const { pin, timedOut, leftOut, parts, tails, sent, isOlder } = store.get('c')!;
    assert.ok(isOlder);
    assert.is(pin?.sent?.blocks, 3);
    assert.equal([...timedOut], ['1:a', '2:b']);
    assert.equal([...leftOut], [['r', { line: 'line', tokens: 7 }]]);
    assert.equal(
      [...parts],
      [
        ['p', true],
        ['q', false],
      ],
    );
    assert.is(tails[0]?.hash, 'h');
    assert.is(sent, undefined);
    assert.is(store.recipes('x'), '{"id":"x"}');
    assert.is(store.olderInjected('q')?.text, 't');
    assert.is(store.olderInjected('gone'), undefined);
  }));

test('loses only a truncated line, not the next one', () =>
  within(async (file, open, problems) => {
    const first = await open();
    first.set('a', 'a', { timedOut: ['1'] });
    first.set('b', 'b', { timedOut: ['1'] });
    await first.flush();
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -9));
    const again = await open();
    assert.equal([again.get('a') !== undefined, again.get('b')], [true, undefined]);
    again.set('c', 'c', { timedOut: ['1'] });
    await again.flush();
    assert.ok((await open()).get('c') !== undefined);
    assert.equal(problems, []);
  }));

test('reads the lines before and after an incomplete line of another process', () =>
  within(async (file, open, problems) => {
    const one = await open();
    one.set('a', 'a', { timedOut: ['1'] });
    await one.flush();
    const line = JSON.stringify({ c: 'b', b: 'b', t: Date.now(), timedOut: ['1'] });
    appendFileSync(file, line.slice(0, 9));
    const late = await open();
    one.set('c', 'c', { timedOut: ['1'] });
    await one.flush();
    await late.catchUp();
    assert.equal([late.get('a'), late.get('c')].includes(undefined), false);
    // A line still being written while the file is opened.
    appendFileSync(file, line.slice(0, 9));
    const early = await open();
    appendFileSync(file, `${line.slice(9)}\n`);
    assert.ok(early.isBehind());
    await early.catchUp();
    assert.ok(early.get('b') !== undefined);
    assert.equal(problems, []);
  }));

test('loses only the damaged lines in the middle of a file', () =>
  within(async (file, open) => {
    const first = await open();
    for (const id of ['a', 'b', 'c']) first.set(id, id, { sent: [['k', id]] });
    await first.flush();
    const lines = readFileSync(file, 'utf8').split('\n');
    lines[lines.findIndex((line) => line.includes('"c":"b"'))] =
      '{"c":"b","b":"b","t":1,"sent":[[1],"x",["k"]],"pin":{"mode":"fast"},"tails":7}';
    writeFileSync(file, lines.join('\n'));
    const again = await open();
    assert.equal([again.get('a')?.sent?.get('k'), again.get('b')?.sent?.size], ['a', 0]);
    assert.is(again.get('c')?.sent?.get('k'), 'c');
  }));

test('moves a file of another program aside, and reports it', () =>
  within(async (file, open, problems) => {
    writeFileSync(file, 'my notes\nof a day\n');
    const store = await open();
    store.set('a', 'a', { timedOut: ['1'] });
    await store.flush();
    assert.match(problems.join(), /it was moved to .*corrupt-/);
    const aside = readdirSync(dirname(file)).find((name) => name.includes('corrupt-'));
    assert.is(readFileSync(join(dirname(file), aside!), 'utf8'), 'my notes\nof a day\n');
    assert.ok((await open()).get('a') !== undefined);
  }));

test('drops the oldest conversations when there are too many characters, also after a restart', () =>
  within(async (_file, open) => {
    const limits = { maxChars: 20_000 };
    const first = await open(limits);
    for (let n = 0; n < 40; n++) first.set(`k${n}`, 'b', { sent: [['k', 'x'.repeat(900)]] });
    assert.ok(first.figures.chars <= limits.maxChars);
    assert.equal([first.get('k0'), first.get('k39')?.sent?.size], [undefined, 1]);
    assert.is(first.others('k0', 'b').length, first.figures.conversations);
    await first.flush();
    const again = await open(limits);
    assert.equal(again.figures.conversations, first.figures.conversations);
  }));

test('deletes a conversation that has not been continued for some days', () =>
  within(async (file, open) => {
    const longAgo = Date.now() - 40 * 86_400_000;
    const line = (id: string, t: number) => JSON.stringify({ c: id, b: id, t, timedOut: ['1'] });
    writeFileSync(file, `${line('old', longAgo)}\n${line('new', Date.now())}\n`);
    const store = await open({ maxDays: 30 });
    assert.equal([store.get('old'), store.get('new') !== undefined], [undefined, true]);
  }));

test('compacts the file before obsolete entries grow without bound', () =>
  within(async (file, open) => {
    const store = await open();
    for (let n = 0; n < 60; n++) {
      store.set('one', 'b', { sent: [['k', `${n}`.padEnd(100_000, '.')]] });
      await store.flush();
    }
    assert.ok(readFileSync(file).length < 2.5 * 1024 * 1024);
    assert.ok((await open()).get('one')?.sent?.get('k')?.startsWith('59.'));
  }));

test('reads the changes that another process writes to the same file', () =>
  within(async (_file, open) => {
    const one = await open();
    one.set('a', 'a', { sent: [['k', '1']] });
    await one.flush();
    const other = await open();
    assert.not.ok(other.isBehind());
    one.set('a', 'a', { sent: [['l', '2']] });
    await one.flush();
    assert.ok(other.isBehind());
    await other.catchUp();
    assert.is(other.get('a')?.sent?.get('l'), '2');
    other.set('a', 'a', { sent: [['k', '3']] });
    await other.flush();
    assert.not.ok(other.isBehind());
    assert.ok(one.isBehind());
    await one.catchUp();
    assert.equal(
      [...one.get('a')!.sent!],
      [
        ['k', '3'],
        ['l', '2'],
      ],
    );
    assert.not.ok(one.isBehind());
  }));

test('does not reread the file for its own pending lines, and shares one read between callers', () =>
  within(async (_file, open) => {
    const one = await open();
    const other = await open();
    one.set('a', 'a', { sent: [['k', '1']] });
    assert.not.ok(one.isBehind());
    await one.flush();
    assert.not.ok(one.isBehind());
    assert.ok(other.isBehind());
    const first = other.catchUp();
    assert.is(other.catchUp(), first);
    await first;
    one.set('a', 'a', { sent: [['l', '2']] });
    await one.flush();
    await other.catchUp();
    assert.is(other.get('a')?.sent?.get('l'), '2');
  }));

test('loses nothing when two processes write and replace the file at the same time', () =>
  within(async (file, open, problems) => {
    const stores = [await open(), await open()] as const;
    const filler = 'x'.repeat(400_000);
    const ids: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      // As before a decision: only then does each process know the size of the file.
      await Promise.all(stores.filter((one) => one.isBehind()).map((one) => one.catchUp()));
      for (const [at, store] of stores.entries()) {
        // Repeating one conversation makes the file wasteful, so that both processes compact it.
        store.set(`large-${at}`, 'b', { sent: [['k', `${filler}${round}`]] });
        const id = `small-${at}-${round}`;
        store.set(id, 'b', { sent: [['k', id]] });
        ids.push(id);
      }
      await Promise.all(stores.map((one) => one.flush()));
    }
    const found = await open();
    assert.equal(
      ids.filter((id) => found.get(id)?.sent?.get('k') !== id),
      [],
    );
    assert.equal(problems, []);
    assert.equal(readdirSync(dirname(file)), ['decisions.jsonl']);
  }));

test.run();
