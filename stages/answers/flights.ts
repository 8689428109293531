/**
 * Single flight: of identical requests in flight one goes to the provider, and the others take its
 * answer when it is complete.
 *
 * | who                     | event                                | then                        |
 * |-------------------------|--------------------------------------|-----------------------------|
 * | first with a key        | boards                               | leads                       |
 * | another with that key   | boards                               | follows                     |
 * | leader                  | lands with an answer                 | followers have it           |
 * | leader                  | lands without: failed, not fit       | followers go on alone       |
 * | leader                  | leaves: its client is gone           | the first follower leads    |
 * | leader                  | has not landed after `waitMs`        | that follower goes alone    |
 * | follower                | is aborted                           | only it stops               |
 *
 * Landing is final, frees the key at once, and must happen however the leader ends; otherwise the
 * time limit keeps a follower from hanging. Followers that continue alone do not wait for each
 * other: they have waited once.
 */
import type { CancelSignal, Clock } from '../../engine/index.ts';
import type { KeptAnswer } from './answer.ts';

/** The seat of the request that goes to the provider. */
export interface LeaderSeat {
  readonly role: 'leader';
  /** Ends the flight, with the complete answer or without one. Later calls have no effect. */
  land(answer: KeptAnswer | undefined): void;
  /**
   * Passes the seat to a waiting request: this one has ended, which says nothing about the others.
   */
  leave(): void;
}

/** The seat of a waiting request. */
export interface FollowerSeat {
  readonly role: 'follower';
  /**
   * Resolves to the leader's answer, the seat of a leader that left, or undefined to continue
   * alone. Rejects with the signal's reason if it aborts.
   */
  answer(signal: CancelSignal): Promise<Brought>;
}

export type Seat = LeaderSeat | FollowerSeat;

/** The result of a follower's wait. */
export type Brought = KeptAnswer | LeaderSeat | undefined;

/** Returns true if the follower now leads, and must land. */
export function isSeat(brought: Brought): brought is LeaderSeat {
  return brought !== undefined && 'role' in brought;
}

export type Flights = ReturnType<typeof createFlights>;

export interface FlightsOptions {
  readonly clock: Clock;
  /** How long a follower waits for its leader, in milliseconds; default 30,000. */
  readonly waitMs?: number;
}

/** Creates the flights, none at first. */
export function createFlights(options: FlightsOptions) {
  const inAir = new Map<string, Flight>();
  return {
    /** Takes the leader's seat of `key` if it is free, else a follower's. */
    board(key: string): Seat {
      const flight = inAir.get(key);
      if (flight !== undefined)
        return { role: 'follower', answer: (signal) => flight.wait(signal) };
      const led = new Flight(options, () => inAir.delete(key));
      inAir.set(key, led);
      return led.seat();
    },
    /** Number of current flights. */
    get size(): number {
      return inAir.size;
    },
  };
}

class Flight {
  readonly #clock: Clock;
  readonly #waitMs: number;
  /** Frees the key; called once. */
  readonly #over: () => void;
  readonly #followers = new Set<(brought: Brought) => void>();
  #hasLanded = false;
  #answer: KeptAnswer | undefined;

  constructor({ clock, waitMs = 30_000 }: FlightsOptions, over: () => void) {
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#over = over;
  }

  seat(): LeaderSeat {
    let isTaken = true;
    const rise = (then: () => void): void => {
      if (isTaken) then();
      isTaken = false;
    };
    return {
      role: 'leader',
      land: (answer) => rise(() => this.#land(answer)),
      leave: () => rise(() => this.#leave()),
    };
  }

  #land(answer: KeptAnswer | undefined): void {
    this.#hasLanded = true;
    this.#answer = answer;
    this.#over();
    for (const landed of this.#followers) landed(answer);
  }

  #leave(): void {
    const [next] = this.#followers;
    if (next === undefined) this.#land(undefined);
    else next(this.seat());
  }

  wait(signal: CancelSignal): Promise<Brought> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#hasLanded) return Promise.resolve(this.#answer);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#followers.delete(landed);
        signal.removeEventListener('abort', abort);
        stopTimer();
      };
      const landed = (brought: Brought): void => {
        leave();
        resolve(brought);
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
