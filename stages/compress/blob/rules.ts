/** Rules for blobs: text that is all base64 or hex. */
import { dropBlobs } from './drop-blobs.ts';
import type { Rule } from '../rule.ts';

export const blobRules: readonly Rule[] = [
  {
    name: 'blob',
    when: { class: ['blob'], mode: ['aggressive'] },
    step: 'drop',
    endings: 'own',
    apply: dropBlobs,
  },
];
