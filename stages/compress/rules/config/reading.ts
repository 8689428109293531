/** What readers of configuration formats have in common. */

/** What a reader makes of a text that it accepts. */
export interface ConfigReading {
  /** Numbers of the lines that hold nothing but a comment. */
  readonly comments: ReadonlySet<number>;
  /** Numbers of the blank lines that are no part of a value. */
  readonly blanks: ReadonlySet<number>;
  /** The values, or the text that they are written as: equal if two texts configure the same. */
  readonly values: unknown;
}

/**
 * Reads one format strictly: a line that the format does not explain, a string that stays
 * open, or a beginning that may lie inside a value makes it undefined.
 */
export type ConfigReader = (text: string) => ConfigReading | undefined;

/** Lines without the carriage return that files from Windows have. */
export function configLines(text: string): readonly string[] {
  return text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

/** True where the first line is indented: it may go on with a value that began before the text. */
export function beginsInside(text: string): boolean {
  return /^\s*\n[ \t]|^[ \t]+\S/.test(text.slice(0, 4000));
}

/** A reading whose values are the lines that are neither comments nor blank between values. */
export function readingOf(
  lines: readonly string[],
  comments: ReadonlySet<number>,
  blanks: ReadonlySet<number>,
): ConfigReading {
  const values = lines.filter((_, at) => !comments.has(at) && !blanks.has(at));
  return { comments, blanks, values };
}
