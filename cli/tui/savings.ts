/** Savings and their sources, and what was added from the vault at what cost. */
import { classColumns, groupColumns } from '../../server/dashboard/page/requests/columns.ts';
import type { Column } from '../../server/dashboard/page/requests/columns.ts';
import { addedWords, billOf, lanesOf, unpricedNote } from '../../server/dashboard/page/summary.ts';
import type { BillRow, LaneRow } from '../../server/dashboard/page/summary.ts';
import type { Colors } from '../screen/colors.ts';
import { grid } from './grid.ts';
import type { Model } from './model.ts';

const BILL: readonly Column<BillRow>[] = [
  { header: 'The bill', rank: 0, minWidth: 12, text: ({ name }) => name },
  { header: '', isRight: true, rank: 1, text: ({ value }) => value, tone: ({ tone }) => tone },
];

const LANES: readonly Column<LaneRow>[] = [
  { header: 'Savings by source', rank: 0, minWidth: 12, text: ({ name }) => name },
  { header: 'Worth', isRight: true, rank: 1, text: ({ worth }) => worth },
  { header: '', rank: 2, minWidth: 12, text: ({ detail }) => detail },
];

export function savingsView({ live, report }: Model, width: number, colors: Colors): string[] {
  if (live === undefined || report === undefined) return ['Loading…'];
  const note = unpricedNote(report);
  const table = <T>(columns: readonly Column<T>[], rows: readonly T[]): string[] =>
    rows.length === 0 ? [] : ['', ...grid<T>(columns, rows, width, colors)];
  return [
    ...grid(BILL, billOf(report), width, colors),
    ...(note === undefined ? [] : [note]),
    ...table(LANES, lanesOf(live, report)),
    '',
    `${colors.dim('Added from the vault')}  ${addedWords(report)}`,
    ...table(classColumns('Class of text, since the start'), live.classes),
    ...table(groupColumns('Model'), report.by_model),
    ...table(groupColumns('Agent'), report.by_client),
    ...table(groupColumns('Provider'), report.by_provider),
  ];
}
