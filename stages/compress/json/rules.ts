/** Rules for JSON. */
import { compressJson } from './encode.ts';
import type { Rule } from '../rule.ts';

export const jsonRules: readonly Rule[] = [
  { name: 'json', when: { class: ['json'] }, step: 'encode', endings: 'own', apply: compressJson },
];
