import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryOf, packJob, unpackJob } from './parcel.ts';
import type { CaptureJob } from './parcel.ts';
import { createSharedMemory } from './shared-memory.ts';

const bytes = (text: string) => Buffer.from(text);
const timed = (text: string) => ({ bytes: bytes(text), sizes: [text.length], atMs: [1.5] });

/** A job whose request and attempt share one body. */
function jobOf(body: Buffer): CaptureJob {
  return {
    record: {
      id: 'r1',
      startedMs: 1764400000000.25,
      request: { method: 'POST', target: '/v1', headers: ['A', 'é'], body, untouchable: null },
      attempts: [
        {
          attempt: 0,
          provider: 'p',
          startedMs: 0.5,
          origin: 'o',
          path: '/v1',
          method: 'POST',
          headers: [],
          body,
          response: null,
          failure: { kind: 'k', code: null, message: 'm' },
        },
      ],
      answer: { head: null, body: timed('answer'), end: 'failed', endMs: 2, failure: null },
      row: {
        outcome: 'error',
        provider: 'p',
        model: null,
        status: 500,
        stream: false,
        mode: null,
        cacheHit: false,
        inputTokensSent: null,
        savedTokens: null,
        outputTokens: null,
        cacheReadTokens: null,
        cacheWriteTokens: null,
        costNanoUsd: null,
        latencyMs: 1.25,
        client: null,
        sessionId: null,
      },
    },
    secrets: { known: ['s+'] },
    limits: { maxBytes: 1, retentionMs: 2 },
  };
}

test('a job survives packing, with its bodies in shared memory', () => {
  const lease = createSharedMemory().lease();
  const job = jobOf(bytes('{"a": 1}'));
  const parcel = packJob(job, lease.copy);
  for (const part of [parcel.packed, ...parcel.bodies])
    assert.instance(part.buffer, SharedArrayBuffer);
  assert.is(parcel.bodies.length, 2, 'the body that was sent unchanged, and the answer');
  const { record, ...rest } = unpackJob(parcel);
  assert.equal(rest, { secrets: job.secrets, limits: job.limits });
  assert.equal(
    { ...record, request: 0, attempts: 0, answer: 0 },
    { ...job.record, request: 0, attempts: 0, answer: 0 },
  );
  assert.equal({ ...record.request, body: 0 }, { ...job.record.request, body: 0 });
  for (const body of [record.request.body, record.attempts[0]!.body!])
    assert.is(Buffer.from(body).toString(), '{"a": 1}');
  assert.is(Buffer.from(record.answer.body.bytes).toString(), 'answer');
  assert.equal(record.answer.body.atMs, [1.5]);
});

test('an empty body stays an empty body', () => {
  const parcel = packJob(jobOf(bytes('')), createSharedMemory().lease().copy);
  assert.is(unpackJob(parcel).record.request.body.length, 0);
});

test('its memory counts each body once, and something for itself', () => {
  const { copy } = createSharedMemory().lease();
  const [small, large] = [10, 100_010].map((size) =>
    memoryOf(packJob(jobOf(Buffer.alloc(size)), copy)),
  );
  assert.is(large! - small!, 100_000);
  assert.ok(small! > 1000);
});

test.run();
