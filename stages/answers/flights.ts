/**
 * Single flight: of equal requests in the air one goes to the provider, and the others
 * take its answer when it is complete.
 *
 * | who                     | event                                | then                        |
 * |-------------------------|--------------------------------------|-----------------------------|
 * | first with a key        | boards                               | leads                       |
 * | another with that key   | boards                               | follows                     |
 * | leader                  | lands with an answer                 | followers have it           |
 * | leader                  | lands without: failed, left, not fit | followers go on alone       |
 * | leader                  | has not landed after `waitMs`        | that follower goes alone    |
 * | follower                | is aborted                           | only it stops               |
 *
 * Landing is final, frees the key at once, and must happen however the leader ends; the
 * time limit is what keeps a follower from hanging should it not. Followers that go on
 * alone do not line up behind each other: they have waited once.
 */
import type { CancelSignal, Clock } from '../../engine/index.ts';
import type { KeptAnswer } from './answer.ts';

/** The place of the one that goes to the provider. */
export interface LeaderSeat {
  readonly role: 'leader';
  /** Ends the flight, with the complete answer or without one. Later calls change nothing. */
  land(answer: KeptAnswer | undefined): void;
}

/** The place of one that waits. */
export interface FollowerSeat {
  readonly role: 'follower';
  /** The leader's answer, or undefined to go on alone. Rejects with the signal's reason if it aborts. */
  answer(signal: CancelSignal): Promise<KeptAnswer | undefined>;
}

export type Seat = LeaderSeat | FollowerSeat;

/** An answer, and whether another request fetched it. */
export interface JoinedAnswer {
  readonly answer: KeptAnswer | undefined;
  readonly shared: boolean;
}

export interface Flights {
  /** Takes the leader's seat of `key` if it is free, else a follower's. */
  board(key: string): Seat;
  /**
   * The whole of it for a caller that can fetch the answer itself: `lead` is called at once
   * for a leader, later or never for a follower. Rejects with what `lead` throws, or with
   * the signal's reason.
   */
  join(
    key: string,
    lead: () => Promise<KeptAnswer | undefined>,
    signal: CancelSignal,
  ): Promise<JoinedAnswer>;
  /** Flights in the air. */
  readonly size: number;
}

export interface FlightsOptions {
  readonly clock: Clock;
  /** How long a follower waits for its leader, in milliseconds; default 30,000. */
  readonly waitMs?: number;
}

/** No flights yet. */
export function createFlights(options: FlightsOptions): Flights {
  const inAir = new Map<string, Flight>();
  function board(key: string): Seat {
    const flight = inAir.get(key);
    if (flight !== undefined) return { role: 'follower', answer: (signal) => flight.wait(signal) };
    const led = new Flight(options);
    inAir.set(key, led);
    return {
      role: 'leader',
      land(answer) {
        if (inAir.get(key) === led) inAir.delete(key);
        led.land(answer);
      },
    };
  }
  return {
    board,
    join: (key, lead, signal) => join(board(key), lead, signal),
    get size() {
      return inAir.size;
    },
  };
}

class Flight {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #followers = new Set<(answer: KeptAnswer | undefined) => void>();
  #hasLanded = false;
  #answer: KeptAnswer | undefined;

  constructor({ clock, waitMs = 30_000 }: FlightsOptions) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  land(answer: KeptAnswer | undefined): void {
    if (this.#hasLanded) return;
    this.#hasLanded = true;
    this.#answer = answer;
    for (const landed of this.#followers) landed(answer);
  }

  wait(signal: CancelSignal): Promise<KeptAnswer | undefined> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#hasLanded) return Promise.resolve(this.#answer);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#followers.delete(landed);
        signal.removeEventListener('abort', abort);
        stopTimer();
      };
      const landed = (answer: KeptAnswer | undefined): void => {
        leave();
        resolve(answer);
      };
      const abort = (): void => {
        leave();
        reject(signal.reason);
      };
      const stopTimer = this.#clock.after(this.#waitMs, () => landed(undefined));
      this.#followers.add(landed);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}

async function join(
  seat: Seat,
  lead: () => Promise<KeptAnswer | undefined>,
  signal: CancelSignal,
): Promise<JoinedAnswer> {
  if (seat.role === 'follower') {
    const answer = await seat.answer(signal);
    return answer === undefined
      ? { answer: await lead(), shared: false }
      : { answer, shared: true };
  }
  let answer: KeptAnswer | undefined;
  try {
    answer = await lead();
  } finally {
    seat.land(answer);
  }
  return { answer, shared: false };
}
