import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createBench, posted, textOf } from '../fixtures/compress/stage.ts';
import { SERIAL, toolResults } from './tool-results.ts';
import { workloads } from './workloads.ts';

test('every tool result of the load is compressed afresh, whatever its serial number', async () => {
  const bench = await createBench();
  try {
    const { path, body } = toolResults(workloads[0]!);
    assert.ok(body.length > 100_000, String(body.length));
    const misses: number[] = [];
    for (const number of ['00000001', '10000000']) {
      const request = posted(path, Buffer.from(body.replaceAll(SERIAL, number)));
      const out = textOf(await bench.send(request, { thresholdTokens: 4500 }));
      assert.ok(out.length < body.length * 0.8, String(out.length / body.length));
      assert.is(bench.notes.get('where'), 'thread');
      const kinds = bench.originals.ofRequest('r1')?.map(({ kind }) => kind);
      assert.equal(kinds?.toSorted(), ['diff', 'grep', 'json', 'listing', 'log', 'trace']);
      misses.push(bench.compressor.figures().misses);
      assert.is(bench.compressor.figures().hits, 0);
    }
    assert.is(misses[1], 2 * misses[0]!);
  } finally {
    await bench.close();
  }
});

test.run();
