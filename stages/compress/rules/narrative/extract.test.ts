import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { estimateTokens } from '../../../model/tokens.ts';
import { chunkText } from './chunks.ts';
import { extractNarrative } from './extract.ts';
import type { CompressContext } from '../rule.ts';
import { contextFor, STORY, TOWNS } from '../../../../fixtures/compress/texts.ts';

const CONTEXT = contextFor('narrative');
const asking = (query: string): CompressContext => ({ ...CONTEXT, query });

const FILLER = Array.from(
  { length: 60 },
  (_, n) => `On the evening of day ${n} the ferry left the old harbour with few people on board.`,
).join(' ');

/** Returns whether the second sentence is kept when both are sent between other prose. */
function isKept(first: string, second: string): boolean {
  const text = `${FILLER} ${first} ${second} ${FILLER.replaceAll('evening', 'morning')}`;
  const out = extractNarrative(text, CONTEXT)?.text ?? text;
  assert.ok(out.includes(first), first);
  return out.includes(second);
}

const LONG =
  'for all accounts of the northern branch while the move from the old cluster to the new one is going on in autumn';

test('keeps sentences that differ in any word, however long and similar they are', () => {
  const pairs: readonly (readonly [string, string])[] = [
    [`The export stays enabled ${LONG}.`, `The export stays disabled ${LONG}.`],
    [`The daemon does copy archives ${LONG}.`, `The daemon doesn't copy archives ${LONG}.`],
    [`The daemon doesn’t copy archives ${LONG}.`, `The daemon does copy archives ${LONG}.`],
    [`It is safe to restart ${LONG}.`, `It is not safe to restart ${LONG}.`],
    [`Queue red replaced queue blue ${LONG}.`, `Queue blue replaced queue red ${LONG}.`],
    [`Latency rose after the change ${LONG}.`, `Latency fell after the change ${LONG}.`],
    [`Maria approved the change ${LONG}.`, `Marta approved the change ${LONG}.`],
    [`The share of Apple grew ${LONG}.`, `The share of apple grew ${LONG}.`],
    [`It takes 1.5 hours ${LONG}.`, `It takes 15 hours ${LONG}.`],
    [`It takes 1,500 steps ${LONG}.`, `It takes 1.500 steps ${LONG}.`],
    [`The offset is 4 ${LONG}.`, `The offset is -4 ${LONG}.`],
    [`The share is 4 ${LONG}.`, `The share is 4% ${LONG}.`],
    [`The rod is 5' long ${LONG}.`, `The rod is 5" long ${LONG}.`],
    [`The service is written in C ${LONG}.`, `The service is written in C++ ${LONG}.`],
    [`The service is ready ${LONG}.`, `The service is ready ${LONG}?`],
    [`We're done here ${LONG}.`, `Were done here ${LONG}.`],
    [`Every account was moved ${LONG}.`, `Every other account was moved ${LONG}.`],
    [`Der Dienst ist aktiv ${LONG}.`, `Der Dienst ist inaktiv ${LONG}.`],
  ];
  for (const [first, second] of pairs) assert.ok(isKept(first, second), second);
});

test('treats the same words with other white space or punctuation as a copy', () => {
  const first = `The export, as agreed, stays "enabled" ${LONG}.`;
  for (const second of [
    `The export as agreed stays enabled ${LONG}!`,
    `The export, as agreed, stays “enabled” ${LONG}.`,
    `The export  as agreed (stays enabled ${LONG}).`,
  ])
    assert.not(isKept(first, second), second);
});

test('splits a text into chunks that join to the same text', () => {
  for (const text of [
    STORY,
    'One. Two!\n\n- a list\n\n```\ncode. here.\n```\nDr. A. Smith came.',
    '',
    '   \n\n x',
  ]) {
    assert.is(
      chunkText(text, 120)
        .map((chunk) => chunk.text + chunk.space)
        .join(''),
      text,
    );
  }
});

test('keeps what is relevant to the question, and only whole sentences of the text', () => {
  const out = extractNarrative(STORY, asking('Who was the keeper of the lighthouse?'))!;
  assert.match(out.text, 'The lighthouse keeper of Corvo was called Almeida.');
  assert.match(out.text, '`config.yaml`');
  assert.match(out.text, 'You must never drop this sentence.');
  const saved = 1 - estimateTokens(out.text) / estimateTokens(STORY);
  assert.ok(saved > 0.2 && saved < 0.4, String(saved));
  const known = new Set(chunkText(STORY, 120).map((chunk) => chunk.text));
  const body = out.text.slice(out.text.indexOf('\n') + 1);
  for (const part of body.split('…')) {
    for (const chunk of chunkText(part.trim(), 120)) assert.ok(known.has(chunk.text), chunk.text);
  }
});

test('removes only copies if there is no question', () => {
  const copies = Array.from(
    { length: 20 },
    () => 'The same remark about the same weather was printed in every one of the papers that day.',
  );
  const unique = TOWNS.join(' ').replaceAll('market', 'square');
  const out = extractNarrative(`${unique}\n\n${copies.join(' ')}`, asking(''))!;
  assert.is(out.text.split('The same remark').length, 2);
  for (const town of ['number 3 ', 'number 39 ']) assert.match(out.text, town);
  const numbers = Array.from(
    { length: 40 },
    (_, n) =>
      `The meter in the long corridor showed exactly ${n} units of heat at noon on that day.`,
  ).join(' ');
  assert.is(extractNarrative(numbers.repeat(1), asking('')), undefined);
});

test.run();
