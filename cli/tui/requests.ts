/** Requests as lines: the list of all of them, and the newest on the overview. */
import type { RequestJson } from '../../server/dashboard/contract.ts';
import { dollars, duration, orDash, short } from '../../server/dashboard/page/format.ts';
import type { Colors } from '../colors.ts';
import { localTime } from '../local-time.ts';
import { grid } from './grid.ts';
import type { Column } from './grid.ts';
import type { Model } from './model.ts';
import { listed, selectedIndex } from './model.ts';

function columns(nowMs: number, { green, red, yellow }: Colors): readonly Column<RequestJson>[] {
  const plain = (text: string): string => text;
  return [
    { head: 'Time', rank: 1, text: (row) => localTime(row.timestamp, nowMs) },
    { head: 'Model', rank: 0, least: 16, text: modelOf },
    { head: 'Provider', rank: 9, least: 8, text: (row) => orDash(row.provider) },
    { head: 'Agent', rank: 10, least: 8, text: (row) => orDash(row.client) },
    { head: 'In', isRight: true, rank: 5, text: (row) => short(row.input_tokens) },
    { head: 'Sent', isRight: true, rank: 7, text: (row) => short(row.sent_input_tokens) },
    {
      head: 'Saved',
      isRight: true,
      rank: 3,
      text: (row) => short(row.tokens_saved),
      paint: (row) => ((row.tokens_saved ?? 0) > 0 ? green : plain),
    },
    { head: 'Out', isRight: true, rank: 8, text: (row) => short(row.output_tokens) },
    { head: 'Cost', isRight: true, rank: 4, text: (row) => dollars(row.cost) },
    { head: 'Took', isRight: true, rank: 6, text: (row) => duration(row.latency_ms) },
    {
      head: 'Outcome',
      rank: 2,
      text: outcomeOf,
      paint: (row) => (row.failed ? red : row.outcome === 'ok' ? plain : yellow),
    },
  ];
}

/** The model that answered; before it the one that was asked for, where it is another. */
export function modelOf({ model_requested: asked, model_resolved: resolved }: RequestJson): string {
  return asked === null || resolved === null || asked === resolved
    ? orDash(resolved ?? asked)
    : `${asked} → ${resolved}`;
}

/** `ok`, `error 502`. */
export function outcomeOf({ outcome, status_code: status }: RequestJson): string {
  return outcome === 'ok' || status === null ? outcome : `${outcome} ${status}`;
}

/** A head and one line a row. */
export function requestLines(
  rows: readonly RequestJson[],
  nowMs: number,
  width: number,
  colors: Colors,
): string[] {
  return grid(columns(nowMs, colors), rows, width, colors);
}

/** The list around the chosen request, which has a mark, in at most `height` lines. */
export function requestList(model: Model, width: number, height: number, colors: Colors): string[] {
  const rows = listed(model);
  if (model.requests === undefined) return ['Loading…'];
  if (rows.length === 0)
    return [model.failedOnly ? 'No request failed in this range of time.' : 'No request yet.'];
  const room = Math.max(1, height - 1);
  const chosen = selectedIndex(model);
  const from = Math.max(0, Math.min(chosen - Math.floor(room / 2), rows.length - room));
  const [head = '', ...lines] = requestLines(
    rows.slice(from, from + room),
    model.nowMs,
    width - 2,
    colors,
  );
  return [
    `  ${head}`,
    ...lines.map((line, at) =>
      from + at === chosen ? `${colors.bold('>')} ${line}` : `  ${line}`,
    ),
  ];
}
