/** Who sends a request, where it comes with a key of this proxy, and what that key allows. */

/** What is known of the key. `svc auth` gives it all but the id. */
export interface Caller {
  readonly keyId: string;
  /** What its rows say: its label, or its id where it has none. */
  readonly label: string;
  /** The project of all requests that name no other. */
  readonly project?: string;
  /** The models that it may use, with `*` for any text; absent for all. */
  readonly models?: readonly string[];
  /** The providers that it may use, by their configured names, with `*` likewise; absent for all. */
  readonly providers?: readonly string[];
  /** What its requests may cost in a UTC day and month, in nano-dollars; absent for no limit. */
  readonly perDayNanoUsd?: number;
  readonly perMonthNanoUsd?: number;
}
