/** The sender of a request that comes with a key of this proxy, and what that key allows. */

/** What is known about the key. `svc auth` sets everything but the id. */
export interface Caller {
  readonly keyId: string;
  /** The name in the ledger rows: the label, or the id if there is no label. */
  readonly label: string;
  /** The project of all requests that name no other. */
  readonly project?: string;
  /** The models it may use, with `*` as a wildcard; absent for all. */
  readonly models?: readonly string[];
  /** The providers it may use, by their configured names, also with `*`; absent for all. */
  readonly providers?: readonly string[];
  /** The most its requests may cost per UTC day and month, in nano-dollars; absent for no limit. */
  readonly perDayNanoUsd?: number;
  readonly perMonthNanoUsd?: number;
}
