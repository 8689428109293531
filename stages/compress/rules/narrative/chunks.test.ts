import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chunkText } from './chunks.ts';

const dropped = (text: string): readonly string[] =>
  chunkText(text, 120)
    .filter((chunk) => chunk.droppable)
    .map((chunk) => chunk.text);

test('does not treat rows, names, usage texts and marked lines as sentences', () => {
  for (const row of [
    'root       412  0.0  0.1  12345  6000 ?  Ss  06:00  0:00 worker process of the idle queue.',
    '+The value was read by the parser and written again.',
    '! The value was read by the parser and written again.',
    '< The value was read by the parser and written again.',
    '  -a, --all    Print all of the names that were found. Slow.',
    'quarterly report for the northern sales region',
    '8d2f11a Add the report of the northern sales region',
    'Berlin,12,The value of the northern sales region.',
    '7\tThe value of the northern sales region.\tx',
  ]) {
    assert.equal(dropped(`${row}\n`.repeat(3)), [], row);
  }
});

test('drops or keeps a sentence that is wrapped over several lines as a whole', () => {
  const text =
    'The harbour was quiet on that morning, and the whole of the\ncrew said nothing at all. Nobody had expected the ship to\nreturn so early in the year.\n';
  assert.equal(dropped(text), [
    'The harbour was quiet on that morning, and the whole of the\ncrew said nothing at all.',
    'Nobody had expected the ship to\nreturn so early in the year.',
  ]);
  const item =
    '- The harbour was quiet on that morning, and the whole of the\n  crew of that ship said nothing at all.\n';
  assert.equal(dropped(item), []);
});

test('finds sentences in any script', () => {
  for (const text of [
    'В то утро в гавани было совсем тихо. Никто не ждал корабль так рано.',
    'لم يتوقع أحد وصول السفينة مبكرا في ذلك الصباح. هل قال الطاقم شيئا عن ذلك اليوم؟',
    '那天早晨港口非常安静，没有人说话，连海鸥也不叫。没有人想到那艘船会这么早回来，所有人都很惊讶。',
  ])
    assert.is(dropped(text).length, 2, text);
});

test('never drops a sentence that gives a step, or says what is unsupported or the default', () => {
  for (const sentence of [
    'Install the crane before the quay is closed.',
    'Copy the list of berths to the harbour office.',
    'Wooden piers are not supported by the new lock.',
    'The old lock is no longer used at night.',
    'The lock is closed by default in the winter.',
  ])
    assert.equal(
      dropped(
        `The harbour was quiet on that morning. ${sentence} The crew of the ferry said nothing.\n`,
      ),
      ['The harbour was quiet on that morning.', 'The crew of the ferry said nothing.'],
    );
});

test.run();
