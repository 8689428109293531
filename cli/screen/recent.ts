/** The rows of `/recent` as a table. */
import { localTime, zoneName } from '../../server/dashboard/page/local-time.ts';
import { dollars, figure } from './output.ts';
import type { Json } from '../remote.ts';
import { shortId } from '../../server/facts/find-request.ts';

/** Returns the headers; times are in the user's time zone. */
export function recentHeader(nowMs: number): string[] {
  const time = `time (${zoneName(nowMs)})`;
  return ['request', time, 'model', '>in', '>sent', '>saved', '>cost', '>without svc', 'outcome'];
}

/**
 * Columns dropped on a narrow screen, so that each request fits on one line with its full model
 * name.
 */
export const EXPENDABLE = ['without svc', 'sent', 'in', 'saved'];

/** Returns one finished request as a row; an unmeasured value is a dash. */
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
