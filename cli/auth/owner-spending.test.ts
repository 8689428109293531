/**
 * `svc spend status --by`: spending of keys and projects today and this month, next to their
 * limits.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import { openIn } from '../../fixtures/ledger/temp-ledger.ts';
import { ledgerRow } from '../../stages/ledger/row.ts';
import { exitCodes } from '../exit.ts';

const NOW = Date.UTC(2026, 10, 20, 15, 30);
const DAY_MS = 86_400_000;
const clock = createManualClock(NOW);

const ROWS = [
  ['anna', 'shop', 0, 4.5],
  ['anna', 'web', 3, 10],
  ['ben', 'shop', 19, 2],
  ['ben', 'shop', 20, 100],
  [null, null, 0, 7],
] as const;

test('spend status lists the daily and monthly spending of each owner, with the limits', async () => {
  const place = makePlace();
  const { writer } = openIn(place.folder, { file: join(place.home, 'monitor.db') });
  for (const [at, [keyLabel, project, daysAgo, usd]] of ROWS.entries())
    writer.record(
      ledgerRow({
        id: `req_${at}`,
        startedMs: NOW - daysAgo * DAY_MS,
        endpoint: '/v1/messages',
        outcome: 'ok',
        keyLabel,
        project,
        costNanoUsd: usd * 1e9,
        inputTokensSent: 1,
      }),
    );
  await writer.close();
  writeFileSync(
    join(place.home, 'config.yaml'),
    'budget: { enabled: true, projects: { shop: { per_month_usd: 10 }, idle: { per_day_usd: 1 } } }\n',
    { mode: 0o600 },
  );
  const make = ['auth', '--generate', '--label', 'anna', '--per-day-usd', '5'];
  assert.is((await run(place, make, { clock })).code, 0);
  const status = async (by: string) => {
    const ran = await run(place, ['spend', 'status', '--by', by, '--json'], { clock });
    assert.is(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout) as { spending: Record<string, unknown>[] };
  };
  const none = { limit_usd: null, left_percent: null };
  assert.equal((await status('key')).spending, [
    {
      name: 'anna',
      day: { spent_usd: 4.5, limit_usd: 5, left_percent: 100 * (1 - 4.5 / 5) },
      month: { spent_usd: 14.5, ...none },
    },
    { name: 'ben', day: { spent_usd: 0, ...none }, month: { spent_usd: 2, ...none } },
  ]);
  const { spending } = await status('project');
  assert.equal(
    spending.map(({ name, month }) => [name, (month as { spent_usd: number }).spent_usd]),
    [
      ['web', 10],
      ['shop', 6.5],
      ['idle', 0],
    ],
  );
  const shown = await run(place, ['spend', 'status', '--by', 'key'], { clock });
  assert.match(shown.stdout, /anna +\$4\.50 +\$5\.00 +10% ! +\$14\.50 +none +–/);
  assert.is((await run(place, ['spend', 'status', '--by', 'mood'])).code, exitCodes.usage);
  place.dispose();
});

test.run();
