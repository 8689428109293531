/** A progress line: only on a terminal, and cleared when results are printed. */
import type { Writable } from 'node:stream';

/** A line that is rewritten in place. */
export interface Progress {
  readonly report: (text: string) => void;
  readonly clear: () => void;
}

/** Creates progress on `stream`; does nothing if that is not a terminal. */
export function createProgress(stream: Writable): Progress {
  const isTerminal = 'isTTY' in stream && stream.isTTY === true;
  const write = (text: string): void => void (isTerminal && stream.write(`\r\u001b[K${text}`));
  return { report: write, clear: () => write('') };
}
