/** The thread that runs a server's queries of the ledger, so that a long one delays no request. */
import type { SqliteDatabase } from 'kysely';
import { inodeOf } from '../../private-file.ts';
import { serveJobs } from '../../threads/serve.ts';
import { openReadOnly } from './connection.ts';
import type { ReaderProtocol } from './reader-thread.ts';

serveJobs<ReaderProtocol, string>((file) => {
  let open: { readonly database: SqliteDatabase; readonly inode: bigint | undefined } | undefined;
  /** The file now at the path: the writer may have moved a damaged one aside. */
  const database = (): SqliteDatabase => {
    const inode = inodeOf(file);
    if (open !== undefined && open.inode !== inode) {
      open.database.close();
      open = undefined;
    }
    open ??= { database: openReadOnly(file), inode };
    return open.database;
  };
  return { run: ({ sql, parameters }) => database().prepare(sql).all(parameters) };
});
