/** What each session has spent and holds, for as many sessions as fit. */

/** Amounts in nano-dollars. */
export interface Account {
  spent: number;
  held: number;
}

export interface Sessions {
  /** A session's account, if it is known. */
  peek(session: string): Account | undefined;
  /** A session's account, made if need be; it becomes the most recently used. */
  open(session: string): Account;
}

/** Sessions remembered: clients can invent ids. */
const MAX_SESSIONS = 10_000;

/**
 * No sessions yet. Of too many the least recently used that hold nothing are forgotten,
 * and spend from zero if they come back.
 */
export function createSessions(most = MAX_SESSIONS): Sessions {
  const accounts = new Map<string, Account>();
  return {
    peek: (session) => accounts.get(session),
    open(session) {
      const account = accounts.get(session) ?? { spent: 0, held: 0 };
      accounts.delete(session);
      accounts.set(session, account);
      if (accounts.size > most) forgetOldest(accounts, session);
      return account;
    },
  };
}

/** Looks at a few of the oldest only: those that hold something are as many as requests run. */
function forgetOldest(accounts: Map<string, Account>, kept: string): void {
  for (const [session, { held }] of accounts) {
    if (session === kept) return;
    if (held !== 0) continue;
    accounts.delete(session);
    return;
  }
}
