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

/** All other fields as `name=value`; a list without the signs of JSON, and none where it is empty. */
export function fieldsOf(line: LogLine): string {
  return Object.entries(line)
    .filter(([name, value]) => !APART.has(name) && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}=${textOf(value)}`)
    .join(' ');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const isList = Array.isArray(value) && value.every((one) => typeof one !== 'object');
  return isList ? value.join(', ') : JSON.stringify(value);
}
