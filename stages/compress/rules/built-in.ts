/**
 * The built-in rules. In `hybrid` mode, tool output that reads like prose is only decoded or, if it
 * is a log, reduced around its failures; code and configuration files are changed only in
 * `aggressive` mode.
 */
import { dropBlobs } from './blob/drop-blobs.ts';
import { stripCode } from './code/strip-code.ts';
import { stripConfig } from './config/strip-config.ts';
import { shrinkDiff } from './diff/shrink-diff.ts';
import { groupGrep } from './grep/group-grep.ts';
import { referToSameHits } from './grep/same-hits.ts';
import { compressJson } from './json/encode.ts';
import { foldListedRepeats, foldListing } from './listing/fold-listing.ts';
import { cleanLog } from './log/clean.ts';
import { reduceLog } from './log/reduce.ts';
import { extractNarrative } from './narrative/extract.ts';
import { isVerbatimProse } from './narrative/verbatim-prose.ts';
import { rewrite, type Rewriter } from './rewrite.ts';
import type { Rule } from './rule.ts';
import { packStack } from './trace/pack-stack.ts';
import { shortenTraces } from './trace/shorten-traces.ts';

export const BUILT_IN_RULES: readonly Rule[] = [
  {
    name: 'blob',
    when: { class: ['blob'], mode: ['aggressive'] },
    step: 'drop',
    endings: 'own',
    apply: dropBlobs,
  },
  {
    name: 'code',
    when: { class: ['code'], mode: ['aggressive'] },
    step: 'drop',
    endings: 'own',
    apply: stripCode,
  },
  {
    name: 'config',
    when: { class: ['config'], mode: ['aggressive'] },
    step: 'drop',
    endings: 'own',
    apply: stripConfig,
  },
  { name: 'diff', when: { class: ['diff'] }, step: 'drop', endings: 'own', apply: shrinkDiff },
  // Linter output looks like search hits, but may end in lines that a search never prints.
  {
    name: 'grep',
    when: { class: ['grep'] },
    step: 'encode',
    endings: 'checked-unless-expected',
    apply: groupGrep,
  },
  {
    name: 'same-hits',
    when: { class: ['grep'] },
    step: 'encode',
    endings: 'checked-unless-expected',
    apply: referToSameHits,
  },
  { name: 'json', when: { class: ['json'] }, step: 'encode', endings: 'own', apply: compressJson },
  // Output of copying programs looks like a file listing, but has an end that a listing lacks.
  {
    name: 'listing',
    when: { class: ['listing'] },
    step: 'encode',
    endings: 'checked-unless-expected',
    apply: foldListing,
  },
  {
    name: 'narrative',
    when: { class: ['narrative'], unless: isVerbatimProse },
    step: 'drop',
    endings: 'checked',
    apply: extractNarrative,
  },
  // After the sentence rule, which itself drops duplicates if it shortens the text at all.
  {
    name: 'repeats',
    when: { class: ['listing', 'narrative'], unless: isVerbatimProse },
    step: 'encode',
    endings: 'own',
    apply: (text, context) =>
      context.classification.kind === 'listing' || context.foldsProse === true
        ? foldListedRepeats(text, context)
        : undefined,
  },
  // Traces also occur in logs, and come first: the log rule measures the rest against its budget.
  {
    name: 'trace',
    when: { class: ['trace', 'log'] },
    step: 'drop',
    endings: 'own',
    apply: shortenTraces,
  },
  {
    name: 'frames',
    when: { class: ['trace', 'log'] },
    step: 'encode',
    endings: 'checked',
    apply: packStack,
  },
  {
    name: 'log-clean',
    when: { class: ['log', 'trace'] },
    step: 'clean',
    endings: 'own',
    apply: cleanLog,
  },
  { name: 'log-reduce', when: { class: ['log'] }, step: 'drop', endings: 'own', apply: reduceLog },
];

/** The rewriter of the built-in rules. */
export const builtIn: Rewriter = rewrite(BUILT_IN_RULES);
