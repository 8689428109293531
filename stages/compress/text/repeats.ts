/** Equal lines in a row, written as one line and a count. */
import { MARK } from './marker.ts';

/** A text with runs of equal lines as one and a count; nothing is lost (`unfoldRepeats`). */
export function foldRepeats(lines: readonly string[]): string {
  const out: string[] = [];
  for (let index = 0; index < lines.length;) {
    const line = lines[index]!;
    let end = index + 1;
    while (end < lines.length && lines[end] === line) end++;
    const repeats = end - index - 1;
    out.push(line);
    if (repeats >= 2 && (line.trim() !== '' || repeats >= 20)) out.push(repeated(repeats));
    else for (let copy = 0; copy < repeats; copy++) out.push(line);
    index = end;
  }
  return out.join('\n');
}

/** The line that stands for so many more of the line above. */
export function repeated(times: number): string {
  return `${MARK}the line above ${times} more times]`;
}

const REPEATED = /^\[svc the line above (\d+) more times\]$/;

/** How many more times a line says that the line above stood there; undefined where it says something else. */
export function readRepeated(line: string): number | undefined {
  const times = line.startsWith(MARK) ? REPEATED.exec(line)?.[1] : undefined;
  return times === undefined ? undefined : Number(times);
}

/** The lines that a folded text stands for. */
export function unfoldRepeats(text: string): string {
  const out: string[] = [];
  for (const line of text.split('\n')) {
    const times = readRepeated(line);
    if (times === undefined) out.push(line);
    else for (let copy = 0; copy < times; copy++) out.push(out.at(-1)!);
  }
  return out.join('\n');
}
