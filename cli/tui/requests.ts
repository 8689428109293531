/** Requests as lines: the full list, and the newest on the overview. */
import type { RequestJson } from '../../server/dashboard/contract.ts';
import { figureColumn, savedColumn } from '../../server/dashboard/page/requests/columns.ts';
import type { Column } from '../../server/dashboard/page/requests/columns.ts';
import { dollars, duration, orDash, short } from '../../server/dashboard/page/format.ts';
import {
  answeringModelOf,
  modelOf,
  outcomeOf,
  outcomeTone,
} from '../../server/dashboard/page/request/request-facts.ts';
import type { Colors } from '../screen/colors.ts';
import { localTime } from '../../server/dashboard/page/local-time.ts';
import { grid } from './grid.ts';
import type { Model } from './model.ts';
import { visibleRequests, selectedIndex } from './model.ts';

function columns(nowMs: number): readonly Column<RequestJson>[] {
  return [
    { header: 'Time', rank: 1, text: (row) => localTime(row.timestamp, nowMs) },
    { header: 'Model', rank: 0, minWidth: 16, whole: answeringModelOf, text: modelOf },
    { header: 'Provider', rank: 9, minWidth: 8, text: (row) => orDash(row.provider) },
    { header: 'Agent', rank: 10, minWidth: 8, text: (row) => orDash(row.client) },
    figureColumn('In', 5, (row) => short(row.input_tokens)),
    figureColumn('Sent', 7, (row) => short(row.sent_input_tokens)),
    savedColumn(3, (row) => row.tokens_saved),
    figureColumn('Out', 8, (row) => short(row.output_tokens)),
    figureColumn('Cost', 4, (row) => dollars(row.cost)),
    figureColumn('Took', 6, (row) => duration(row.latency_ms)),
    {
      header: 'Outcome',
      rank: 2,
      text: outcomeOf,
      tone: (row) => (row.outcome === 'ok' && !row.failed ? undefined : outcomeTone(row)),
    },
  ];
}

/** Returns a header and one line per row. */
export function requestLines(
  rows: readonly RequestJson[],
  nowMs: number,
  width: number,
  colors: Colors,
): string[] {
  return grid(columns(nowMs), rows, width, colors);
}

/** Returns the list around the selected request, which is marked, in at most `height` lines. */
export function requestList(model: Model, width: number, height: number, colors: Colors): string[] {
  const rows = visibleRequests(model);
  if (model.requests === undefined) return ['Loading…'];
  if (rows.length === 0)
    return [
      model.failedOnly
        ? 'No request failed in this range of time.'
        : 'No request in this range of time.',
    ];
  const room = Math.max(1, height - 1);
  const chosen = selectedIndex(model);
  const from = Math.max(0, Math.min(chosen - Math.floor(room / 2), rows.length - room));
  const [title = '', ...lines] = requestLines(
    rows.slice(from, from + room),
    model.nowMs,
    width - 2,
    colors,
  );
  return [
    `  ${title}`,
    ...lines.map((line, at) =>
      from + at === chosen ? `${colors.bold('>')} ${line}` : `  ${line}`,
    ),
  ];
}
