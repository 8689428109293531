/** What may be asked of the person at the keyboard, in lines or in menus. */
import { SvcError } from '../../engine/error.ts';

/** One of several answers. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** Each throws `cancelled` where the person gives up or the input ends. */
export interface Prompts {
  readonly confirm: (question: string, isYes: boolean) => Promise<boolean>;
  /** One of `choices`, by its value. */
  readonly choose: (
    question: string,
    choices: readonly Choice[],
    initial: string,
  ) => Promise<string>;
  /** Any of `choices`, all of which are chosen at first. */
  readonly several: (question: string, choices: readonly Choice[]) => Promise<readonly string[]>;
  /** Lets go of stdin. */
  readonly close: () => void;
}

/** The error of who gives up. */
export function givenUp(): SvcError {
  return new SvcError('cancelled', 'Interrupted: nothing was changed');
}
