/** The rows of `/recent` as a table. */
import { localTime, zoneName } from './local-time.ts';
import { dollars, figure } from './output.ts';
import type { Json } from './remote.ts';
import { shortId } from './request-id.ts';

/** The heads; times are those of the user's zone. */
export function recentHead(nowMs: number): string[] {
  const time = `time (${zoneName(nowMs)})`;
  return ['request', time, 'model', '>in → sent', '>saved', '>cost', '>without svc', 'outcome'];
}

/** One finished request as a row; what was not measured is a dash. */
export function recentRow(row: Json, nowMs: number): string[] {
  const text = (name: string) => (typeof row[name] === 'string' ? row[name] : '–');
  const { cost, status_code: status } = row;
  const [raw, sent] = [row['input_tokens'], row['sent_input_tokens']];
  const outcome = text('outcome');
  return [
    shortId(text('request_id')),
    localTime(row['timestamp'], nowMs),
    text('model'),
    sent === raw ? figure(raw) : `${figure(raw)} → ${figure(sent)}`,
    figure(row['tokens_saved']),
    dollars(cost),
    dollars(costWithout(row)),
    outcome === 'ok' || typeof status !== 'number' ? outcome : `${outcome} (${status})`,
  ];
}

/** What the request would have cost as the client sent it; null where that is not known. */
function costWithout({ cost, cost_saved: saved, net_cost_saved: net }: Json): number | null {
  if (typeof cost !== 'number') return null;
  if (typeof net === 'number') return cost + net;
  return typeof saved === 'number' ? cost + saved : null;
}
