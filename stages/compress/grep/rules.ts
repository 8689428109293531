/** Rules for hits of a search. Linters print the like, at whose end something may stand that a search never prints. */
import { groupGrep } from './group-grep.ts';
import { nameSameHits } from './same-hits.ts';
import type { Rule } from '../rule.ts';

export const grepRules: readonly Rule[] = [
  {
    name: 'grep',
    when: { class: ['grep'] },
    step: 'encode',
    endings: 'checked-unless-expected',
    apply: groupGrep,
  },
  {
    name: 'same-hits',
    when: { class: ['grep'] },
    step: 'encode',
    endings: 'checked-unless-expected',
    apply: nameSameHits,
  },
];
