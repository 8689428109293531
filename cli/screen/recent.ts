/** The rows of `/recent` as a table. */
import { localTime, zoneName } from '../../server/dashboard/page/local-time.ts';
import { dollars, figure } from './output.ts';
import type { Json } from '../remote.ts';
import { shortId } from '../../server/facts/find-request.ts';

/** The heads; times are those of the user's zone. */
export function recentHeader(nowMs: number): string[] {
  const time = `time (${zoneName(nowMs)})`;
  return ['request', time, 'model', '>in', '>sent', '>saved', '>cost', '>without svc', 'outcome'];
}

/** What a narrow screen goes without, so that each request is one line and its model is whole. */
export const EXPENDABLE = ['without svc', 'sent', 'in', 'saved'];

/** One finished request as a row; what was not measured is a dash. */
export function recentRow(row: Json, nowMs: number): string[] {
  const text = (name: string) => (typeof row[name] === 'string' ? row[name] : '–');
  const { status_code: status } = row;
  const outcome = text('outcome');
  return [
    shortId(text('request_id')),
    localTime(row['timestamp'], nowMs),
    text('model'),
    figure(row['input_tokens']),
    figure(row['sent_input_tokens']),
    figure(row['tokens_saved']),
    dollars(row['cost']),
    dollars(row['cost_without']),
    outcome === 'ok' || typeof status !== 'number' ? outcome : `${outcome} (${status})`,
  ];
}
