/**
 * A proxy in its own process: killed under load it loses no acknowledged row, and a client that
 * stops reading costs it little memory. `SVC_KILL_ROUNDS` sets the rounds of the first test (3).
 * `npm run bench:limits` enforces the promised time and memory; the bounds here are ten times
 * larger.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { closeClients } from '../../../fixtures/server/exchange.ts';
import { killProxyRounds } from '../../../fixtures/server/kill-proxy.ts';
import { heldByStalledStreams } from '../../../fixtures/server/stalled-streams.ts';
import { startUpstream } from '../../../fixtures/upstream.ts';

const ROUNDS = Number(process.env['SVC_KILL_ROUNDS'] ?? 3);
const ACKNOWLEDGED_MS = 1000;
/**
 * Without backpressure a stream would buffer as much as the upstream sends: some 100 MB a second.
 */
const HELD_KIB = 2560;

test(`${ROUNDS} kills under load lose, repeat or invent no acknowledged row`, async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-process-'));
  const upstream = await startUpstream();
  try {
    const { acknowledged, lost } = await killProxyRounds({
      rounds: ROUNDS,
      home,
      upstreamUrl: upstream.url,
      acknowledgedMs: ACKNOWLEDGED_MS,
    });
    process.stdout.write(`  ${ROUNDS} kills, ${acknowledged} acknowledged rows kept\n`);
    assert.equal(lost, [], 'acknowledged rows were lost');
    assert.ok(acknowledged > ROUNDS * 10, `${acknowledged} acknowledged`);
  } finally {
    await upstream.close();
    rmSync(home, { recursive: true, force: true });
  }
});

test('a stream whose client does not read uses little memory', async () => {
  const { buffersKiB, text } = await heldByStalledStreams();
  process.stdout.write(`  ${text}\n`);
  assert.ok(buffersKiB <= HELD_KIB, text);
});

test.after(closeClients);
test.run();
