/** Rules for diffs. */
import { shrinkDiff } from './shrink-diff.ts';
import type { Rule } from '../rule.ts';

export const diffRules: readonly Rule[] = [
  { name: 'diff', when: { class: ['diff'] }, step: 'drop', endings: 'own', apply: shrinkDiff },
];
