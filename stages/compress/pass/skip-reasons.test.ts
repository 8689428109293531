/** A request that was not made smaller states the reason. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { BodyFrame } from '../../model/body.ts';
import type { CompressConfig } from '../settings.ts';
import { createBench, posted } from '../../../fixtures/compress/stage.ts';
import { reasonForNoChange } from './skip-reasons.ts';

const line = 'Plain words that somebody wrote, none of them twice in the same order. ';
const result = (content: string, is_error = false): object => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 't', content, is_error }],
});

interface Case {
  readonly why: RegExp;
  readonly messages?: readonly object[];
  readonly target?: string;
  readonly headers?: readonly string[];
  readonly more?: Partial<BodyFrame>;
  readonly settings?: Partial<CompressConfig>;
}

const CASES: readonly Case[] = [
  { why: /subscription token/, more: { untouchable: 'subscription' } },
  { why: /X-Svc-Bypass/, more: { untouchable: 'bypass' } },
  { why: /paused/, more: { untouchable: 'paused' } },
  { why: /enabled is false/, settings: { enabled: false } },
  { why: /the mode is strict/, headers: ['x-svc-mode', 'strict'] },
  { why: /below compression.threshold_tokens \(9000\)/, settings: { thresholdTokens: 9000 } },
  {
    why: /below compression.threshold_tokens \(5000\)/,
    messages: [result(line.repeat(40))],
    settings: { thresholdTokens: 5000 },
  },
  { why: /neither tool results nor pasted text/, messages: [{ role: 'user', content: line }] },
  { why: /errors, kept whole/, messages: [result(line.repeat(9), true)] },
  { why: /nothing repeats/, messages: [result(line.repeat(9))] },
];

for (const { why, messages = [result(line)], headers = [], more, settings } of CASES) {
  test(`not compressed: ${why.source}`, async () => {
    const bench = await createBench();
    try {
      const body = { model: 'm', max_tokens: 10, system: line.repeat(9), messages };
      const request = posted('/v1/messages', Buffer.from(JSON.stringify(body)), headers, more);
      await bench.send(request, settings);
      assert.match(String(bench.notes.get('not_compressed_because')), why);
      const [before, after] = ['tokens_before', 'tokens_after'].map((name) =>
        bench.notes.get(name),
      );
      assert.type(before, 'number');
      assert.ok(Number(before) > 0);
      assert.is(after, before);
    } finally {
      await bench.close();
    }
  });
}

test('gives no reason for endpoints that run no model', async () => {
  const bench = await createBench();
  try {
    await bench.send(posted('/v1/embeddings', Buffer.from('{"input":"hello"}')));
    assert.is(bench.notes.has('not_compressed_because'), false);
    assert.is(bench.notes.get('tokens_before'), null, 'nothing was estimated');
    assert.is(bench.notes.get('tokens_after'), null);
  } finally {
    await bench.close();
  }
});

test('prefers the reason of a block that was tried to the reason of one that was not', () => {
  const mostCommon = (...reasons: string[]): string =>
    reasonForNoChange(
      reasons.map((reason) => ({ reason })),
      { thresholdTokens: 7 },
    );
  assert.match(mostCommon('kind', 'below-threshold', 'no-gain'), /repeats/);
  assert.match(mostCommon('kind', 'below-threshold', 'error_result'), /errors/);
  assert.match(mostCommon('kind', 'below-threshold'), /\(7\)/);
  assert.match(mostCommon('marked'), /already/);
  assert.match(mostCommon('kind', 'no-gain', 'timed-out'), /took too long when it was sent before/);
  assert.match(mostCommon('kind', 'undecided'), /could not be parsed/);
  assert.match(mostCommon(), /neither/);
});

test.run();
