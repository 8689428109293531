/**
 * A storm: one kind of overload or failure at scale, on the program as users start it, and the
 * requirements that must hold.
 */

/** How large the storms are; the defaults are the full size. */
export interface Sizes {
  /** Kills of a proxy under load; other processes are killed in a tenth as many rounds. */
  readonly rounds: number;
  /** A row is guaranteed this long after the end of its response, plus any delay of the machine. */
  readonly acknowledgedMs: number;
  /** Duration of each timed storm in seconds. */
  readonly seconds: number;
  /** Streams open at once. */
  readonly streams: number;
  /** Connections open at once that send nothing. */
  readonly idle: number;
}

/** One requirement, and the measured figure. */
export interface StormRow {
  readonly name: string;
  readonly required: string;
  readonly figure: string;
  readonly met: boolean;
}

export interface Storm {
  readonly name: string;
  readonly run: (sizes: Sizes, report: (text: string) => void) => Promise<readonly StormRow[]>;
}

/** Returns whether `condition` became true within `withinMs`. */
export async function becomesTrue(
  condition: () => boolean | Promise<boolean>,
  withinMs = 30_000,
): Promise<boolean> {
  for (const untilMs = Date.now() + withinMs; ;) {
    if (await condition()) return true;
    if (Date.now() > untilMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
