/** `svc export`: the individual requests of a period, for other programs. */
import { once } from 'node:events';
import { Command, Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import { visible, visibleJson } from '../../server/log/visible.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { SpanCommand } from '../ledger.ts';

/** Rows read at a time. */
const PAGE = 5000;

class Export extends SpanCommand {
  static override paths = [['export']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Single requests of a time range, as CSV or JSON',
    details:
      'One line for each request, oldest first, with everything in the ledger about it: key, project, model, tokens and cost. Single requests are kept for `metrics.retention_days`; sums of older ones are in `svc attribution --json`. In CSV, a cell that begins like a formula gets an apostrophe.',
    examples: [
      ['A file for a spreadsheet', '$0 export --since 2026-11-01 --csv > november.csv'],
      ['For a program', '$0 export --since 2026-11-26 --json'],
    ],
  });

  csv = Option.Boolean('--csv', false, { description: 'As CSV, with a header line (RFC 4180)' });

  async execute() {
    const span = await this.span();
    if (this.csv === this.json)
      throw new SvcError('usage', 'svc export needs either --csv or --json', {
        cure: '`svc export --since 2026-11-01 --csv > requests.csv` writes a file.',
      });
    const { csvHead, csvLine, exportedRow } = await import('../../stages/ledger/export.ts');
    let isFirst = true;
    const text = (row: LedgerRow): string => {
      if (this.csv) return csvLine(row, visible);
      const comma = isFirst ? '' : ',';
      isFirst = false;
      return `${comma}\n${visibleJson(JSON.stringify(exportedRow(row)))}`;
    };
    await this.ledger(async (reader, queries) => {
      await this.#write(this.csv ? csvHead : '{"requests":[');
      let last: LedgerRow | undefined;
      do {
        const rows: readonly LedgerRow[] = await queries.rowsFrom(reader, span, last, PAGE);
        await this.#write(rows.map(text).join(''));
        last = rows.at(-1);
      } while (last !== undefined);
    });
    await this.#write(this.csv ? '' : '\n]}\n');
  }

  /** Waits if the reader of a pipe is slower than the ledger. */
  async #write(text: string): Promise<void> {
    const { stdout } = this.context;
    if (text !== '' && !stdout.write(text)) await once(stdout, 'drain');
  }
}

export const commands = [Export];
