import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createColors } from './colors.ts';
import { statusLines } from './status.ts';
import type { Json } from '../remote.ts';
import type { Status } from './status.ts';
import { uncompressedOf } from './uncompressed.ts';

/** The state of a running proxy that has served some requests. */
const RUNNING: Status = {
  running: true,
  pid: 1,
  background: true,
  home: '/home',
  url: 'http://127.0.0.1:8766',
  ws_url: null,
  paused: false,
  log_level: 'info',
  active_requests: 0,
  health: null,
  recent: [],
  retries: [],
  not_compressed: [],
};

function costLine(stats: Record<string, unknown>): string | undefined {
  const health = { status: 'ok', stats: { requests: 3, ...stats } };
  const lines = statusLines({ ...RUNNING, health }, createColors(false));
  return lines.find((line) => line.trimStart().startsWith('Cost'))?.trim();
}

test('an unknown cost is not shown as zero', () => {
  assert.is(costLine({ cost: 0.5, unpriced: 0 }), 'Cost          $0.5000');
  assert.match(
    costLine({ cost: null, unpriced: 3 }) ?? '',
    /unknown: 3 requests without a .*price/,
  );
  assert.match(costLine({ cost: 0.5, unpriced: 1 }) ?? '', /\$0\.5000, and 1 request without a/);
});

test('shows why nothing was saved, the most frequent reasons first', () => {
  const trace = (because?: string): Json => ({
    stages: [{ name: 'parse' }, { name: 'compaction', not_compressed_because: because }],
  });
  const traces = [trace('b'), trace(), trace('a'), trace('c'), trace('a'), trace('d'), {}];
  const reasons = uncompressedOf(traces);
  assert.equal(reasons[0], { because: 'a', requests: 2 });
  assert.is(reasons.length, 4);
  const lines = statusLines({ ...RUNNING, not_compressed: reasons }, createColors(false));
  const at = lines.findIndex((line) => line.trim().startsWith('Not compressed'));
  assert.match(lines[at] ?? '', /2 requests: a$/);
  assert.match(lines[at + 2] ?? '', /1 request: c$/);
  assert.not.match(lines.join(), /: d/);
});

test('says when requests wait for a thread', () => {
  const lineOf = (waiting: number) => {
    const threads = { most: 2, running: 2, at_work: 2, jobs_waiting: waiting };
    const health = { status: 'ok', compression_threads: threads };
    const lines = statusLines({ ...RUNNING, health }, createColors(false));
    return lines.find((line) => line.trim().startsWith('Compressing'))?.trim();
  };
  assert.is(lineOf(0), undefined);
  assert.match(lineOf(1) ?? '', /1 request waits for 2 threads; compression\.workers allows more$/);
  assert.match(lineOf(7) ?? '', /7 requests wait for 2 threads;/);
});

test.run();
