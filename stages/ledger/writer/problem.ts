/**
 * Faults of the ledger, each reported once: a full disk under load would otherwise be reported a
 * thousand times a second.
 */
import { SvcError } from '../../../engine/index.ts';
import { isPostgresUrl } from '../address.ts';

const DISK_CURE =
  'Free some disk space or correct the permissions; rows are kept in memory as long as they fit.';
const SERVER_CURE =
  'Check that the database server in SVC_DB responds; rows are kept in memory as long as they fit.';

/** Returns the default cure, by where the ledger is. */
export function cureOf(db: string): string {
  return isPostgresUrl(db) ? SERVER_CURE : DISK_CURE;
}

/** The file or database must not be used as a ledger. Retrying never helps. */
export class LedgerRefused extends Error {
  readonly cure: string;
  constructor(message: string, cure: string) {
    super(message);
    this.name = 'LedgerRefused';
    this.cure = cure;
  }
}

/** The current fault of a ledger, and the callback for reports. */
export class CurrentProblem {
  readonly #report: (error: SvcError) => void;
  readonly #reported = new Set<string>();
  #current: SvcError | undefined;

  constructor(report: (error: SvcError) => void) {
    this.#report = report;
  }

  /** The latest fault that is not over. */
  get current(): SvcError | undefined {
    return this.#current;
  }

  /** Records a fault, and reports it unless the same was reported since the last recovery. */
  begin(error: SvcError): void {
    this.#current = error;
    if (this.#reported.has(error.message)) return;
    this.#reported.add(error.message);
    this.#report(error);
  }

  /** Ends the fault. */
  end(): void {
    this.#current = undefined;
    this.#reported.clear();
  }
}

/** Accepted rows cannot be stored, or are lost (`unavailable`, RESOURCE_002). */
export function storeError(message: string, cure: string, cause?: unknown): SvcError {
  return new SvcError('unavailable', message, { code: 'RESOURCE_002', cure, cause });
}

/** A damaged file was moved aside. */
export function replacedError(file: string, aside: string, why: string): SvcError {
  return new SvcError(
    'internal',
    `The ledger ${file} was damaged (${why}); it was moved to ${aside} and a new one was started`,
    { cure: `Try to save its rows: sqlite3 ${aside} .recover` },
  );
}
