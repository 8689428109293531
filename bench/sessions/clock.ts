/**
 * The simulated time of a recorded session. A scripted model responds at once and no one sits in
 * front of the client, so each response and each pause before a prompt advances the clock, and the
 * times in the client's files are adjusted afterwards.
 */

export interface SessionClock {
  /** Milliseconds since the epoch, in session time. */
  now(): number;
  /** Advances the session time by `ms`. */
  advance(ms: number): void;
  /** Converts machine time to session time. */
  at(realMs: number): number;
}

export function createSessionClock(realNow: () => number = Date.now): SessionClock {
  const jumps: { readonly fromMs: number; readonly ms: number }[] = [];
  const at = (realMs: number): number =>
    jumps.reduce((sum, { fromMs, ms }) => (fromMs <= realMs ? sum + ms : sum), realMs);
  return {
    now: () => at(realNow()),
    advance: (ms) => void jumps.push({ fromMs: realNow(), ms }),
    at,
  };
}

/** Converts the times in a line of a Claude Code session file. */
export function toSessionTimeLine(line: string, clock: Pick<SessionClock, 'at'>): string {
  return line.replaceAll(/(?<="timestamp":")\d{4}-\d\d-\d\dT[\d:.]+Z(?=")/g, (time) =>
    new Date(clock.at(Date.parse(time))).toISOString(),
  );
}

/** Converts the times, in milliseconds, in JSON of OpenCode's database. */
export function toSessionTimeJson(json: string, clock: Pick<SessionClock, 'at'>): string {
  return json.replaceAll(/(?<="(?:created|completed|start|end|updated)":)\d{13}(?=[,}])/g, (ms) =>
    String(clock.at(Number(ms))),
  );
}
