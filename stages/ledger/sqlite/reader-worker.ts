/** The thread that runs a server's queries of the ledger, so that a long one delays no request. */
import type { SqliteDatabase } from 'kysely';
import { inodeOf } from '../../private-file.ts';
import { serveJobs } from '../../threads/serve.ts';
import { openReadOnly } from './connection.ts';
import type { ReaderProtocol } from './reader-thread.ts';

/** Most statements kept prepared. A page that polls runs the same ones again and again. */
const MAX_PREPARED = 100;

type Statement = ReturnType<SqliteDatabase['prepare']>;

serveJobs<ReaderProtocol, string>((file) => {
  let open: { readonly database: SqliteDatabase; readonly inode: bigint | undefined } | undefined;
  const prepared = new Map<string, Statement>();
  /** The file now at the path: the writer may have moved a damaged one aside. */
  const database = (): SqliteDatabase => {
    const inode = inodeOf(file);
    if (open !== undefined && open.inode !== inode) {
      prepared.clear();
      open.database.close();
      open = undefined;
    }
    open ??= { database: openReadOnly(file), inode };
    return open.database;
  };
  const prepare = (sql: string): Statement => {
    const current = database();
    let statement = prepared.get(sql);
    if (statement === undefined) {
      if (prepared.size >= MAX_PREPARED) prepared.clear();
      statement = current.prepare(sql);
      prepared.set(sql, statement);
    }
    return statement;
  };
  return { run: ({ sql, parameters }) => prepare(sql).all(parameters) };
});
