/**
 * The rules that come with the program. In `hybrid`, output of tools counts as narrative for
 * encodings that can be decoded and for logs reduced around their failures; code and
 * configuration files are touched in `aggressive` only.
 */
import { blobRules } from './blob/rules.ts';
import { codeRules } from './code/rules.ts';
import { configRules } from './config/rules.ts';
import { diffRules } from './diff/rules.ts';
import { grepRules } from './grep/rules.ts';
import { jsonRules } from './json/rules.ts';
import { listingRules } from './listing/rules.ts';
import { logRules } from './log/rules.ts';
import { narrativeRules } from './narrative/rules.ts';
import { traceRules } from './trace/rules.ts';
import { rewrite, type Rewriter } from './rewrite.ts';
import type { Rule } from './rule.ts';

/** Stack traces come before logs: what a log keeps is measured against its budget last. */
export const BUILT_IN_RULES: readonly Rule[] = [
  ...blobRules,
  ...codeRules,
  ...configRules,
  ...diffRules,
  ...grepRules,
  ...jsonRules,
  ...listingRules,
  ...narrativeRules,
  ...traceRules,
  ...logRules,
];

/** Compresses by the built-in rules. */
export const builtIn: Rewriter = rewrite(BUILT_IN_RULES);
