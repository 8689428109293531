/** Rules for prose. */
import { extractNarrative } from './extract.ts';
import type { Rule } from '../rule.ts';

export const narrativeRules: readonly Rule[] = [
  {
    name: 'narrative',
    when: { class: ['narrative'] },
    step: 'drop',
    endings: 'checked',
    apply: extractNarrative,
  },
];
