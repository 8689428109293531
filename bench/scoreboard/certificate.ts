/** Promises about `svc certify`, and proof that its verdict can fail. */
import type { Row } from './row.ts';

export const CERTIFICATE: readonly Row[] = [
  {
    id: 'certify-retention',
    isSlow: true,
    threat: 'A line that the model needed and could no longer read',
    required: 'the certificate turns red, for svc and for any other tool',
    file: 'cli/certify/sources.test.ts',
    test: 'another tool is judged by the same promises, and each of them can be broken',
    sabotage: {
      file: 'server/certify/pairs.ts',
      before:
        "if (!read.has(line, turn.before.texts[block] ?? '')) note('retention', block, line);",
      after: '',
    },
  },
  {
    id: 'certify-cost',
    threat: 'A session that becomes dearer, and figures that promise too much',
    required: 'each turns the certificate red by itself',
    file: 'server/certify/certify.test.ts',
    test: 'a claim above the recount, and a session that came out dearer, are each red alone',
    sabotage: {
      file: 'server/certify/costs.ts',
      before: '.filter(({ before, after }) => after > before * DEARER)',
      after: '.filter(({ before, after }) => after < 0 && before > 0)',
    },
  },
  {
    id: 'learned-recipe',
    isSlow: true,
    threat: 'A recipe that was made by a program',
    required: 'it is kept only if no session loses a line by it',
    file: 'cli/recipe/learn.test.ts',
    test: 'a shape of which a session quotes a line is given up',
    sabotage: {
      file: 'server/recipes/learn.ts',
      before: 'lost: broken.filter((one) => !without.has(placeOf(one))) };',
      after: 'lost: broken.filter((one) => without.has(placeOf(one))) };',
    },
  },
];
