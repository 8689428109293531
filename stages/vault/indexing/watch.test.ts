import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/index.ts';
import type { Clock } from '../../../engine/index.ts';
import { openLock } from '../../lock.ts';
import { layoutOf } from '../log/layout.ts';
import { inPlace } from '../../../fixtures/vault/place.ts';
import type { Place } from '../../../fixtures/vault/place.ts';
import { pause, until as untilSo } from '../../../fixtures/wait.ts';
import { POLL_MS, QUIET_MS, watchFolder } from './watch.ts';

const until = (check: () => Promise<boolean>) => untilSo('a change is found', check);

/** What a watch has done so far, so that tests can wait until it has seen a change. */
class Progress {
  #looks = 0;
  #flushes = 0;
  #runs = 0;

  /** The real clock, which counts the watch's timers that have fired. */
  readonly clock: Clock = {
    ...systemClock,
    after: (delayMs, callback) =>
      systemClock.after(delayMs, () => {
        callback();
        if (delayMs === POLL_MS) this.#looks += 1;
        if (delayMs <= QUIET_MS) this.#flushes += 1;
      }),
  };
  readonly onIndexed = (): void => void (this.#runs += 1);

  /** Resolves after the next check whether the folder is still the same. */
  looked(): Promise<unknown> {
    const before = this.#looks;
    return untilSo('it looks at the folder', () => this.#looks > before);
  }

  /** Resolves after the next time it has handled noted changes. */
  acted(): Promise<unknown> {
    const before = this.#flushes;
    return untilSo('it acts on a change', () => this.#flushes > before);
  }

  /**
   * Makes `change`; resolves when a run that started with it or later has ended. No run may be
   * under way.
   */
  async indexed(change: () => void): Promise<void> {
    const before = this.#runs;
    change();
    await untilSo('it has indexed', () => this.#runs > before);
  }
}

/** Watches a folder with `files` while `use` checks how many blocks a word finds. */
function watching(
  files: Readonly<Record<string, string>>,
  use: (
    place: Place,
    found: (word: string) => Promise<number>,
    progress: Progress,
  ) => Promise<void>,
): () => Promise<void> {
  return () =>
    inPlace(async (place) => {
      for (const [path, text] of Object.entries(files)) place.write(path, text);
      const progress = new Progress();
      const watch = await watchFolder({
        ...place.base(),
        clock: progress.clock,
        onIndexed: progress.onIndexed,
        root: place.root,
        workers: 1,
        onError: () => undefined,
      });
      const vault = place.open();
      try {
        await use(place, async (word) => (await vault.search(word)).length, progress);
      } finally {
        await watch.close();
      }
    });
}

test(
  'finds created, changed and deleted files',
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
  'watches a folder that is no longer ignored',
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
  'watches a folder that replaces the watched one',
  watching({ 'a.md': 'alpha' }, async (place, found, progress) => {
    assert.is(await found('alpha'), 1);
    renameSync(place.root, join(place.top, 'old'));
    mkdirSync(place.root);
    place.write('b.md', 'bravo');
    await until(async () => (await found('bravo')) === 1 && (await found('alpha')) === 0);
    place.write('sub/b.md', 'charlie');
    await until(async () => (await found('charlie')) === 1);
    rmSync(place.root, { recursive: true });
    await progress.looked();
    mkdirSync(place.root);
    place.write('c.md', 'delta');
    await until(async () => (await found('delta')) === 1);
  }),
);

test(
  'watches a folder again that was deleted and recreated',
  watching({ 'a.md': 'alpha' }, async (place, found, progress) => {
    const away = join(place.top, 'away');
    renameSync(place.root, away);
    await progress.looked();
    // It is read completely once it is watched again; later changes are left to the watch.
    await progress.indexed(() => renameSync(away, place.root));
    place.write('b.md', 'bravo');
    await until(async () => (await found('bravo')) === 1 && (await found('alpha')) === 1);
  }),
);

test(
  'watches a folder again that was temporarily unreadable',
  watching({ 'in/a.md': 'alpha' }, async (place, found, progress) => {
    renameSync(place.root, join(place.top, 'old'));
    // A link to itself: its target neither exists nor is missing.
    symlinkSync('files', place.root);
    await progress.looked();
    rmSync(place.root);
    mkdirSync(place.root);
    place.write('b.md', 'bravo');
    await until(async () => (await found('bravo')) === 1);
  }),
);

test('can stop watching at any moment', () =>
  inPlace(async (place) => {
    place.write('.gitignore', 'out/\n');
    const progress = new Progress();
    const { clock } = progress;
    const watch = await watchFolder({ ...place.base(), clock, root: place.root, workers: 1 });
    const acted = progress.acted();
    place.write('.gitignore', '\n');
    await acted;
    await watch.close();
    place.write('a.md', 'alpha');
    // It is never found, however long the wait.
    await pause(150);
    assert.equal(await place.open().search('alpha'), []);
  }));

test('writes nothing for a change that arrives while watching stops', () =>
  inPlace(async (place) => {
    place.write('a.md', 'alpha');
    const progress = new Progress();
    const { clock } = progress;
    const watch = await watchFolder({ ...place.base(), clock, root: place.root, workers: 1 });
    const lock = openLock(layoutOf(place.indexDir).appendLock);
    const release = await lock.acquire();
    const acted = progress.acted();
    place.write('a.md', 'bravo');
    // Its run has started by then; it cannot write, and closing waits for it.
    await acted;
    const closed = watch.close();
    place.write('a.md', 'charlie');
    // A missing event cannot be observed, so this waits long enough for it to be noticed.
    await pause(40);
    release();
    lock.close();
    await closed;
    rmSync(place.indexDir, { recursive: true });
    // No index is created, however long the wait.
    await pause(300);
    assert.not(existsSync(place.indexDir));
  }));

test.run();
