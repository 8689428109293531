/** Writes server-sent events. */

/**
 * One event as bytes: `event:` line if it has a name, one `data:` line for each line of
 * `data`, and the blank line that ends it.
 */
export function encodeEvent(event: string | undefined, data: string): Buffer {
  const head = event === undefined ? '' : `event: ${event}\n`;
  const body = /[\r\n]/.test(data)
    ? data
        .split(/\r\n|\r|\n/)
        .map((line) => `data: ${line}\n`)
        .join('')
    : `data: ${data}\n`;
  return Buffer.from(`${head}${body}\n`);
}
