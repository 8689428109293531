/** `vault.inject_*`: how much of the user's files may be added to a request. */
import { between, count, flag } from '../settings/kind.ts';
import { setting } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';
import type { SectionOf } from '../settings/slice.ts';

export const inject = slice({
  /** Tokens by the fixed estimator; a whole conversation gets at most four times as many. */
  budgetTokens: setting('vault.inject_budget', {
    type: count('tokens'),
    default: 4000,
    env: ['SVC_INJECT_BUDGET'],
    about: 'Maximum number of tokens added to one message.',
  }),
  topK: setting('vault.inject_top_k', {
    type: count('blocks'),
    default: 5,
    env: ['SVC_INJECT_TOP_K'],
    about: 'Maximum number of blocks added to one message.',
  }),
  minScore: setting('vault.inject_min_score', {
    type: between(0, 1_000_000, 'a BM25 score'),
    default: 2,
    env: ['SVC_INJECT_MIN_SCORE'],
    about: 'BM25 score below which a block is not added, however well it fits the question.',
  }),
  /** Compresses added blocks if that makes them smaller. */
  capsules: setting('vault.capsules', {
    type: flag,
    default: false,
    env: ['SVC_CAPSULE_BUILDER'],
    about: 'Shorten long added blocks before they are sent.',
  }),
  capsuleMinChars: setting('vault.capsule_min_chars', {
    type: count('characters'),
    default: 400,
    env: ['SVC_CAPSULE_MIN_CHARS'],
    about: 'Minimum length in characters of an added block that is shortened.',
  }),
});

/** The stage's configuration; `enabled` is `vault.enabled`. */
export type InjectConfig = SectionOf<typeof inject> & { readonly enabled: boolean };
