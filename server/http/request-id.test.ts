import { randomBytes } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRequestIds } from './request-id.ts';

test('ids sort by time, are random, and can be typed as an argument', () => {
  let nowMs = Date.UTC(2026, 10, 21);
  const newId = createRequestIds({ wallMs: () => (nowMs += 0.75), randomBytes });
  const ids = Array.from({ length: 1000 }, newId);
  const times = ids.map((id) => id.slice(0, 12));
  assert.equal(times, times.toSorted());
  assert.is(new Set(ids.map((id) => id.slice(12))).size, ids.length);
  for (const id of ids) assert.match(id, /^req_[a-z0-9]{8}[A-Za-z0-9]{16}$/);
});

test.run();
