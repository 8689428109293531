/** Rules for lists of files. Programs that copy print the like, with an end that a listing does not have. */
import { foldListing } from './fold-listing.ts';
import type { Rule } from '../rule.ts';

export const listingRules: readonly Rule[] = [
  {
    name: 'listing',
    when: { class: ['listing'] },
    step: 'encode',
    endings: 'checked-unless-expected',
    apply: foldListing,
  },
];
