/** What is wrong with the ledger, reported once: a full disk under load would otherwise be reported a thousand times a second. */
import { SvcError } from '../../../engine/index.ts';
import { isPostgresUrl } from '../address.ts';

const DISK_CURE =
  'Free some disk space or correct the permissions; rows are kept in memory as long as they fit.';
const SERVER_CURE =
  'See that the database server in SVC_DB answers; rows are kept in memory as long as they fit.';

/** What helps where nothing else is known, by where the ledger is. */
export function cureOf(db: string): string {
  return isPostgresUrl(db) ? SERVER_CURE : DISK_CURE;
}

/** The file or database must not be used as a ledger. Never cured by trying again. */
export class LedgerRefused extends Error {
  readonly cure: string;
  constructor(message: string, cure: string) {
    super(message);
    this.name = 'LedgerRefused';
    this.cure = cure;
  }
}

/** The present trouble of a ledger, and whom to notify. */
export class Trouble {
  readonly #report: (error: SvcError) => void;
  readonly #reported = new Set<string>();
  #current: SvcError | undefined;

  constructor(report: (error: SvcError) => void) {
    this.#report = report;
  }

  /** The newest trouble that is not over. */
  get current(): SvcError | undefined {
    return this.#current;
  }

  /** Notes a trouble, and reports it unless the same was reported since the last time that all was well. */
  begin(error: SvcError): void {
    this.#current = error;
    if (this.#reported.has(error.message)) return;
    this.#reported.add(error.message);
    this.#report(error);
  }

  /** All is well again. */
  end(): void {
    this.#current = undefined;
    this.#reported.clear();
  }
}

/** What was accepted cannot be stored, or is lost (`unavailable`, RESOURCE_002). */
export function storeError(message: string, cure: string, cause?: unknown): SvcError {
  return new SvcError('unavailable', message, { code: 'RESOURCE_002', cure, cause });
}

/** A damaged file was put aside. */
export function replacedError(file: string, aside: string, why: string): SvcError {
  return new SvcError(
    'internal',
    `The ledger ${file} was damaged (${why}); it was moved to ${aside} and a new one was started`,
    { cure: `Try to save its rows: sqlite3 ${aside} .recover` },
  );
}
