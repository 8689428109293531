/** Rules for source code. */
import { stripCode } from './strip-code.ts';
import type { Rule } from '../rule.ts';

export const codeRules: readonly Rule[] = [
  {
    name: 'code',
    when: { class: ['code'], mode: ['aggressive'] },
    step: 'drop',
    endings: 'own',
    apply: stripCode,
  },
];
