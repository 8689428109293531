/**
 * What the server asks of the ledger's file. The query builder and the reading
 * thread are loaded by the first question: a start must not wait for them.
 */
import type { LedgerReader } from '../../stages/ledger/database.ts';
import { MAX_SESSIONS } from '../../stages/budget/sessions.ts';
import { emptyTotals } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import type {
  DayReport,
  SavingsReport,
  SessionSpent,
  Spent,
  TimeSpan,
} from '../../stages/ledger/queries.ts';

export interface LedgerQuestions {
  /** The sums of the UTC day of `nowMs`; all zero where the file cannot be read, which `/health` reports. */
  today(nowMs: number): Promise<Totals>;
  /** What was spent in a span. Rejects where the file cannot be read. */
  spent(span: Required<TimeSpan>): Promise<Spent>;
  /** What the newest sessions spent in requests that began before `untilMs`, oldest session first. Rejects likewise. */
  sessions(untilMs: number): Promise<readonly SessionSpent[]>;
  savings(nowMs: number, sinceMs?: number): Promise<SavingsReport>;
  /** The 24 hours before `nowMs`. Rejects where the file cannot be read. */
  lastDay(nowMs: number): Promise<DayReport>;
  /** Any other question. Rejects likewise. */
  ask<T>(work: (reader: LedgerReader, queries: Opened['queries']) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Asks `file` in a thread of its own, opened by the first question. */
export function askLedger(file: string): LedgerQuestions {
  let opening: Promise<Opened> | undefined;
  const opened = () => (opening ??= open(file));
  return {
    async today(nowMs) {
      try {
        const { reader, queries } = await opened();
        return await queries.totalsOfToday(reader, nowMs);
      } catch {
        return emptyTotals();
      }
    },
    async spent(span) {
      const { reader, queries } = await opened();
      return queries.spentIn(reader, span);
    },
    async sessions(untilMs) {
      const { reader, queries } = await opened();
      return queries.sessionsSpent(reader, untilMs, MAX_SESSIONS);
    },
    async savings(nowMs, sinceMs) {
      const { reader, queries } = await opened();
      return queries.savingsReport(reader, nowMs, sinceMs);
    },
    async lastDay(nowMs) {
      const { reader, queries } = await opened();
      return queries.lastDayReport(reader, nowMs);
    },
    async ask(work) {
      const { reader, queries } = await opened();
      return work(reader, queries);
    },
    async close() {
      if (opening !== undefined) await (await opening).reader.destroy();
    },
  };
}

interface Opened {
  readonly reader: LedgerReader;
  readonly queries: typeof import('../../stages/ledger/queries.ts');
}

async function open(file: string): Promise<Opened> {
  const [{ openThreadedLedgerReader }, queries] = await Promise.all([
    import('../../stages/ledger/reader-thread.ts'),
    import('../../stages/ledger/queries.ts'),
  ]);
  return { reader: openThreadedLedgerReader(file), queries };
}
