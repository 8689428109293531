/** `svc limits` without a running proxy: it shows what the last one knew. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/clock.ts';
import { inPlace, run } from '../../fixtures/cli/run.ts';
import { LIMITS_FILE, openPlanLimits } from '../../stages/limits/limits-file.ts';

test('shows the state of the last proxy, with a note that none is running', () =>
  inPlace(async (place) => {
    mkdirSync(place.home, { mode: 0o700 });
    const known = await openPlanLimits({
      file: join(place.home, LIMITS_FILE),
      clock: systemClock,
      onProblem: (thrown) => assert.unreachable(String(thrown)),
    });
    const key = { provider: 'messages', label: 'mine', sent: [], request: 'r' };
    known.planLimits.note(key, ['anthropic-ratelimit-unified-5h-utilization', '0.42']);
    await known.flush();
    const shown = await run(place, ['limits']);
    assert.is(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /messages +mine +5h +42%/);
    assert.match(shown.stderr, 'svc is not running');
    const { limits } = JSON.parse((await run(place, ['limits', '--json'])).stdout);
    assert.is(limits[0].used, 0.42);
  }));

test('a damaged file is named, and left for the proxy to move aside', () =>
  inPlace(async (place) => {
    mkdirSync(place.home, { mode: 0o700 });
    const file = join(place.home, LIMITS_FILE);
    writeFileSync(file, '{"format":1,"windo');
    const shown = await run(place, ['limits']);
    assert.not.equal(shown.code, 0);
    assert.match(shown.stderr, `${file} cannot be read: `);
    assert.match(shown.stderr, 'moves it aside');
    assert.is(readFileSync(file, 'utf8'), '{"format":1,"windo');
  }));

test('without any earlier proxy the state is unknown', () =>
  inPlace(async (place) => {
    const shown = await run(place, ['limits']);
    assert.is(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, 'No provider has reported a limit yet.');
  }));

test.run();
