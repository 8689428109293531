/**
 * What the server asks of the ledger's file. The query builder and the reading
 * thread are loaded by the first question: a start must not wait for them.
 */
import type { LedgerReader } from '../../stages/ledger/database.ts';

type Queries = typeof import('../../stages/ledger/queries.ts');

export type LedgerQuestions = ReturnType<typeof askLedger>;

/** Asks `file` in a thread of its own, opened by the first question. */
export function askLedger(file: string) {
  let opening: ReturnType<typeof open> | undefined;
  return {
    /** Asks anything. Rejects where the file cannot be read. */
    async ask<T>(work: (reader: LedgerReader, queries: Queries) => Promise<T>): Promise<T> {
      const { reader, queries } = await (opening ??= open(file));
      return work(reader, queries);
    },
    async close(): Promise<void> {
      if (opening !== undefined) await (await opening).reader.destroy();
    },
  };
}

async function open(file: string): Promise<{ reader: LedgerReader; queries: Queries }> {
  const [{ openThreadedLedgerReader }, queries] = await Promise.all([
    import('../../stages/ledger/reader-thread.ts'),
    import('../../stages/ledger/queries.ts'),
  ]);
  return { reader: openThreadedLedgerReader(file), queries };
}
