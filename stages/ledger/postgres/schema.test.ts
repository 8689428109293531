/** What can be tested of the Postgres ledger without a server. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ledgerRow } from '../row.ts';
import { rowsStored, lastDayReport } from '../queries.ts';
import { rangeReport } from '../range-report.ts';
import { CELLS, ledgerColumns, pushCells } from '../tables.ts';
import { migrations } from '../migrations.ts';
import type { Cell } from '../tables.ts';
import { openPostgresReader } from './reader.ts';
import { STORE_ROWS, toColumns, toPostgres } from './schema.ts';
import { describeError, isContentFault, isOfConnection, readError } from './query-errors.ts';

const SQLITE_ONLY =
  /\bSTRICT\b|TRIGGER|\bREAL\b|\bINTEGER\b|\bchar\(|\bsummed\b|AUTOINCREMENT|\bWITHOUT\b/;

test('no step uses syntax that only SQLite knows, and every text is compared by bytes', () => {
  for (const [number, step] of migrations.entries())
    for (const sql of toPostgres(step)) {
      assert.not.match(sql, SQLITE_ONLY, `step ${number + 1}`);
      assert.not.match(sql, /\bTEXT\b(?! COLLATE "C")/, `step ${number + 1}`);
    }
});

test('every column of a row is created with the type it is stored as', () => {
  const made = new Map<string, string>();
  const steps = migrations.flatMap((step) => [...toPostgres(step)]);
  for (const sql of steps.filter((one) => /^(?:CREATE TABLE|ALTER TABLE) requests/.test(one)))
    for (const [, name = '', type = ''] of sql.matchAll(/(\w+) (BIGINT|DOUBLE PRECISION|TEXT)\b/g))
      made.set(name, type);
  const casts = [...STORE_ROWS.matchAll(/::([a-z ]+)\[\]/g)].map(([, type = '']) => type);
  assert.equal([casts.length, casts.at(-1)], [CELLS, 'text']);
  for (const [at, column] of ledgerColumns.entries())
    assert.is(made.get(column)?.toLowerCase(), casts[at], column);
});

test('a batch becomes one list per column, without characters that Postgres cannot hold', () => {
  const cells: Cell[] = [];
  for (const id of ['a', 'b\0c'])
    pushCells(
      cells,
      ledgerRow({ id, startedMs: 1, endpoint: '/', outcome: 'ok', latencyMs: Number.NaN }),
    );
  const columns = toColumns(cells);
  assert.is(columns.length, CELLS);
  assert.equal(columns[0], ['a', 'b\u{fffd}c']);
  assert.equal(columns[ledgerColumns.indexOf('latency_ms')], [null, null]);
});

test('no query for Postgres uses syntax of SQLite', async () => {
  const messages: string[] = [];
  const reader = openPostgresReader('postgres://nowhere.invalid/x');
  const noted = reader.withPlugin({
    transformQuery({ node }) {
      messages.push(reader.getExecutor().compileQuery(node, { queryId: 'x' }).sql);
      throw new Error('noted');
    },
    transformResult: async ({ result }) => result,
  });
  for (const ask of [
    () => rangeReport(noted, { sinceMs: 0, model: 'x' }, 60_000),
    () => lastDayReport(noted, Date.now()),
    () => rowsStored(noted, { sinceMs: 0, id: 'x' }, 0, 1),
  ])
    await ask().then(
      () => assert.unreachable(),
      () => undefined,
    );
  await reader.destroy();
  assert.ok(messages.length > 2);
  for (const sql of messages) assert.not.match(sql, /instr\(|latencies_by_step|\?/);
});

const fault = (message: string, code?: string) => Object.assign(new Error(message), { code });

test('errors have a cure that fits the refusal, and never show the password', () => {
  const url = 'postgres://ada:se%2Fcret@db.example/svc';
  for (const [error, words, cure] of [
    [
      fault('password authentication failed', '28P01'),
      /failed \(28P01\)/,
      /Correct the user and password/,
    ],
    [fault('no database', '3D000'), /\(3D000\)/, /CREATE DATABASE/],
    [fault('connect ECONNREFUSED 10.0.0.1:5432', 'ECONNREFUSED'), /ECONNREFUSED/, /host and port/],
    [fault('getaddrinfo ENOTFOUND db.example', 'ENOTFOUND'), /ENOTFOUND/, /host and port/],
    [fault('The server does not support SSL connections'), /SSL/, /sslmode=disable/],
    [fault('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'), /certificate/, /sslrootcert/],
    [fault('timeout expired'), /timeout/, /host and port/],
    [fault('could not extend file', '53100'), /extend/, /disk space on the database server/],
    [
      new AggregateError(
        [fault('connect ECONNREFUSED ::1'), fault('connect ECONNREFUSED 127.0.0.1')],
        '',
      ),
      /::1, connect/,
      /log of the database server/,
    ],
    [
      fault('se/cret or se%2Fcret\nsecond line'),
      /^postgres:\/\/db\.example\/svc: … or …$/,
      /log of/,
    ],
  ] as const) {
    const text = describeError(error, url);
    assert.match(text.message, words);
    assert.match(text.cure, cure);
    const { message, kind, code } = readError(error, url);
    assert.not.match(message + text.message, /se\/cret|se%2Fcret|ada/);
    assert.equal([kind, code], ['unavailable', 'RESOURCE_002']);
  }
});

test('faults of a row are distinguished from faults of the server', () => {
  for (const code of ['22P02', '22003', '23502', '23514'])
    assert.ok(isContentFault(fault('', code)), code);
  for (const code of ['57P01', '08006', '53100', 'ECONNRESET', undefined])
    assert.not(isContentFault(fault('', code)), code);
  for (const code of ['57P01', '08006', '25006', 'ECONNRESET', 'EPIPE', undefined])
    assert.ok(isOfConnection(fault('', code)), code);
  assert.not(isOfConnection(fault('', '53100')));
});

test.run();
