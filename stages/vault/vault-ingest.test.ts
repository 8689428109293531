import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/error.ts';
import { checkVault } from './log/health.ts';
import { toIngestBlock, type IngestBlock } from './ingest.ts';
import { BACKENDS } from './backends/block-index.ts';
import { inPlace } from '../../fixtures/vault/place.ts';

test('makes an ingested block durable and searchable at once, and stores it once', () =>
  inPlace(async (place) => {
    for (const backend of BACKENDS) {
      const vault = place.open(backend);
      const block = toIngestBlock({
        block_id: `b-${backend}`,
        content: `gyroscope drift ${backend}`,
      });
      const [first] = await vault.ingest([block]);
      assert.ok(first?.ok === true && first.stored && first.tokens > 0);
      assert.is((await vault.search('gyroscopic'))[0]?.id.startsWith('b-'), true);
      const [again, clash, fresh] = await vault.ingest([
        block,
        { ...block, content: 'something else' },
        { content: `no id ${backend}`, riskClass: 'internal' },
      ]);
      assert.ok(again?.ok === true && !again.stored);
      assert.ok(clash?.ok === false && clash.error.kind === 'conflict');
      assert.ok(fresh?.ok === true && fresh.id.startsWith('ingest-'));
      const reopened = place.open(backend);
      assert.is((await reopened.search(backend, { includeUnsafe: true })).length, 2);
    }
    assert.is((await place.open().status()).blocks, 4);
  }));

test('accepts the same block with a stricter risk class, but not with a looser one', () =>
  inPlace(async (place) => {
    for (const backend of BACKENDS) {
      const vault = place.open(backend);
      const block = { id: `b-${backend}`, content: `gyroscope drift ${backend}` };
      const foundPaths = async () =>
        (await vault.search(backend)).map(({ sourcePath }) => sourcePath);
      const store = async (more: Partial<IngestBlock>): Promise<boolean> => {
        const [result] = await vault.ingest([{ ...block, ...more }]);
        assert.ok(result?.ok === true);
        return result.stored;
      };
      assert.is(await store({ sourcePath: 'notes/a' }), true);
      assert.is(await store({ sourcePath: 'notes/b' }), true);
      assert.equal(await foundPaths(), ['notes/b']);
      assert.is(await store({}), false);
      assert.equal(await foundPaths(), ['notes/b']);
      assert.is(await store({ riskClass: 'internal' }), true);
      assert.equal(await foundPaths(), []);
      assert.is(await store({ riskClass: 'safe' }), false);
      assert.equal(await foundPaths(), []);
      // Also within a single batch, and after the index was rebuilt from the log.
      const other = { id: `c-${backend}`, content: `gyroscope ${backend}` };
      const both = await vault.ingest([other, { ...other, riskClass: 'secret' }]);
      assert.equal(
        both.map((result) => result.ok && result.stored),
        [true, true],
      );
      for (const form of BACKENDS) assert.equal(await place.open(form).search(backend), []);
    }
    const { blocks } = await place.open().status();
    assert.is(blocks, 4);
  }));

test('reports a conflict if an ingested block has another risk class than the same block of a file', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    await place.index();
    const vault = place.open();
    const [hit] = await vault.search('zebra');
    const block = { id: hit!.id, content: hit!.content };
    const results = await vault.ingest([block, { ...block, riskClass: 'internal' }]);
    assert.equal(
      results.map((result) => (result.ok ? result.stored : result.error.kind)),
      [false, 'conflict'],
    );
  }));

test('neither loses nor duplicates blocks when two vaults ingest concurrently', () =>
  inPlace(async (place) => {
    const vaults = [place.open('json_blocks'), place.open('sqlite')];
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        vaults[at % 2]!.ingest([{ id: `id${at % 20}`, content: `text ${at % 20}` }]),
      ),
    );
    const stored = results.flat().filter((result) => result.ok && result.stored);
    assert.is(stored.length, 20);
    for (const vault of vaults) assert.is((await vault.status()).blocks, 20);
    assert.is((await checkVault(place.indexDir)).status, 'ok');
  }));

test('reports an invalid block with the specified error kind and code', () => {
  const faults: [unknown, string, string | undefined][] = [
    [{}, 'bad_request', 'VALIDATION_002'],
    [{ content: 5 }, 'bad_request', 'VALIDATION_003'],
    ['text', 'bad_request', 'VALIDATION_003'],
    [{ content: ' ' }, 'unprocessable', undefined],
    [{ content: 'x', block_id: 'a b' }, 'unprocessable', undefined],
    [{ content: 'x', source_path: 'a\nb' }, 'unprocessable', undefined],
    [{ content: 'x'.repeat(1_048_577) }, 'payload_too_large', undefined],
  ];
  for (const [value, kind, code] of faults) {
    try {
      toIngestBlock(value);
      assert.unreachable(JSON.stringify(value).slice(0, 50));
    } catch (error) {
      assert.ok(isSvcError(error));
      assert.equal([error.kind, error.code], [kind, code]);
    }
  }
});

test.run();
