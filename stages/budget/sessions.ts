/** The spending and reservations of each session, for as many sessions as fit. */

/** Amounts in nano-dollars. */
export interface Account {
  spent: number;
  held: number;
  /** The part of `held` that other proxies were asked about and have not confirmed. */
  pending?: number;
}

export type Sessions = ReturnType<typeof createSessions>;

/** Maximum number of sessions: clients can invent ids. */
export const MAX_SESSIONS = 10_000;

/**
 * Creates the sessions, none at first. They are kept in two generations of `max` each: when the
 * younger is full, the older is dropped except for sessions with reservations. A dropped session
 * that returns starts from zero.
 */
export function createSessions(max = MAX_SESSIONS) {
  let young = new Map<string, Account>();
  let old = new Map<string, Account>();

  function age(): void {
    const forgotten = old;
    old = young;
    young = new Map();
    for (const [session, account] of forgotten) {
      if (account.held !== 0 && !old.has(session)) young.set(session, account);
    }
  }

  return {
    /** Returns a session's account if it exists. */
    peek: (session: string): Account | undefined => young.get(session) ?? old.get(session),
    /** Returns a session's account, created if necessary; it becomes the most recently used. */
    open(session: string): Account {
      const known = young.get(session);
      if (known !== undefined) return known;
      if (young.size >= max) age();
      const account = young.get(session) ?? old.get(session) ?? { spent: 0, held: 0 };
      young.set(session, account);
      return account;
    },
  };
}
