/**
 * The time as a recorded session shall have it. A scripted model answers at once and nobody sits in
 * front of the client, so each answer and each pause before a prompt puts the clock forward, and what
 * the client wrote down meanwhile is set to that time afterwards.
 */

export interface AheadClock {
  /** Milliseconds since the epoch, in the session's time. */
  now(): number;
  /** All that happens from now on happens `ms` later. */
  jump(ms: number): void;
  /** A moment of the machine's time, in the session's time. */
  at(realMs: number): number;
}

export function createAheadClock(realNow: () => number = Date.now): AheadClock {
  const jumps: { readonly fromMs: number; readonly ms: number }[] = [];
  const at = (realMs: number): number =>
    jumps.reduce((sum, { fromMs, ms }) => (fromMs <= realMs ? sum + ms : sum), realMs);
  return {
    now: () => at(realNow()),
    jump: (ms) => void jumps.push({ fromMs: realNow(), ms }),
    at,
  };
}

/** The times in a line of a session file of Claude Code, by `clock`. */
export function lineInTime(line: string, clock: Pick<AheadClock, 'at'>): string {
  return line.replaceAll(/(?<="timestamp":")\d{4}-\d\d-\d\dT[\d:.]+Z(?=")/g, (time) =>
    new Date(clock.at(Date.parse(time))).toISOString(),
  );
}

/** The same in JSON of OpenCode's database, where times are milliseconds. */
export function jsonInTime(json: string, clock: Pick<AheadClock, 'at'>): string {
  return json.replaceAll(/(?<="(?:created|completed|start|end|updated)":)\d{13}(?=[,}])/g, (ms) =>
    String(clock.at(Number(ms))),
  );
}
