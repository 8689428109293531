/**
 * How often the vault returns results for an unanswerable question, and none for an answerable one.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/clock.ts';
import {
  COLLECTIONS,
  makeCollection,
  questionsFor,
  removeCollection,
  unseenFor,
} from '../../../fixtures/injection.ts';
import type { CollectionName, LabelledQuestion } from '../../../fixtures/injection.ts';
import { indexFolder } from '../indexing/indexer.ts';
import { openVault } from '../vault.ts';
import type { OpenedVault } from '../contract.ts';
import { inPlace } from '../../../fixtures/vault/place.ts';

const base = { clock: systemClock, newId: randomUUID };
/** The proxy's query, with default settings. */
const OPTIONS = { top: 5, minScore: 2, about: true, distinct: true };

async function withCollection(
  name: CollectionName,
  use: (vault: OpenedVault) => Promise<void>,
): Promise<void> {
  const root = makeCollection(name);
  const indexDir = mkdtempSync(join(tmpdir(), 'svc-relevance-'));
  const vault = openVault({ ...base, indexDir, backend: 'json_blocks' });
  try {
    await indexFolder({ ...base, root, indexDir, workers: 2 });
    await use(vault);
  } finally {
    await vault.close();
    rmSync(indexDir, { recursive: true });
    removeCollection(root);
  }
}

/** Returns `right` if the file with the answer was found, `silent` if nothing was, else `wrong`. */
async function verdictOf(vault: OpenedVault, { text, answeredIn }: LabelledQuestion) {
  const hits = await vault.search(text, OPTIONS);
  if (answeredIn.length === 0) return hits.length === 0 ? 'right' : 'wrong';
  if (hits.length === 0) return 'silent';
  const isRight = hits.some(({ sourcePath }) =>
    answeredIn.some((path) => sourcePath.includes(path)),
  );
  return isRight ? 'right' : 'wrong';
}

type Judged = LabelledQuestion & { readonly verdict: string };
const known: Judged[] = [];
const unseen: Judged[] = [];

for (const name of COLLECTIONS) {
  test(`gives a verdict on every question about the collection ${name}`, async () => {
    await withCollection(name, async (vault) => {
      const judged = async (questions: readonly LabelledQuestion[], into: Judged[]) => {
        for (const each of questions) into.push({ ...each, verdict: await verdictOf(vault, each) });
      };
      await judged(questionsFor(name), known);
      await judged(unseenFor(name), unseen);
    });
  });
}

function assertMostlyRight(judged: readonly Judged[]): void {
  const unanswered = judged.filter(({ answeredIn }) => answeredIn.length === 0);
  const answered = judged.filter(({ answeredIn }) => answeredIn.length > 0);
  assert.ok(answered.length > 0);
  assert.is(unanswered.length, answered.length);
  const wrong = unanswered.filter(({ verdict }) => verdict === 'wrong');
  const missed = answered.filter(({ verdict }) => verdict !== 'right');
  const texts = (some: readonly LabelledQuestion[]) => some.map(({ text }) => text).join('\n');
  assert.ok(wrong.length <= 0.05 * unanswered.length, `wrong:\n${texts(wrong)}`);
  assert.ok(missed.length <= 0.15 * answered.length, `missed:\n${texts(missed)}`);
}

test('is at most 5 % wrong and misses at most 15 % of the questions used for tuning', () => {
  assertMostlyRight(known.filter(({ isHeldOut }) => !isHeldOut));
});

test('is at most 5 % wrong and misses at most 15 % of the held-out questions', () => {
  assertMostlyRight(known.filter(({ isHeldOut }) => isHeldOut));
});

test('is at most 5 % wrong and misses at most 15 % of the questions in unseen collections', () => {
  assertMostlyRight(unseen);
});

/** Returns the paths found for `query` in files with these texts. */
async function pathsFound(
  files: Readonly<Record<string, string>>,
  query: string,
): Promise<string[]> {
  let paths: string[] = [];
  await inPlace(async (place) => {
    for (const [path, text] of Object.entries(files)) place.write(path, text);
    await place.index();
    const vault = openVault({ ...base, indexDir: place.indexDir, backend: 'json_blocks' });
    paths = (await vault.search(query, OPTIONS)).map(({ sourcePath }) => sourcePath);
    await vault.close();
  });
  return paths;
}

