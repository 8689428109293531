/** A storm: much of one trouble at once, on the program as users start it, and what has to hold. */

/** How large the storms are; the defaults are the full size. */
export interface Sizes {
  /** Kills of a proxy under load; other processes are killed in a tenth as many rounds. */
  readonly rounds: number;
  /** A row is promised this long after the end of its answer, plus what the machine delayed. */
  readonly acknowledgedMs: number;
  /** Seconds of each storm that lasts a time. */
  readonly seconds: number;
  /** Streams open at once. */
  readonly streams: number;
  /** Connections open at once that send nothing. */
  readonly idle: number;
}

/** One thing that has to hold. */
export interface StormRow {
  readonly name: string;
  readonly required: string;
  readonly figure: string;
  readonly held: boolean;
}

export interface Storm {
  readonly name: string;
  readonly run: (sizes: Sizes, report: (text: string) => void) => Promise<readonly StormRow[]>;
}

/** Returns whether `isSo` became true within `withinMs`. */
export async function comesTrue(
  isSo: () => boolean | Promise<boolean>,
  withinMs = 30_000,
): Promise<boolean> {
  for (const untilMs = Date.now() + withinMs; ;) {
    if (await isSo()) return true;
    if (Date.now() > untilMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
