import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { deferVault } from './deferred.ts';
import { inPlace } from '../../fixtures/vault/place.ts';

test('reports a large index as not ready until it is loaded, but waits for a small one', async () => {
  await inPlace(async (place) => {
    place.write('small.md', 'The flumbrick gate opens.\n');
    await place.index();
    const small = deferVault({ ...place.base(), backend: 'json_blocks' });
    assert.ok(small.mayHaveBlocks());
    assert.ok(small.isReady());
    await small.ingest(
      Array.from({ length: 100 }, (_, n) => ({ content: `part ${n}\n${'lamp '.repeat(10_000)}` })),
    );
    await small.close();
    for (const backend of ['json_blocks', 'sqlite'] as const) {
      const vault = deferVault({ ...place.base(), backend });
      assert.ok(vault.mayHaveBlocks());
      assert.is(vault.isReady(), backend === 'sqlite');
      assert.is((await vault.status()).blocks, 101);
      assert.ok(vault.isReady());
      await vault.close();
    }
  });
});

test.run();
