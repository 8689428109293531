/** Rules for lists of files. Programs that copy print the like, with an end that a listing does not have. */
import { foldListing } from './fold-listing.ts';
import type { Apply, Rule } from '../rule.ts';
import { MARK } from '../text/marker.ts';
import { foldRepeats } from '../text/repeats.ts';

/** Short lines that a program prints again and again are taken for a list of names. */
const repeats: Apply = (text) => {
  if (text.includes(MARK)) return undefined;
  const folded = foldRepeats(text.split('\n'));
  return folded === text ? undefined : { text: folded, removed: [] };
};

export const listingRules: readonly Rule[] = [
  {
    name: 'listing',
    when: { class: ['listing'] },
    step: 'encode',
    endings: 'checked-unless-expected',
    apply: foldListing,
  },
  { name: 'repeats', when: { class: ['listing'] }, step: 'encode', endings: 'own', apply: repeats },
];
