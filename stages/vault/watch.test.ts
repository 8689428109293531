import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPlace } from './vault-place.ts';
import { watchFolder } from './watch.ts';

/** Waits until `check` is true, 5 s at most; resolves with how long that took, in milliseconds. */
async function until(check: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now();
  while (!(await check())) {
    if (performance.now() - startMs > 5_000) throw new Error('never');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return performance.now() - startMs;
}

test('a change is found within a second of being made', () =>
  inPlace(async (place) => {
    place.write('.gitignore', '*.tmp\n');
    place.write('a.md', 'alpha');
    const watch = await watchFolder({ ...place.base(), root: place.root, workers: 1 });
    const vault = place.open();
    const found = async (word: string): Promise<number> => (await vault.search(word)).length;
    try {
      assert.is(await found('alpha'), 1);
      place.write('sub/b.md', 'bravo');
      place.write('sub/c.tmp', 'bravo');
      await until(async () => (await found('bravo')) === 1);
      place.write('sub/b.md', 'charlie');
      const changedMs = await until(async () => (await found('charlie')) === 1);
      assert.ok(changedMs < 1_000, `${changedMs} ms`);
      assert.is(await found('bravo'), 0);
      rmSync(join(place.root, 'sub'), { recursive: true });
      await until(async () => (await found('charlie')) === 0);
    } finally {
      await watch.close();
    }
  }));
test('a folder that is no longer ignored is watched from then on', () =>
  inPlace(async (place) => {
    place.write('.gitignore', 'out/\n');
    place.write('out/a.md', 'alpha');
    const watch = await watchFolder({ ...place.base(), root: place.root, workers: 1 });
    const vault = place.open();
    const found = async (word: string): Promise<number> => (await vault.search(word)).length;
    try {
      assert.is(await found('alpha'), 0);
      place.write('.gitignore', '\n');
      await until(async () => (await found('alpha')) === 1);
      place.write('out/a.md', 'bravo');
      await until(async () => (await found('bravo')) === 1);
      place.write('.gitignore', 'out/\n');
      await until(async () => (await found('bravo')) === 0);
    } finally {
      await watch.close();
    }
  }));

test('a folder that takes the place of the watched one is watched', () =>
  inPlace(async (place) => {
    place.write('a.md', 'alpha');
    const onError = (): void => undefined;
    const watch = await watchFolder({ ...place.base(), root: place.root, workers: 1, onError });
    const vault = place.open();
    const found = async (word: string): Promise<number> => (await vault.search(word)).length;
    try {
      assert.is(await found('alpha'), 1);
      renameSync(place.root, join(place.top, 'old'));
      mkdirSync(place.root);
      place.write('b.md', 'bravo');
      await until(async () => (await found('bravo')) === 1 && (await found('alpha')) === 0);
      place.write('sub/b.md', 'charlie');
      await until(async () => (await found('charlie')) === 1);
      rmSync(place.root, { recursive: true });
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      mkdirSync(place.root);
      place.write('c.md', 'delta');
      await until(async () => (await found('delta')) === 1);
    } finally {
      await watch.close();
    }
  }));

test('watching can be ended at any moment', () =>
  inPlace(async (place) => {
    place.write('.gitignore', 'out/\n');
    const watch = await watchFolder({ ...place.base(), root: place.root, workers: 1 });
    place.write('.gitignore', '\n');
    await new Promise((resolve) => setTimeout(resolve, 85));
    await watch.close();
    place.write('a.md', 'alpha');
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert.equal(await place.open().search('alpha'), []);
  }));

test.run();
