/** The rows of `/recent` as a table. */
import { dollars, figure } from './output.ts';
import type { Json } from './remote.ts';

export const recentHead = ['time', 'model', '>in', '>out', '>cost', '>ms', 'outcome'];

/** One finished request as a row; what was not measured is a dash. */
export function recentRow(row: Json): string[] {
  const text = (name: string) => (typeof row[name] === 'string' ? row[name] : '–');
  const { cost, latency_ms: latency, status_code: status } = row;
  const outcome = text('outcome');
  return [
    text('timestamp').slice(11, 19),
    text('model'),
    figure(row['input_tokens']),
    figure(row['output_tokens']),
    dollars(cost),
    typeof latency === 'number' ? String(Math.round(latency)) : '–',
    outcome === 'ok' || typeof status !== 'number' ? outcome : `${outcome} (${status})`,
  ];
}
