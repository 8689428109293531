/**
 * Single flight: of identical requests in flight one goes to the provider, and the others take its
 * answer when it is complete.
 *
 * | who                     | event                                | then                        |
 * |-------------------------|--------------------------------------|-----------------------------|
 * | first with a key        | boards                               | leads                       |
 * | another with that key   | boards                               | follows                     |
 * | leader                  | lands with an answer                 | followers have it           |
 * | leader                  | lands without one: failed, unfit     | followers go on alone       |
 * | leader                  | leaves: its client is gone           | the first follower leads    |
 * | leader                  | has not landed after `waitMs`        | that follower goes alone    |
 * | follower                | is aborted                           | only it stops               |
 *
 * Landing is final, frees the key at once, and must happen however the leader ends; otherwise the
 * time limit keeps a follower from hanging. Followers that continue alone do not wait for each
 * other: they have already waited once.
 */
import type { CancelSignal, Clock } from '../../engine/index.ts';
import type { KeptAnswer } from './answer.ts';

/** The seat of the request that goes to the provider. */
export interface LeaderSeat {
  readonly role: 'leader';
  /** Ends the flight, with the complete answer or without one. Later calls have no effect. */
  land(answer: KeptAnswer | undefined): void;
  /**
   * Passes the seat to a waiting request, because this one ended for a reason that does not concern
   * the others, such as a client that left.
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
  answer(signal: CancelSignal): Promise<WaitResult>;
}

export type Seat = LeaderSeat | FollowerSeat;

/** The result of a follower's wait. */
export type WaitResult = KeptAnswer | LeaderSeat | undefined;

/** Returns true if the follower now leads, and must land. */
export function isSeat(result: WaitResult): result is LeaderSeat {
  return result !== undefined && 'role' in result;
}

export type Flights = ReturnType<typeof createFlights>;

export interface FlightsOptions {
  readonly clock: Clock;
  /** How long a follower waits for its leader, in milliseconds; default 30,000. */
  readonly waitMs?: number;
}

/** Creates the flights, none at first. */
export function createFlights(options: FlightsOptions) {
  const flights = new Map<string, Flight>();
  return {
    /** Takes the leader's seat of `key` if it is free, else a follower's. */
    board(key: string): Seat {
      const flight = flights.get(key);
      if (flight !== undefined)
        return { role: 'follower', answer: (signal) => flight.wait(signal) };
      const started = new Flight(options, () => flights.delete(key));
      flights.set(key, started);
      return started.seat();
    },
    /** Number of current flights. */
    get size(): number {
      return flights.size;
    },
  };
}

class Flight {
  readonly #clock: Clock;
  readonly #waitMs: number;
  /** Frees the key; called once. */
  readonly #onLanded: () => void;
  readonly #followers = new Set<(result: WaitResult) => void>();
  #hasLanded = false;
  #answer: KeptAnswer | undefined;

  constructor({ clock, waitMs = 30_000 }: FlightsOptions, onLanded: () => void) {
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#onLanded = onLanded;
  }

  seat(): LeaderSeat {
    let isHeld = true;
    const vacate = (then: () => void): void => {
      if (isHeld) then();
      isHeld = false;
    };
    return {
      role: 'leader',
      land: (answer) => vacate(() => this.#land(answer)),
      leave: () => vacate(() => this.#leave()),
    };
  }

  #land(answer: KeptAnswer | undefined): void {
    this.#hasLanded = true;
    this.#answer = answer;
    this.#onLanded();
    for (const landed of this.#followers) landed(answer);
  }

  #leave(): void {
    const [next] = this.#followers;
    if (next === undefined) this.#land(undefined);
    else next(this.seat());
  }

  wait(signal: CancelSignal): Promise<WaitResult> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#hasLanded) return Promise.resolve(this.#answer);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#followers.delete(landed);
        signal.removeEventListener('abort', abort);
        stopTimer();
      };
      const landed = (result: WaitResult): void => {
        leave();
        resolve(result);
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
