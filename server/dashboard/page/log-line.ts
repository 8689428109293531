/** Parses a log line into fields. */

/** Shown while there are no lines. */
export const NO_LINES =
  'Nothing was logged yet. At level info the log has failures and changes; `svc debug on` adds every request.';

/** The common fields of log lines; all others are shown as they are. */
export interface LogLine {
  readonly [field: string]: unknown;
  readonly time?: string;
  readonly level?: string;
  readonly msg?: string;
  readonly requestId?: string;
}

export function parsed(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { msg: line };
  }
}

// Attempts are omitted: the page of the request shows them in readable form.
const APART = new Set(['time', 'level', 'msg', 'requestId', 'attempts']);

/** Returns the other fields as `name=value`; lists without JSON syntax, empty ones left out. */
export function fieldsOf(line: LogLine): string {
  return Object.entries(line)
    .filter(([name, value]) => !APART.has(name) && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}=${textOf(value)}`)
    .join(' ');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const isList = Array.isArray(value) && value.every((item) => typeof item !== 'object');
  return isList ? value.join(', ') : JSON.stringify(value);
}
