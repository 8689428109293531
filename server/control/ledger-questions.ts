/**
 * The server's queries of the ledger. The query builder, and the reader thread or database driver,
 * are loaded by the first query: a start must not wait for them.
 */
import type { RangeMemory } from '../../stages/ledger/range/range-memory.ts';
import type { LedgerReader } from '../../stages/ledger/tables.ts';

type Queries = typeof import('../../stages/ledger/queries.ts');

/** Runs a query of the ledger; a command has it too. */
export type AskLedger = <T>(
  work: (reader: LedgerReader, queries: Queries) => Promise<T>,
) => Promise<T>;

export type LedgerQuestions = ReturnType<typeof askLedger>;

/** Creates the queries of the ledger at `db`, which the first one opens. */
export function askLedger(db: string) {
  let opening: ReturnType<typeof open> | undefined;
  return {
    /** Runs a query; all of them share a memory. Rejects if the ledger cannot be read. */
    async ask<T>(
      work: (reader: LedgerReader, queries: Queries, memory: RangeMemory) => Promise<T>,
    ): Promise<T> {
      const { reader, queries, memory } = await (opening ??= open(db));
      return work(reader, queries, memory);
    },
    async close(): Promise<void> {
      if (opening !== undefined) await (await opening).reader.destroy();
    },
  };
}

async function open(db: string) {
  const [{ openServerReader }, queries, { RangeMemory }] = await Promise.all([
    import('../../stages/ledger/open-reader.ts'),
    import('../../stages/ledger/queries.ts'),
    import('../../stages/ledger/range/range-memory.ts'),
  ]);
  return { reader: await openServerReader(db), queries, memory: new RangeMemory() };
}
