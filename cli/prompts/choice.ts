/** The questions that can be asked of the user, as lines or menus. */
import { SvcError } from '../../engine/error.ts';

/** One of several options. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** Each throws `cancelled` if the user gives up or the input ends. */
export interface Prompts {
  readonly confirm: (question: string, isYes: boolean) => Promise<boolean>;
  /** Returns the value of one of `choices`. */
  readonly choose: (
    question: string,
    choices: readonly Choice[],
    initial: string,
  ) => Promise<string>;
  /** Returns any of `choices`, all of which are initially selected. */
  readonly several: (question: string, choices: readonly Choice[]) => Promise<readonly string[]>;
  /** Releases stdin. */
  readonly close: () => void;
}

/** Returns the error for a user who gives up. */
export function cancelledByUser(): SvcError {
  return new SvcError('cancelled', 'Interrupted: nothing was changed');
}
