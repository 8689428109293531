/** Promises of svc about bytes, thinking blocks and money. */
import type { Row } from './row.ts';

export const PROMISES: readonly Row[] = [
  {
    id: 'bound-thinking',
    isSlow: true,
    threat: 'A setting changed in a conversation with signed thinking',
    required: 'everything before a thinking block is sent as it was before',
    file: 'server/tests/conversations/hostile-operator.test.ts',
    test: 'turns survive an operator who switches every setting',
    sabotage: {
      file: 'stages/conversations/as-sent.ts',
      before: 'if (!rules.isBound)',
      after: 'if (rules.isBound)',
    },
  },
  {
    id: 'memory-after-crash',
    threat: 'A crash while the memory of conversations is written',
    required: 'only the line that was cut short is lost',
    file: 'stages/conversations/store-file.test.ts',
    test: 'loses only a truncated line, not the next one',
    sabotage: {
      file: 'stages/conversations/store-file.ts',
      before: 'if (read === undefined) continue;',
      after: 'if (read === undefined) break;',
    },
  },
  {
    id: 'append-only',
    threat: 'A conversation whose beginning changes from turn to turn',
    required: 'hashes continue from the turn before, and always match its own blocks',
    file: 'stages/conversations/block-hashes.test.ts',
    test: 'keeps the hashes of the blocks correct through 200 random changes of a conversation',
    sabotage: {
      file: 'stages/conversations/block-hashes.ts',
      before: 'this.#chain = isWhole ? before.#chain : before.#chain.slice(0, same + 1);',
      after: 'this.#chain = before.#chain;',
    },
  },
  {
    id: 'budget-race',
    threat: 'Many concurrent requests on the last dollar',
    required: 'together they cannot exceed a limit',
    file: 'stages/budget/guard.test.ts',
    test: 'counts reservations, so that concurrent requests cannot exceed a limit together',
    sabotage: {
      file: 'stages/budget/guard.ts',
      before: 'used + estimate > limit ||',
      after: 'used > limit ||',
    },
  },
  {
    id: 'key-limits',
    isSlow: true,
    threat: 'A key limited to some models that requests others',
    required: '403 with what it may use, and no provider gets the request',
    file: 'server/tests/money/key-limits.test.ts',
    test: 'models that a key may not use are 403 with the allowed ones, and reach no provider',
    sabotage: {
      file: 'stages/route/permitted.ts',
      before: 'return globs.some((glob) => isGlobMatch(glob.toLowerCase(), name.toLowerCase()));',
      after:
        'return globs.some((glob) => isGlobMatch(name.toLowerCase(), name.toLowerCase()) || glob === name);',
    },
  },
  {
    id: 'silently-cheap',
    isSlow: true,
    threat: 'An answer in a tier, unit or model without a known price',
    required:
      'the request is unpriced, never cheap: a thousand shapes of usage cost what the published tables say',
    file: 'server/tests/money/bill-shapes.test.ts',
    test: 'shapes of usage are priced as in the published tables',
    sabotage: {
      file: 'stages/ledger/prices/bill.ts',
      before: 'if (one === undefined) return `tier ${tier}`;',
      after: 'if (one === undefined) return factor;',
    },
  },
  {
    id: 'recipes-keep-failures',
    isSlow: true,
    threat: 'A recipe that drops the line that names the failure',
    required: 'no bundled recipe does',
    file: 'server/recipes/harmless.test.ts',
    test: 'hybrid: endings and required lines are kept verbatim',
    sabotage: {
      file: 'stages/compress/recipe/to-rule.ts',
      before: '...(recipe.mustKeep.length > 0 && { keeps: anyPattern(recipe.mustKeep) }),',
      after: '',
    },
  },
];
