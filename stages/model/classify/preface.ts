/**
 * What a runner prints about itself before and after the output of a program that it builds and
 * starts. The started program's output decides what the text is.
 */

const SCRIPT_START = /^(?:> |\$ |yarn run v|\s*$)/;
const SCRIPT_TAIL = /^(?:Done in |\s*$)/;
const BUILD_FINISHED = /^ *Finished .{0,100} in \d/;
const PROGRAM_STARTED = /^ *Running `/;

/** Returns the lines that a started program printed; all lines if there are none. */
export function afterPreface(lines: readonly string[]): readonly string[] {
  const started = lines.findLastIndex((line, at) => isStart(line, lines[at - 1]));
  let from = started + 1;
  while (from < lines.length && isPart(lines[from]!, SCRIPT_START)) from++;
  let to = lines.length;
  while (to > from && isPart(lines[to - 1]!, SCRIPT_TAIL)) to--;
  return from < to ? lines.slice(from, to) : lines;
}

function isStart(line: string, above: string | undefined): boolean {
  return isPart(line, PROGRAM_STARTED) && above !== undefined && isPart(above, BUILD_FINISHED);
}

function isPart(line: string, pattern: RegExp): boolean {
  return pattern.test(line.length > 200 ? line.slice(0, 200) : line);
}
