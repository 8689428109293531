/**
 * Which classes of text a mode works on, apart from the algorithms that do: the event loop
 * asks this of every request and should not have to load them.
 */
import type { TextClass } from '../../model/classify/classes.ts';
import type { Mode } from '../compressor.ts';

/** A tool result below this many tokens is left alone, unless it repeats an earlier one. */
export const MIN_TOKENS = 60;

const UNTOUCHED: Readonly<Record<Mode, readonly TextClass[] | 'all'>> = {
  strict: 'all',
  hybrid: ['code', 'config', 'html', 'blob', 'other'],
  aggressive: ['html', 'other'],
};

/** True where the mode has an algorithm for the class. */
export function isTouched(mode: Mode, kind: TextClass): boolean {
  const untouched = UNTOUCHED[mode];
  return untouched !== 'all' && !untouched.includes(kind);
}