const NOTES = {
  'gate.md': 'The flumbrick gate opens when the quorble lever is pulled twice.\n',
  'time.md': 'What time the store opens is written in notes of the owner, in a txt file.\n',
  'lamp.md': 'The lamp burns brightest with `maxWickLength` set to nine.\n',
};

test('finds nothing for a single common word, or for one word of several', async () => {
  assert.equal(await pathsFound(NOTES, 'What time is it?'), []);
  assert.equal(await pathsFound(NOTES, 'Read notes.txt'), []);
  assert.equal(await pathsFound(NOTES, 'How do I bake bread in a flumbrick oven with rye?'), []);
});

test('ignores a number that occurs nowhere, and function words', async () => {
  const login = { ...NOTES, 'login.md': 'After a login the lamp greets.\n' };
  assert.equal(await pathsFound(login, 'The page shows a 404 after login, why?'), []);
  assert.equal(await pathsFound(NOTES, 'When does the flumbrick gate open? (103)'), ['gate.md']);
});

test('takes a question word for a name if it is capitalised inside a sentence', async () => {
  const files = { ...NOTES, 'waste.md': 'Garbage collection is done at dawn.\n' };
  const collected = 'How does garbage collection happen';
  assert.equal(await pathsFound(files, `${collected} as I go about?`), ['waste.md']);
  assert.equal(await pathsFound(files, `${collected} in Go?`), []);
  assert.equal(await pathsFound(files, 'How To Go About Garbage Collection'), ['waste.md']);
});

test('finds a block by a path or an identifier alone', async () => {
  assert.equal(await pathsFound(NOTES, 'explain maxWickLength'), ['lamp.md']);
  assert.equal(await pathsFound({ ...NOTES, 'etc/oven.md': 'Hot.\n' }, 'what is in etc/oven.md'), [
    'etc/oven.md',
  ]);
});

test('finds a file by its name or folder, unless that is an everyday word', async () => {
  const files = {
    ...NOTES,
    'login.md': 'After a login the lamp greets.\n',
    'drift-guard.md': 'It closes the sluice at dusk.\n',
    'tools/zindle/usage.md': 'Hold it upright.\n',
  };
  assert.equal(await pathsFound(files, 'drift-guard on rainy Sundays'), ['drift-guard.md']);
  assert.equal(await pathsFound(files, 'Does the drift guard rust?'), ['drift-guard.md']);
  assert.equal(await pathsFound(files, 'how do I sharpen a zindle'), ['tools/zindle/usage.md']);
  assert.equal(await pathsFound(files, 'Zindle ointment for knees, elbows, shoulders'), []);
  assert.equal(await pathsFound(files, 'The page shows a 404 after login, why?'), []);
});

test('matches the name of a file, not another word with the same stem', async () => {
  const files = { ...NOTES, 'commander/a.md': 'Salutes.\n' };
  assert.equal(await pathsFound(files, 'which commands run at noon in spring'), []);
  assert.equal(await pathsFound(files, 'what does commander do at noon'), ['commander/a.md']);
});

test('finds abbreviations, other spellings, typing errors and inflected forms', async () => {
  const files = {
    ...NOTES,
    'paint.md': 'Colors of the hull are normalized by the varnisher before the children board.\n',
  };
  for (const query of [
    "What are the hull's colours?",
    'when are hull colours normalised',
    'who normalizes the hlul colors, the varnihser?',
    "which child doesn't board the hull",
  ]) {
    assert.equal(await pathsFound(files, query), ['paint.md'], query);
  }
});

test('finds nothing if the question contains a proper name that occurs nowhere', async () => {
  const files = { ...NOTES, 'pump.md': 'The valve and the piston are oiled weekly.\n' };
  assert.equal(await pathsFound(files, 'When are the valve and the piston oiled?'), ['pump.md']);
  assert.equal(await pathsFound(files, 'When is a valve oiled in a Wankel?'), []);
});

test('finds a word that every block contains if it is the whole question', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 8 }, (_, n) => [`${n}.md`, `The flumbrick gate, part ${n}.\n`]),
  );
  assert.is((await pathsFound(files, 'Where is the flumbrick gate?')).length, 5);
  assert.equal(await pathsFound(files, 'Where is the lever of the gate of Vienna?'), []);
});

test.run();
