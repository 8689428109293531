/**
 * `svc spend status` right after a start: earlier spending is included from the first moment on.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPlace, run, start } from '../../fixtures/cli/run.ts';
import { openIn, rowOf } from '../../fixtures/ledger/temp-ledger.ts';

test('earlier spending is included in the first response after a start', () =>
  inPlace(async (place) => {
    mkdirSync(place.home, { mode: 0o700 });
    const yaml = 'server: { port: 0, ws_port: 0 }\nbudget: { enabled: true, per_day_usd: 10 }\n';
    writeFileSync(join(place.home, 'config.yaml'), yaml, { mode: 0o600 });
    const { writer } = openIn(place.folder, { file: join(place.home, 'monitor.db') });
    const startedMs = Date.now();
    for (let n = 0; n < 2000; n += 1)
      writer.record(rowOf(n, { startedMs, costNanoUsd: 1_000_000 }));
    await writer.close();
    const proxy = start(place, ['serve']);
    try {
      await proxy.prints(/http:\/\/127\.0\.0\.1:\d+/);
      const { code, stdout, stderr } = await run(place, ['spend', 'status', '--json']);
      assert.is(code, 0, stderr);
      const { spent_usd: spent, left_percent: left } = JSON.parse(stdout) as Record<string, number>;
      // At midnight a new day starts at 0.
      if (new Date().getUTCDate() === new Date(startedMs).getUTCDate())
        assert.equal([spent, left], [2, 80]);
    } finally {
      proxy.child.kill('SIGTERM');
      await proxy.ended;
    }
  }));

test('without limits it says since when the day and the month are counted', () =>
  inPlace(async (place) => {
    mkdirSync(place.home, { mode: 0o700 });
    const yaml = 'server: { port: 0, ws_port: 0 }\n';
    writeFileSync(join(place.home, 'config.yaml'), yaml, { mode: 0o600 });
    const proxy = start(place, ['serve']);
    try {
      await proxy.prints(/http:\/\/127\.0\.0\.1:\d+/);
      const { stdout } = await run(place, ['spend', 'status']);
      for (const period of ['today', 'month'])
        assert.match(stdout, new RegExp(`${period} .* UTC, since the proxy started\\)`));
    } finally {
      proxy.child.kill('SIGTERM');
      await proxy.ended;
    }
  }));

test.run();
