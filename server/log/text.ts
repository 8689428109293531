/** Formats a log line for people: `time LEVEL message key=value …`, always on one line. */

import { visible, visibleJson } from './visible.ts';

/**
 * Converts one JSON line of the log to text. A line that is not JSON is returned with its control
 * characters escaped.
 */
export function toTextLine(line: string): string {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return visible(line.trimEnd());
  }
  if (typeof entry !== 'object' || entry === null) return line;
  const { time, level, msg, ...fields } = entry as Record<string, unknown>;
  const parts = [formatValue(time), formatValue(level).toUpperCase().padEnd(7), formatValue(msg)];
  for (const [name, value] of Object.entries(fields)) {
    parts.push(
      `${oneLine(name)}=${typeof value === 'string' ? quoteIfNeeded(value) : visibleJson(JSON.stringify(value))}`,
    );
  }
  return `${parts.join(' ')}\n`;
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? oneLine(value) : JSON.stringify(value ?? '');
}

function quoteIfNeeded(value: string): string {
  return /^[\w./:@%+-]+$/.test(value) ? value : visibleJson(JSON.stringify(value));
}

/** A newline inside a message would let its author forge log lines. */
function oneLine(text: string): string {
  return visible(text.replaceAll('\n', String.raw`\n`).replaceAll('\t', ' '));
}
