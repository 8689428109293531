/**
 * The rules that come with the program. In `hybrid`, output of tools counts as narrative for
 * encodings that can be decoded and for logs reduced around their failures; code and
 * configuration files are touched in `aggressive` only.
 */
import { dropBlobs } from './blob/drop-blobs.ts';
import { stripCode } from './code/strip-code.ts';
import { stripConfig } from './config/strip-config.ts';
import { shrinkDiff } from './diff/shrink-diff.ts';
import { groupGrep } from './grep/group-grep.ts';
import { nameSameHits } from './grep/same-hits.ts';
import { compressJson } from './json/encode.ts';
import { foldListedRepeats, foldListing } from './listing/fold-listing.ts';
import { cleanLog } from './log/clean.ts';
import { reduceLog } from './log/reduce.ts';
import { extractNarrative } from './narrative/extract.ts';
import { isReadToTheLetter } from './narrative/to-the-letter.ts';
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
  // Linters print what looks like hits, at whose end something may stand that a search never prints.
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
    apply: nameSameHits,
  },
  { name: 'json', when: { class: ['json'] }, step: 'encode', endings: 'own', apply: compressJson },
  // Programs that copy print what looks like a list of files, with an end that a listing does not have.
  {
    name: 'listing',
    when: { class: ['listing'] },
    step: 'encode',
    endings: 'checked-unless-expected',
    apply: foldListing,
  },
  {
    name: 'narrative',
    when: { class: ['narrative'], unless: isReadToTheLetter },
    step: 'drop',
    endings: 'checked',
    apply: extractNarrative,
  },
  // Behind the sentences, which leave copies out by themselves where they shorten at all.
  {
    name: 'repeats',
    when: { class: ['listing', 'narrative'], unless: isReadToTheLetter },
    step: 'encode',
    endings: 'own',
    apply: (text, context) =>
      context.classification.kind === 'listing' || context.foldsProse === true
        ? foldListedRepeats(text, context)
        : undefined,
  },
  // Stack traces, which stand in logs too, come before logs: what a log keeps is measured against its budget last.
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

/** Compresses by the built-in rules. */
export const builtIn: Rewriter = rewrite(BUILT_IN_RULES);
