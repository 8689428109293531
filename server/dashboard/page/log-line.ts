/** A line of the log taken apart. */

/** What stands where no line has come. */
export const NO_LINES =
  'Nothing was logged yet. At level info the log has failures and changes; `svc debug on` adds every request.';

/** What every line may have; what else it has is shown as it is. */
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

// The attempts stand with the request itself, where they can be read.
const APART = new Set(['time', 'level', 'msg', 'requestId', 'attempts']);

/** All other fields as `name=value`. */
export function fieldsOf(line: LogLine): string {
  return Object.entries(line)
    .filter(([name]) => !APART.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
