/** Rules for logs of builds, tests, CI and systems. */
import { cleanLog } from './clean.ts';
import { reduceLog } from './reduce.ts';
import type { Rule } from '../rule.ts';

export const logRules: readonly Rule[] = [
  {
    name: 'log-clean',
    when: { class: ['log', 'trace'] },
    step: 'clean',
    endings: 'own',
    apply: cleanLog,
  },
  { name: 'log-reduce', when: { class: ['log'] }, step: 'drop', endings: 'own', apply: reduceLog },
];
