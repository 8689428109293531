/** `svc requests`: the newest requests, filtered, and live. */
import { setTimeout } from 'node:timers/promises';
import { Command, Option } from 'clipanion';
import type { LedgerReader } from '../../stages/ledger/tables.ts';
import type { RowFilter } from '../../stages/ledger/queries.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { SpanCommand, spanText } from '../ledger.ts';
import type { LedgerQueries } from '../ledger.ts';
import { onEnd } from '../process/signals.ts';
import { toOneOf, toWhole } from '../parse/flags.ts';
import { EXPENDABLE, recentHeader, recentRow } from '../screen/recent.ts';

const OUTCOMES = ['ok', 'error', 'cancelled', 'partial'] as const;
const EVERY_MS = 500;
/** Earlier rows that determine the column widths of later ones. */
const MAX_ABOVE = 100;

/** The reader, and the filter. */
interface Followed {
  readonly reader: LedgerReader;
  readonly queries: LedgerQueries;
  readonly filter: RowFilter;
}

class Requests extends SpanCommand {
  static override paths = [['requests']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The newest requests, filtered, or live as they arrive',
    details:
      'The newest is first; with --follow the newest is last, since what comes is printed below it. A narrow screen goes without some figures.',
    examples: [
      ['The newest 20', '$0 requests'],
      [
        'Failures of one provider, as they happen',
        '$0 requests --failed --provider messages --follow',
      ],
      ['For a script, one JSON object a line', '$0 requests --follow --json'],
    ],
  });

  lines = Option.String('-n,--lines', '20', { description: 'How many; 20' });
  model = Option.String('--model', { description: 'Part of the model’s name' });
  provider = Option.String('--provider', { description: 'Name of the provider' });
  client = Option.String('--client', { description: 'The agent, such as claude-code' });
  session = Option.String('--session', { description: 'The client’s session id' });
  outcome = Option.String('--outcome', { description: OUTCOMES.join(', ') });
  failed = Option.Boolean('--failed', false, { description: 'Only failed ones' });
  follow = Option.Boolean('-f,--follow', false, { description: 'Keep going until Ctrl-C' });

  async execute() {
    const outcome =
      this.outcome === undefined ? undefined : toOneOf(this.outcome, '--outcome', OUTCOMES);
    const max = toWhole(this.lines, '--lines', 1, 10_000);
    const span = await this.span();
    const filter: RowFilter = {
      ...span,
      ...(this.model !== undefined && { model: this.model }),
      ...(this.provider !== undefined && { provider: this.provider }),
      ...(this.client !== undefined && { client: this.client }),
      ...(this.session !== undefined && { sessionId: this.session }),
      ...(outcome !== undefined && { outcome }),
      ...(this.failed && { failed: true }),
    };
    await this.ledger(async (reader, queries) => {
      // Read before the listing, so that a request ending in between is not missed.
      const after = this.follow ? await queries.newestNumber(reader) : 0;
      const newest = await queries.newestRows(reader, filter, max);
      if (!this.follow)
        return this.#printAll(newest, `No such request was recorded (${spanText(span)})`);
      // Later rows are printed below: the newest comes last.
      const rows = newest.toReversed();
      await this.#print(rows);
      await this.#live(rows, after, { reader, queries, filter });
    });
  }

  async #printAll(rows: readonly LedgerRow[], none: string): Promise<void> {
    const { recentJson } = await import('../../stages/ledger/request-json.ts');
    if (this.json) this.printJson({ requests: rows.map(recentJson) });
    else if (rows.length === 0) this.print(none);
    else await this.#print(rows);
  }

  /** Prints rows in order, below those already printed. */
  async #print(rows: readonly LedgerRow[], above?: readonly LedgerRow[]): Promise<void> {
    const { recentJson } = await import('../../stages/ledger/request-json.ts');
    if (this.json) {
      for (const row of rows) this.context.stdout.write(`${JSON.stringify(recentJson(row))}\n`);
      return;
    }
    const nowMs = this.context.clock.wallMs();
    const cellsOf = (row: LedgerRow) => recentRow(recentJson(row), nowMs);
    this.printTable(recentHeader(nowMs), rows.map(cellsOf), {
      above: above?.map(cellsOf),
      expendable: EXPENDABLE,
    });
  }

  /**
   * Polls the ledger twice a second for rows stored after row number `after`, until the terminal
   * ends it.
   */
  async #live(
    listed: readonly LedgerRow[],
    after: number,
    { reader, queries, filter }: Followed,
  ): Promise<void> {
    if (!this.json) this.print(this.colors.dim('waiting for requests; Ctrl-C to stop'));
    const isListed = new Set(listed.map(({ id }) => id));
    let above = listed;
    let from = after;
    const ended = new AbortController();
    const stopListening = onEnd(this.context, () => ended.abort());
    try {
      while (!ended.signal.aborted) {
        // The clock's timers do not keep the process alive, and nothing else does here.
        await setTimeout(EVERY_MS, undefined, { signal: ended.signal }).catch(() => {});
        const upto = await queries.newestNumber(reader);
        const stored = await queries.rowsStored(reader, filter, from, upto);
        const rows = stored.filter(({ id }) => !isListed.has(id));
        if (rows.length > 0) await this.#print(rows, above);
        above = [...above, ...rows].slice(-MAX_ABOVE);
        from = upto;
      }
    } finally {
      stopListening();
    }
  }
}

export const commands = [Requests];
