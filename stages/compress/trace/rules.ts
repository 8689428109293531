/** Rules for stack traces, which stand in logs too. */
import { dropSourceLines } from './source-lines.ts';
import { packStack } from './pack-stack.ts';
import { shortenTraces } from './shorten-traces.ts';
import type { Rule } from '../rule.ts';

export const traceRules: readonly Rule[] = [
  {
    name: 'trace',
    when: { class: ['trace', 'log'] },
    step: 'drop',
    endings: 'own',
    apply: shortenTraces,
  },
  {
    name: 'frame-source',
    when: { class: ['trace'] },
    step: 'drop',
    endings: 'own',
    apply: dropSourceLines,
  },
  {
    name: 'frames',
    when: { class: ['trace', 'log'] },
    step: 'encode',
    endings: 'checked',
    apply: packStack,
  },
];
