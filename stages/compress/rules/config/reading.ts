/** Shared parts of the readers of configuration formats. */

/** The result of reading a text that the format accepts. */
export interface ConfigReading {
  /** Indexes of lines that hold only a comment. */
  readonly comments: ReadonlySet<number>;
  /** Indexes of blank lines outside values. */
  readonly blanks: ReadonlySet<number>;
  /** The values, or their source text: equal if two texts configure the same. */
  readonly values: unknown;
}

/**
 * Reads one format strictly. Returns undefined for a line that the format does not explain, an
 * unclosed string, or a beginning that may be inside a value.
 */
export type ConfigReader = (text: string) => ConfigReading | undefined;

/** Splits lines and strips the carriage returns of Windows files. */
export function configLines(text: string): readonly string[] {
  return text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

/** Returns true if the first line is indented: it may continue a value from before the text. */
export function beginsInside(text: string): boolean {
  return /^\s*\n[ \t]|^[ \t]+\S/.test(text.slice(0, 4000));
}

/**
 * Builds a reading whose values are the lines that are neither comments nor blank between values.
 */
export function readingOf(
  lines: readonly string[],
  comments: ReadonlySet<number>,
  blanks: ReadonlySet<number>,
): ConfigReading {
  const values = lines.filter((_, at) => !comments.has(at) && !blanks.has(at));
  return { comments, blanks, values };
}
