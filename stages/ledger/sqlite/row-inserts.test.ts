import { Database } from '../../sqlite.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../migrations.ts';
import { ledgerRow } from '../row.ts';
import type { LedgerRow } from '../row.ts';
import { fromStored, ledgerColumns, pushCells } from '../tables.ts';
import type { Cell } from '../tables.ts';
import { rowInserts } from './row-inserts.ts';

const FIELDS = ['model', 'status', 'outputTokens', 'latencyMs', 'client', 'skill', 'node'] as const;

/** A row that has a value for every field whose bit is set. */
function rowOf(id: number, bits: number): LedgerRow {
  const isSet = (field: (typeof FIELDS)[number]) => ((bits >> FIELDS.indexOf(field)) & 1) === 1;
  return ledgerRow({
    id: `r${id}`,
    startedMs: id,
    endpoint: '/v1/messages',
    outcome: 'ok',
    model: isSet('model') ? `m${id}` : null,
    status: isSet('status') ? id : null,
    outputTokens: isSet('outputTokens') ? id : null,
    latencyMs: isSet('latencyMs') ? id / 3 : null,
    client: isSet('client') ? `c${id}` : null,
    skill: isSet('skill') ? `s${id}` : null,
    node: isSet('node') ? `n${id}` : null,
  });
}

/** Stores the batches one after the other, and returns the rows that the table then has. */
function stored(batches: readonly (readonly LedgerRow[])[]): readonly LedgerRow[] {
  const db = new Database(':memory:');
  try {
    for (const step of migrations) for (const sql of step) db.exec(sql);
    const insert = rowInserts(db);
    for (const rows of batches) {
      const cells: Cell[] = [];
      for (const row of rows) pushCells(cells, row);
      insert(cells);
    }
    const found = db.prepare(`SELECT ${ledgerColumns.join(', ')} FROM requests ORDER BY rowid`);
    const fields = Object.keys(rowOf(0, 0));
    return (found.raw().all() as Cell[][]).map((row) =>
      fromStored(Object.fromEntries(fields.map((field, index) => [field, row[index]])) as never),
    );
  } finally {
    db.close();
  }
}

test('rows with values in the same columns are stored in their order', () => {
  const rows = Array.from({ length: 23 }, (_, id) => rowOf(id, 0b1111));
  assert.equal(stored([rows]), rows);
});

test('rows with values in different columns are stored in their order', () => {
  const rows = Array.from({ length: 60 }, (_, id) => rowOf(id, (id * 7) % 5));
  assert.equal(stored([rows, []]), rows);
});

test('more different sets of columns than are remembered are stored as well', () => {
  const rows = Array.from({ length: 256 }, (_, id) => rowOf(id, id % 128));
  assert.equal(stored([rows.slice(0, 100), rows.slice(100)]), rows);
});

test('a row that exists is left alone, and the others of its batch are stored', () => {
  const [first, second, third] = [1, 2, 3].map((id) => rowOf(id, 1));
  const changed = { ...second!, model: 'other' };
  assert.equal(
    stored([
      [first!, second!],
      [changed, third!],
    ]),
    [first, second, third],
  );
});

test.run();
