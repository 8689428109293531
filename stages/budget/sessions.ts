/** What each session has spent and holds, for as many sessions as fit. */

/** Amounts in nano-dollars. */
export interface Account {
  spent: number;
  held: number;
  /** The part of `held` that other proxies have been asked about and have not answered. */
  pending?: number;
}

export type Sessions = ReturnType<typeof createSessions>;

/** Sessions remembered: clients can invent ids. */
export const MAX_SESSIONS = 10_000;

/**
 * No sessions yet. They are kept in two generations of `most` each: when the younger is full
 * the older is forgotten but for the sessions that hold something. A forgotten session spends
 * from zero if it comes back.
 */
export function createSessions(most = MAX_SESSIONS) {
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
    /** A session's account, if it is known. */
    peek: (session: string): Account | undefined => young.get(session) ?? old.get(session),
    /** A session's account, made if need be; it becomes the most recently used. */
    open(session: string): Account {
      const known = young.get(session);
      if (known !== undefined) return known;
      if (young.size >= most) age();
      const account = young.get(session) ?? old.get(session) ?? { spent: 0, held: 0 };
      young.set(session, account);
      return account;
    },
  };
}
