/**
 * What the server asks of the ledger. The query builder, and the reading thread or the driver of
 * the database, are loaded by the first question: a start must not wait for them.
 */
import type { LedgerReader } from '../../stages/ledger/tables.ts';

type Queries = typeof import('../../stages/ledger/queries.ts');

export type LedgerQuestions = ReturnType<typeof askLedger>;

/** Asks the ledger at `db`, opened by the first question. */
export function askLedger(db: string) {
  let opening: ReturnType<typeof open> | undefined;
  return {
    /** Asks anything. Rejects where it cannot be read. */
    async ask<T>(work: (reader: LedgerReader, queries: Queries) => Promise<T>): Promise<T> {
      const { reader, queries } = await (opening ??= open(db));
      return work(reader, queries);
    },
    async close(): Promise<void> {
      if (opening !== undefined) await (await opening).reader.destroy();
    },
  };
}

async function open(db: string): Promise<{ reader: LedgerReader; queries: Queries }> {
  const [{ openServerReader }, queries] = await Promise.all([
    import('../../stages/ledger/open-reader.ts'),
    import('../../stages/ledger/queries.ts'),
  ]);
  return { reader: await openServerReader(db), queries };
}
