/**
 * Writers of a ledger in a real Postgres: several at once, and a server that stops, refuses or is
 * not ours.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../../fixtures/cli/live.ts';
import { openIn, rowOf, stored } from '../../../fixtures/ledger/temp-ledger.ts';
import type { OpenLedger } from '../../../fixtures/ledger/temp-ledger.ts';
import { PASSWORD, startPostgres } from '../../../fixtures/postgres.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { SvcError } from '../../../engine/index.ts';
import { addToTotals, emptyTotals } from '../figures.ts';
import { openReader } from '../open-reader.ts';
import { newestNumber, rowsStored, totalsOf } from '../queries.ts';
import type { Cell } from '../tables.ts';
import type { Migration } from '../migrations.ts';
import { pushCells } from '../tables.ts';
import { migrations } from '../migrations.ts';
import { STORE_ROWS, toColumns, VERSION_TABLE } from './schema.ts';

const writers = suite<{ server: Postgres }>('writers of a ledger in Postgres');

writers.before(async (t) => {
  t.server = await startPostgres();
});
writers.after((t) => t.server.close());

const open = (
  url: string,
  options: { maxQueuedRows?: number; migrations?: readonly Migration[] } = {},
) => openIn('/nowhere', { file: url, ...options });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns true while a connection to the database at `url` waits for another one's lock. */
async function waitsForLock(server: Postgres, url: string): Promise<boolean> {
  const locked = await server.ask(
    url,
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return locked.length > 0;
}

/** Returns the message about a ledger whose schema is one step ahead. */
const newerThan = (known: number) =>
  new RegExp(`was written by a newer svc \\(schema ${known + 1}, this one knows ${known}\\)`);

async function totals(url: string) {
  const reader = await openReader(url);
  try {
    return await totalsOf(reader);
  } finally {
    await reader.destroy();
  }
}

async function readFault(url: string): Promise<SvcError> {
  try {
    await totals(url);
  } catch (thrown) {
    if (thrown instanceof SvcError) return thrown;
    throw thrown;
  }
  throw new Error('it could be read');
}

async function refusal({ writer }: OpenLedger): Promise<SvcError> {
  try {
    await writer.ready();
  } catch (thrown) {
    if (thrown instanceof SvcError) return thrown;
    throw thrown;
  }
  throw new Error('it was not refused');
}

writers('two at once, and rows that both have: none twice, sums exact', async ({ server }) => {
  const url = await server.create('two');
  const [one, two] = [open(url), open(url)];
  const expected = emptyTotals();
  for (let n = 0; n < 3000; n += 1) {
    const row = rowOf(n, {
      model: `m${n % 3}`,
      inputTokensRaw: n,
      latencyMs: n / 4,
      cacheHit: n % 7 === 0,
      costSavedNanoUsd: n * 1000,
    });
    addToTotals(expected, row);
    for (const { writer } of n % 10 === 0 ? [one, two] : [n % 2 === 0 ? one : two])
      writer.record(row);
    if (n % 100 === 0) await pause(1);
  }
  // Closing times out, and a busy server may need longer for thousands of rows.
  await Promise.all([one.writer.flush(), two.writer.flush()]);
  await Promise.all([one.writer.close(), two.writer.close()]);
  assert.equal([...one.errors, ...two.errors].map(String), []);
  assert.is((await stored(url)).length, 3000);
  assert.equal(await totals(url), expected);
});

writers('five that start together make the tables once', async ({ server }) => {
  const url = await server.create('five');
  const all = Array.from({ length: 5 }, () => open(url));
  await Promise.all(all.map(({ writer }) => writer.ready()));
  for (const [n, { writer }] of all.entries()) writer.record(rowOf(n));
  await Promise.all(all.map(({ writer }) => writer.close()));
  assert.equal(
    all.flatMap(({ errors }) => errors.map(String)),
    [],
  );
  assert.is((await stored(url)).length, 5);
});

writers(
  'a server that stops and starts again under load: no row lost, none twice',
  async ({ server }) => {
    const url = await server.create('stops');
    const { writer, errors } = open(url);
    await writer.ready();
    let rows = 0;
    let isOver = false;
    const load = (async () => {
      for (; !isOver; rows += 1) {
        writer.record(rowOf(rows, { inputTokensRaw: 1 }));
        if (rows % 5 === 4) await pause(5);
      }
    })();
    await until(() => writer.stats().written > 100, 'rows before it stops');
    await server.stop();
    await until(() => writer.stats().problem !== undefined, 'problem');
    const rowsBefore = rows;
    await until(() => rows > rowsBefore + 100, 'rows while it is away');
    await server.start();
    await until(() => writer.stats().problem === undefined, 'the end of the problem');
    const { written } = writer.stats();
    await until(() => writer.stats().written > written + 100, 'rows after it');
    isOver = true;
    await load;
    await until(() => writer.stats().queued === 0, 'all rows');
    assert.equal([writer.stats().written, writer.stats().dropped], [rows, 0]);
    assert.is((await stored(url)).length, rows);
    const { requests, inputTokens } = await totals(url);
    assert.equal([requests, inputTokens], [rows, rows]);
    const texts = errors.map(({ code, message, cure }) => [code, message, cure].join(' '));
    assert.ok(
      texts.length < 6 &&
        texts.every((text) =>
          text.startsWith('RESOURCE_002 The ledger cannot be written: postgres://127.0.0.1'),
        ),
      texts.join('\n'),
    );
    assert.ok(texts.every((text) => !text.includes('disk space')));
    await writer.close();
  },
);

writers(
  'connections that an administrator ends, again and again, lose nothing',
  async ({ server }) => {
    const url = await server.create('ended');
    const { writer } = open(url);
    for (let n = 0; n < 1500; n += 1) {
      writer.record(rowOf(n));
      if (n % 30 === 0) await pause(4);
      if (n % 300 === 150)
        await server.ask(
          server.url('postgres'),
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ended'`,
        );
    }
    await until(() => writer.stats().queued === 0, 'all rows');
    await writer.close();
    assert.is((await stored(url)).length, 1500);
    assert.is((await totals(url)).requests, 1500);
  },
);

writers(
  'the server stays away: the queue is bounded and what is lost is counted',
  async ({ server }) => {
    const url = await server.create('away');
    const { writer, errors } = open(url, { maxQueuedRows: 120 });
    await writer.ready();
    await server.stop();
    for (let n = 0; n < 200; n += 1) writer.record(rowOf(n));
    await until(() => writer.stats().problem !== undefined, 'problem');
    const { queued, dropped } = writer.stats();
    assert.equal([queued, dropped], [120, 80]);
    await server.start();
    await until(() => writer.stats().queued === 0, 'the rows that fitted');
    assert.is((await stored(url)).length, 120);
    await writer.close();
    assert.ok(errors.some(({ message }) => message === 'The ledger lost a row: the queue is full'));
  },
);

writers(
  'not there at the start: served all the same, and written once it is',
  async ({ server }) => {
    const url = await server.create('later');
    await server.stop();
    const { writer, errors } = open(url);
    await writer.ready();
    writer.record(rowOf(1));
    await writer.flush();
    assert.match(
      errors[0]?.message ?? '',
      /cannot be written: postgres:\/\/127.0.0.1:\d+\/later: connect ECONNREFUSED/,
    );
    assert.match(errors[0]?.cure ?? '', /server runs and that host and port in SVC_DB are right/);
    const fault = await readFault(url);
    assert.equal([fault.kind, fault.code], ['unavailable', 'RESOURCE_002']);
    await server.start();
    await until(() => writer.stats().written === 1, 'the row');
    assert.is(writer.stats().problem, undefined);
    await writer.close();
  },
);

writers('a wrong password is said, and never shown; corrected, rows go on', async ({ server }) => {
  const owner = await server.create('locked');
  await server.ask(owner, `CREATE ROLE keeper LOGIN PASSWORD 'right'`);
  await server.ask(owner, 'GRANT CREATE ON SCHEMA public TO keeper');
  const wrong = 'wr/ong#9-secret';
  const url = owner.replace(/\/\/.*@/, `//keeper:${encodeURIComponent(wrong)}@`);
  const { writer, errors } = open(url);
  await writer.ready();
  writer.record(rowOf(1));
  await until(() => errors.length > 0, 'problem');
  const [first] = errors;
  assert.match(first?.message ?? '', /password authentication failed for user "keeper" \(28P01\)/);
  assert.match(first?.cure ?? '', /Correct the user and password/);
  const messages = [...errors, await readFault(url)].map(
    (error) => `${JSON.stringify(error)} ${error.stack} ${error.message} ${error.cure}`,
  );
  for (const text of messages)
    for (const secret of [wrong, encodeURIComponent(wrong)])
      assert.not(text.includes(secret), text);
  await server.ask(owner, `ALTER ROLE keeper PASSWORD '${wrong}'`);
  await until(() => writer.stats().written === 1, 'the row');
  await writer.close();
});

writers('a user who may not make tables, and a database that is not there', async ({ server }) => {
  const owner = await server.create('narrow');
  await server.ask(owner, `CREATE ROLE reader LOGIN PASSWORD '${PASSWORD}'`);
  const narrow = open(owner.replace('//svc:', '//reader:'));
  await narrow.writer.ready();
  assert.match(narrow.errors[0]?.message ?? '', /permission denied.*\(42501\)/);
  assert.match(narrow.errors[0]?.cure ?? '', /GRANT/);
  const missing = open(server.url('nowhere'));
  await missing.writer.ready();
  assert.match(missing.errors[0]?.message ?? '', /database "nowhere" does not exist \(3D000\)/);
  await Promise.all([narrow.writer.close(), missing.writer.close()]);
});

writers(
  'another schema: a newer one is refused, an older one brought up to date',
  async ({ server }) => {
    const url = await server.create('versions');
    assert.match((await readFault(url)).message, /^There is no ledger at postgres:/);
    const older = open(url, { migrations: migrations.slice(0, -1) });
    await older.writer.ready();
    await server.ask(
      url,
      `INSERT INTO requests (id, started_ms, endpoint, stream, outcome, usage_estimated, attempts, cache_hit)
       VALUES ('of an older svc', ${rowOf(1).startedMs}, '/v1/messages', 0, 'ok', 0, 1, 0)`,
    );
    assert.match((await readFault(url)).message, /has another version than this svc, an older one/);
    const own = open(url);
    await own.writer.ready();
    own.writer.record(rowOf(2));
    await own.writer.close();
    assert.equal(own.errors.map(String), []);
    const keptRows = await server.ask<{ id: string }>(
      url,
      'SELECT id FROM requests ORDER BY started_ms',
    );
    assert.equal(keptRows, [{ id: 'of an older svc' }, { id: rowOf(2).id }]);
    assert.is((await totals(url)).requests, 1);
    // It was open before, and must not store rows in tables of an unknown version.
    older.writer.record(rowOf(3));
    await until(() => older.writer.stats().dropped === 1, 'the refusal');
    assert.match(older.errors.at(-1)?.message ?? '', newerThan(migrations.length - 1));
    const newer = open(url, {
      migrations: [...migrations, ['ALTER TABLE requests ADD COLUMN later INTEGER']],
    });
    await newer.writer.ready();
    await newer.writer.close();
    const refused = await refusal(open(url));
    assert.is(refused.kind, 'config');
    assert.match(refused.message, newerThan(migrations.length));
    assert.match((await readFault(url)).message, /has another version than this svc, a newer one/);
    await older.writer.close();
  },
);

writers('writers take turns: who looks for what is new never misses a row', async ({ server }) => {
  const url = await server.create('turns');
  const { writer } = open(url);
  await writer.ready();
  const cells: Cell[] = [];
  pushCells(cells, rowOf(1));
  await server.session(url, async (other) => {
    await other.query('BEGIN');
    await other.query(STORE_ROWS, [migrations.length, ...toColumns(cells)]);
    // A different hour, so that it does not wait for the lock on the same sums.
    writer.record(rowOf(2, { startedMs: Date.UTC(2026, 10, 21) }));
    await until(() => waitsForLock(server, url), 'it waits for its turn');
    // If stored, it would be visible before the row with the smaller number.
    assert.is(writer.stats().written, 0);
    await other.query('COMMIT');
  });
  await writer.flush();
  const reader = await openReader(url);
  const rows = await rowsStored(reader, { sinceMs: 0 }, 0, await newestNumber(reader));
  await reader.destroy();
  assert.equal(
    rows.map(({ id }) => id),
    ['req_1', 'req_2'],
  );
  await writer.close();
});

writers(
  'a schema that changes at this very moment gets no row of an older svc',
  async ({ server }) => {
    const url = await server.create('moment');
    const older = open(url);
    await older.writer.ready();
    await server.session(url, async (newer) => {
      await newer.query('BEGIN');
      await newer.query(`UPDATE ${VERSION_TABLE} SET version = version + 1`);
      older.writer.record(rowOf(1));
      await until(() => waitsForLock(server, url), 'it waits for the schema');
      await newer.query('COMMIT');
    });
    await until(() => older.writer.stats().dropped === 1, 'the refusal');
    assert.match(older.errors.at(-1)?.message ?? '', /written by a newer svc/);
    assert.equal(await server.ask(url, 'SELECT id FROM requests'), []);
    await older.writer.close();
  },
);

writers("another program's tables are left alone", async ({ server }) => {
  const url = await server.create('foreign_one');
  await server.ask(url, 'CREATE TABLE requests (what TEXT)');
  const { message, cure } = await refusal(open(url));
  assert.match(message, /has a table requests that is not svc's/);
  const apart = `${url}?options=-csearch_path%3Dsvc`;
  assert.match(cure ?? '', /options=-csearch_path%3Dsvc/);
  assert.match((await refusal(open(apart))).message, /has no schema for tables of this user/);
  await server.ask(url, 'CREATE SCHEMA svc');
  const own = open(apart);
  own.writer.record(rowOf(1));
  await own.writer.close();
  assert.is((await totals(apart)).requests, 1);
  assert.equal(await server.ask(url, 'SELECT * FROM public.requests'), []);
});

writers('a database that cannot hold all texts is refused', async ({ server }) => {
  const url = await server.create('latin', `ENCODING 'LATIN1' TEMPLATE template0`);
  assert.match((await refusal(open(url))).message, /keeps texts as LATIN1/);
});

writers('TLS by the word in the URL', async ({ server }) => {
  const url = await server.create('hidden');
  const tls = (name: string) =>
    fileURLToPath(new URL(`../../../../fixtures/tls/${name}`, import.meta.url));
  const certificate = tls('provider.crt');
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => warnings.push(message);
  process.on('warning', onWarning);
  assert.match((await readFault(`${url}?sslmode=require`)).cure ?? '', /sslmode=disable/);
  await server.stop();
  await server.start({
    ssl: 'on',
    ssl_cert_file: server.keep('server.crt', readFileSync(certificate, 'utf8')),
    ssl_key_file: server.keep('server.key', readFileSync(tls('provider.key'), 'utf8')),
  });
  for (const word of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    const fault = await readFault(`${url}?sslmode=${word}`);
    assert.match(fault.message, /self-signed certificate/, word);
    assert.match(fault.cure ?? '', /sslrootcert/);
  }
  const missing = await readFault(`${url}?sslmode=require&sslrootcert=/nowhere.crt`);
  assert.match(missing.cure ?? '', /Correct the file/);
  for (const search of ['sslmode=no-verify', `sslmode=require&sslrootcert=${certificate}`]) {
    const { writer, errors } = open(`${url}?${search}`);
    await writer.ready();
    const used = await server.ask<{ ssl: boolean }>(
      url,
      `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'svc'`,
    );
    assert.ok(used.length > 0 && used.every(({ ssl }) => ssl), search);
    await writer.close();
    assert.equal(errors.map(String), []);
    assert.is((await totals(`${url}?${search}`)).requests, 0);
  }
  process.off('warning', onWarning);
  assert.equal(warnings, []);
});

writers('a row that the schema refuses is dropped alone; no text is', async ({ server }) => {
  const url = await server.create('faults');
  const { writer, errors } = open(url);
  writer.record(rowOf(1, { model: 'a\0b{"\\,}', topChunks: ['x"y'] }));
  writer.record(rowOf(2, { inputTokensRaw: 1.5 }));
  writer.record(rowOf(3, { savedTokens: -1 }));
  writer.record(rowOf(4, { costNanoUsd: 9e15, latencyMs: Number.NaN }));
  await writer.flush();
  assert.equal([writer.stats().written, writer.stats().dropped], [2, 2]);
  const [first, last] = await stored(url);
  assert.equal([first?.model, first?.topChunks], ['a\u{fffd}b{"\\,}', ['x"y']]);
  assert.equal([last?.id, last?.costNanoUsd, last?.latencyMs], ['req_4', 9e15, null]);
  assert.is(errors[0]?.code, 'RESOURCE_002');
  await writer.close();
});

writers.run();
