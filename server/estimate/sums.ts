/** Sums estimates of conversations by session, client and session length. */
import type { Conversation } from '../sessions/session.ts';
import { NO_REQUESTS } from './conversation.ts';
import type { Estimate } from './conversation.ts';

/** The sessions of a client: all of them, or those of one length. */
export interface SessionGroup extends Estimate {
  readonly client: string;
  /** Range of requests per session; null for any length. */
  readonly length: LengthClass | null;
  readonly sessions: number;
  /**
   * Share of the input cost that a session saves, over sessions with a price; null if there are
   * none.
   */
  readonly share: Range | null;
}

export interface Range {
  readonly sessions: number;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

export interface LengthClass {
  readonly from: number;
  /** Null: no upper limit. */
  readonly to: number | null;
}

/** The length classes of sessions. */
export const LENGTHS: readonly LengthClass[] = [
  { from: 1, to: 9 },
  { from: 10, to: 24 },
  { from: 25, to: 74 },
  { from: 75, to: 149 },
  { from: 150, to: null },
];

export function createSums() {
  const clients = new Map<string, Map<string, Estimate>>();
  return {
    add({ client, sessionId }: Conversation, estimate: Estimate): void {
      const sessions = clients.get(client) ?? new Map<string, Estimate>();
      clients.set(client, sessions);
      sessions.set(sessionId, sumOf([sessions.get(sessionId) ?? NO_REQUESTS, estimate]));
    },
    /** Returns the sums per client, then also by length. */
    groups: (): readonly SessionGroup[] =>
      [...clients].flatMap(([client, all]) => {
        const sessions = [...all.values()];
        return [
          group(client, null, sessions),
          ...LENGTHS.map((length) => group(client, length, sessions.filter(isOf(length)))),
        ].filter((one) => one.sessions > 0);
      }),
  };
}

const isOf =
  ({ from, to }: LengthClass) =>
  ({ requests }: Estimate): boolean =>
    requests >= from && (to === null || requests <= to);

function group(
  client: string,
  length: LengthClass | null,
  sessions: readonly Estimate[],
): SessionGroup {
  const shares = sessions
    .filter(({ costNanoUsd }) => costNanoUsd > 0)
    .map(({ costNanoUsd, costSavedNanoUsd }) => costSavedNanoUsd / costNanoUsd);
  return {
    client,
    length,
    sessions: sessions.length,
    ...sumOf(sessions),
    share: rangeOf(shares),
  };
}

const FIGURES = Object.keys(NO_REQUESTS) as (keyof Estimate)[];

function sumOf(estimates: readonly Estimate[]): Estimate {
  const sums: Record<keyof Estimate, number> = { ...NO_REQUESTS };
  for (const estimate of estimates) for (const name of FIGURES) sums[name] += estimate[name];
  return sums;
}

function rangeOf(values: readonly number[]): Range | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median =
    sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { sessions: sorted.length, median, lowest: sorted[0]!, highest: sorted.at(-1)! };
}
