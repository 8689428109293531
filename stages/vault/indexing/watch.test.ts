import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openLock } from '../../lock.ts';
import { layoutOf } from '../log/layout.ts';
import { inPlace } from '../../../fixtures/vault/place.ts';
import type { Place } from '../../../fixtures/vault/place.ts';
import { pause, until as untilSo } from '../../../fixtures/wait.ts';
import { watchFolder } from './watch.ts';

const until = (check: () => Promise<boolean>) => untilSo('a change is found', check);

/** Watches a folder with `files` in it while `use` looks at how many blocks a word finds. */
function watching(
  files: Readonly<Record<string, string>>,
  use: (place: Place, found: (word: string) => Promise<number>) => Promise<void>,
): () => Promise<void> {
  return () =>
    inPlace(async (place) => {
      for (const [path, text] of Object.entries(files)) place.write(path, text);
      const watch = await watchFolder({
        ...place.base(),
        root: place.root,
        workers: 1,
        onError: () => undefined,
      });
      const vault = place.open();
      try {
        await use(place, async (word) => (await vault.search(word)).length);
      } finally {
        await watch.close();
      }
    });
}

test(
  'a change is found',
  watching({ '.gitignore': '*.tmp\n', 'a.md': 'alpha' }, async (place, found) => {
    assert.is(await found('alpha'), 1);
    place.write('sub/b.md', 'bravo');
    place.write('sub/c.tmp', 'bravo');
    await until(async () => (await found('bravo')) === 1);
    place.write('sub/b.md', 'charlie');
    await until(async () => (await found('charlie')) === 1);
    assert.is(await found('bravo'), 0);
    rmSync(join(place.root, 'sub'), { recursive: true });
    await until(async () => (await found('charlie')) === 0);
  }),
);

test(
  'a folder that is no longer ignored is watched from then on',
  watching({ '.gitignore': 'out/\n', 'out/a.md': 'alpha' }, async (place, found) => {
    assert.is(await found('alpha'), 0);
    place.write('.gitignore', '\n');
    await until(async () => (await found('alpha')) === 1);
    place.write('out/a.md', 'bravo');
    await until(async () => (await found('bravo')) === 1);
    place.write('.gitignore', 'out/\n');
    await until(async () => (await found('bravo')) === 0);
  }),
);

test(
  'a folder that takes the place of the watched one is watched',
  watching({ 'a.md': 'alpha' }, async (place, found) => {
    assert.is(await found('alpha'), 1);
    renameSync(place.root, join(place.top, 'old'));
    mkdirSync(place.root);
    place.write('b.md', 'bravo');
    await until(async () => (await found('bravo')) === 1 && (await found('alpha')) === 0);
    place.write('sub/b.md', 'charlie');
    await until(async () => (await found('charlie')) === 1);
    rmSync(place.root, { recursive: true });
    await pause(1_200);
    mkdirSync(place.root);
    place.write('c.md', 'delta');
    await until(async () => (await found('delta')) === 1);
  }),
);

test(
  'a folder that was away is watched again, though it is the same one',
  watching({ 'a.md': 'alpha' }, async (place, found) => {
    const away = join(place.top, 'away');
    renameSync(place.root, away);
    await pause(1_200);
    renameSync(away, place.root);
    await pause(1_200);
    place.write('b.md', 'bravo');
    await until(async () => (await found('bravo')) === 1 && (await found('alpha')) === 1);
  }),
);

test(
  'a folder that cannot be seen for a while is watched again when it can',
  watching({ 'in/a.md': 'alpha' }, async (place, found) => {
    renameSync(place.root, join(place.top, 'old'));
    // A link to itself: what lies behind it is neither there nor not there.
    symlinkSync('files', place.root);
    await pause(1_200);
    rmSync(place.root);
    mkdirSync(place.root);
    place.write('b.md', 'bravo');
    await until(async () => (await found('bravo')) === 1);
  }),
);

test('watching can be ended at any moment', () =>
  inPlace(async (place) => {
    place.write('.gitignore', 'out/\n');
    const watch = await watchFolder({ ...place.base(), root: place.root, workers: 1 });
    place.write('.gitignore', '\n');
    await pause(85);
    await watch.close();
    place.write('a.md', 'alpha');
    await pause(150);
    assert.equal(await place.open().search('alpha'), []);
  }));

test('what changes while watching is being ended makes no index', () =>
  inPlace(async (place) => {
    place.write('a.md', 'alpha');
    const watch = await watchFolder({ ...place.base(), root: place.root, workers: 1 });
    const lock = openLock(layoutOf(place.indexDir).appendLock);
    const release = await lock.acquire();
    place.write('a.md', 'bravo');
    // Until its run has begun; it cannot write, and ending waits for it.
    await pause(400);
    const closed = watch.close();
    place.write('a.md', 'charlie');
    // Until that is noted, and not yet acted upon.
    await pause(40);
    release();
    lock.close();
    await closed;
    rmSync(place.indexDir, { recursive: true });
    await pause(300);
    assert.not(existsSync(place.indexDir));
  }));

test.run();
