/** Rules for prose. */
import { extractNarrative } from './extract.ts';
import { isReadToTheLetter } from './to-the-letter.ts';
import type { Rule } from '../rule.ts';

export const narrativeRules: readonly Rule[] = [
  {
    name: 'narrative',
    when: { class: ['narrative'], unless: isReadToTheLetter },
    step: 'drop',
    endings: 'checked',
    apply: extractNarrative,
  },
];
