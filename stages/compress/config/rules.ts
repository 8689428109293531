/** Rules for configuration files. */
import { stripConfig } from './strip-config.ts';
import type { Rule } from '../rule.ts';

export const configRules: readonly Rule[] = [
  {
    name: 'config',
    when: { class: ['config'], mode: ['aggressive'] },
    step: 'drop',
    endings: 'own',
    apply: stripConfig,
  },
];
