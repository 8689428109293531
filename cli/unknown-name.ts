/** The error for a name that does not exist. */
import { SvcError } from '../engine/error.ts';
import { didYouMean } from '../server/config/did-you-mean.ts';

/** Returns `not_found` with the nearest existing name; `cure` says where they are listed. */
export function notFoundHere(
  what: string,
  name: string,
  known: Iterable<string>,
  cure: string,
): SvcError {
  const typed = JSON.stringify(name.slice(0, 80));
  return new SvcError('not_found', `There is no ${what} ${typed}${didYouMean(name, known)}`, {
    cure,
  });
}
