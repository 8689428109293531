import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { extractNarrative } from './extract.ts';
import { contextFor } from '../testing.ts';

const CONTEXT = contextFor('narrative');

const FILLER = Array.from(
  { length: 60 },
  (_, n) => `On the evening of day ${n} the ferry left the old harbour with few people on board.`,
).join(' ');

/** How often `sentence` stands in what goes out for both, between other prose. */
function kept(first: string, second: string): boolean {
  const text = `${FILLER} ${first} ${second} ${FILLER.replaceAll('evening', 'morning')}`;
  const out = extractNarrative(text, CONTEXT)?.text ?? text;
  assert.ok(out.includes(first), first);
  return out.includes(second);
}

const LONG =
  'for all accounts of the northern branch while the move from the old cluster to the new one is going on in autumn';

test('sentences that differ in any word stay, however long and alike they are', () => {
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
  for (const [first, second] of pairs) assert.ok(kept(first, second), second);
});

test('the same words with other white space or punctuation are a copy', () => {
  const first = `The export, as agreed, stays "enabled" ${LONG}.`;
  for (const second of [
    `The export as agreed stays enabled ${LONG}!`,
    `The export, as agreed, stays “enabled” ${LONG}.`,
    `The export  as agreed (stays enabled ${LONG}).`,
  ])
    assert.not(kept(first, second), second);
});

test.run();
