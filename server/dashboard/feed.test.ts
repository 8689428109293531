/** The event feed of open dashboards, including a reader that is too slow. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/index.ts';
import { Feed } from './feed.ts';
import { createLiveRequests } from './live-rows.ts';

const CHECK_MS = 6000;

test('a slow reader is disconnected, and nothing more is buffered for it', async () => {
  const clock = createManualClock();
  const listeners = new Set<(line: string) => void>();
  const feed = new Feed({
    clock,
    live: createLiveRequests(),
    log: {
      watch(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    state: async () => '{}',
  });
  const slow = feed.open(true, () => true);
  const other = feed.open(true, () => true);
  assert.is(listeners.size, 2);
  const reader = other.getReader();
  for (let checks = 0; checks < 100 && listeners.size > 1; checks += 1) {
    clock.advance(CHECK_MS);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    await reader.read();
  }
  assert.is(listeners.size, 1, 'the log is watched only for the other viewer');
  const texts: string[] = [];
  const decoder = new TextDecoder();
  for await (const bytes of slow) texts.push(decoder.decode(bytes));
  assert.ok(texts.length > 10, 'queued events are still sent before the end');
  await reader.cancel();
  assert.is(listeners.size, 0);
});

test.run();
