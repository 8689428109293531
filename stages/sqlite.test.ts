import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Worker } from 'node:worker_threads';
import { Database, release } from './sqlite.ts';

test('loads the release that this Node can use', () => {
  assert.is(release, Number(process.versions.napi) < 10 ? 12 : 13);
  const database = new Database(':memory:');
  assert.is(database.prepare('select 1').pluck().get(), 1);
  database.close();
});

test('a thread with open statements may end at any time', async () => {
  const module = JSON.stringify(new URL('./sqlite.js', import.meta.url).href);
  const source = `
    import(${module}).then(({ Database }) => {
      const database = new Database(':memory:');
      for (let count = 0; count < 2000; count += 1) database.prepare('select ' + count).get();
      process.exit(7);
    });`;
  const worker = new Worker(source, { eval: true });
  const code = await new Promise((resolve, reject) => {
    worker.once('exit', resolve);
    worker.once('error', reject);
  });
  assert.is(code, 7);
});

test.run();
