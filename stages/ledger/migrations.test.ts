/**
 * Released schema steps never change, and a ledger of every released version migrates to the
 * current one.
 */
import { createHash } from 'node:crypto';
import { Database } from '../sqlite.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { folderForEach, rowOf } from '../../fixtures/ledger/temp-ledger.ts';
import { migrations } from './migrations.ts';
import { totalsBy, totalsOf } from './queries.ts';
import { openLedgerReader } from './sqlite/database.ts';
import { APPLICATION_ID } from './tables.ts';

const { open, at } = folderForEach(test);

/** One per released step, in order; a new step adds a line and changes none. */
const DIGESTS = [
  '78dd9f832b855b62',
  '1d30db59bdfd1000',
  'ef5494b00c884949',
  'd3ecb9af424ac1a6',
  'd4f46aed49b79513',
  '08a84e07974bf714',
  '2eaa43957422cc7d',
  '5077a366d3538b4d',
  '8a3a6994887bf32b',
  '0977765a17ed0305',
  '425ed4c9e366b3e3',
  'a38b5b29b329eca9',
  '5f0e602bdd09ebd4',
  '2f5d0e42e5c4623a',
  '08a94b1ad2414c1a',
  '970489c2976c203b',
  '5b006029d3230bd2',
];

test('no released step has been edited', () => {
  const digests = migrations.map((step) =>
    createHash('sha256').update(JSON.stringify(step)).digest('hex').slice(0, 16),
  );
  assert.equal(digests, DIGESTS);
});

const schemaOf = (file: string): unknown[] => {
  const db = new Database(file, { readonly: true });
  try {
    const tables = [
      'requests',
      'hours',
      'summed',
      'tool_days',
      'tool_set_days',
      'tool_sets',
      'proxy_keys',
    ].map((name) =>
      db
        .prepare('SELECT name, type, "notnull", pk FROM pragma_table_info(?) ORDER BY name')
        .all(name),
    );
    const indexes = db
      .prepare(`SELECT name, sql FROM sqlite_schema WHERE type <> 'table' ORDER BY name`)
      .all();
    return [...tables, ...indexes];
  } finally {
    db.close();
  }
};

for (let version = 1; version < migrations.length; version += 1)
  test(`a ledger of schema ${version} is migrated at a start and keeps its figures`, async () => {
    const file = at('old.db');
    const old = new Database(file);
    for (const step of migrations.slice(0, version)) for (const sql of step) old.exec(sql);
    old.exec(`INSERT INTO requests (id, started_ms, endpoint, stream, outcome, usage_estimated, attempts, cache_hit, cost_nano_usd)
      VALUES ('req_old', ${rowOf(1).startedMs}, '/v1/messages', 0, 'ok', 0, 1, 0, 700)`);
    old.pragma(`application_id = ${APPLICATION_ID}`);
    old.pragma(`user_version = ${version}`);
    old.close();
    const { writer, errors } = open({ file });
    writer.record(rowOf(2, { keyLabel: 'anna', project: 'shop' }));
    await writer.close();
    assert.equal(errors.map(String), []);
    const fresh = open({ file: at('fresh.db') });
    await fresh.writer.close();
    assert.equal(schemaOf(file), schemaOf(at('fresh.db')));
    const reader = openLedgerReader(file);
    const totals = await totalsOf(reader);
    assert.is(totals.requests, 2);
    assert.is(totals.costNanoUsd, 700 + (rowOf(2).costNanoUsd ?? 0));
    const byKey = await totalsBy(reader, 'keyLabel');
    assert.equal(
      byKey.map(({ key, requests }) => [key, requests]),
      [
        [null, 1],
        ['anna', 1],
      ],
    );
    await reader.destroy();
  });

test.run();
