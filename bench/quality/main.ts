/**
 * `npm run bench:quality`: measures what compression saves and what it preserves, on installed
 * packages and this repository, and on a labelled corpus if there is one. Prints a table, and every
 * bar next to its figure. Savings are in tokens of a public tokenizer rather than our estimate.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { verdictText } from '../report.ts';
import { projectRoot } from '../../fixtures/paths.ts';
import { readProgramOptions, refuseOptions } from '../../fixtures/program-options.ts';
import { bundledRecipes } from '../../server/bundled-recipes.ts';
import { toRecipeSet } from '../../stages/compress/recipe/set.ts';
import { CODE_EXTENSIONS } from '../../stages/compress/rules/code/code-tools.ts';
import { loadCodeTools } from '../../fixtures/compress/texts.ts';
import type { CommentLines, Mode } from '../../stages/compress/rules/rule.ts';
import type { Rewriter } from '../../stages/compress/rules/rewrite.ts';
import { loadTokenCounter, type CountTokens } from '../../stages/model/count-tokens.ts';
import { measureMarked, summariseMarked } from './breakpoints.ts';
import { labelledSamples, measureClasses } from './classes.ts';
import { loadCodeReader } from './code-tokens.ts';
import { findCorpus } from './corpus.ts';
import { measureEncodings } from './encodings.ts';
import { measureForgetting, summariseForgetting, type ForgettingSummary } from './forgetting.ts';
import { measureFirstSight } from './first-sight.ts';
import { strangeLines } from './kept-lines.ts';
import { judgeQuality } from './judge.ts';
import { measureLogs, readLogs } from './logs.ts';
import {
  measureNarrative,
  readLaterQuestions,
  readQuestions,
  type NarrativeResult,
} from './narrative.ts';
import { printQuality } from './print.ts';
import type { KeptLines, QualityReport } from './report.ts';
import { measureSessions, printSessions, variantsOf } from './sessions.ts';
import { bundledRewriter, measureRecipes } from './recipes.ts';
import { measureSpeed } from './speed.ts';
import {
  measureTranscript,
  readTranscripts,
  summarise,
  toBlocks,
  type TranscriptResult,
} from './transcripts.ts';

const USAGE = `npm run bench:quality [-- --json]
npm run bench:quality -- --sessions DIR   session files of coding agents (a folder, or one file) instead,
                                          without bars

--cold-trim PAUSE       also with compression.cold_trim after PAUSE, such as 10m
--long-results TOKENS   also with compression.long_results_tokens
--check-prefix          also that each request begins with the bytes of the one before
--json                  JSON in place of tables

Exit code 0 if every bar is met, 1 if one is missed, 2 for a wrong command line.
`;

const MODES: readonly Mode[] = ['hybrid', 'aggressive'];
const BUDGETS = [3500, 2000];
const SETTINGS = { maxChars: 120, thresholdTokens: 4500, logBudgetTokens: 3500 } as const;

/** Runs all measures available under `root`. Takes about a minute with a corpus. */
async function measureQuality(root: string, corpus: string | undefined): Promise<QualityReport> {
  const count = remembered(await loadTokenCounter('claude'));
  const commentLines = await loadCodeTools(CODE_EXTENSIONS);
  const readCode = await loadCodeReader();
  const samples = labelledSamples(root, corpus);
  const rewriter = bundledRewriter();
  const transcripts =
    corpus === undefined ? [] : measureAll(corpus, { commentLines, rewriter }, count);
  return {
    corpus: corpus !== undefined,
    classes: measureClasses(samples),
    encodings: measureEncodings(root, corpus, { count, commentLines, readCode }),
    logs:
      corpus === undefined
        ? []
        : BUDGETS.map((budget) => measureLogs(readLogs(corpus), budget, count)),
    narrative: corpus === undefined ? [] : measureQuestions(corpus, count),
    transcripts,
    sources: summarise(transcripts),
    marked: corpus === undefined ? [] : summariseMarked(measureMarkers(corpus, count)),
    forgetting: corpus === undefined ? undefined : measureColdMoments(corpus, rewriter, count),
    keptLines: corpus === undefined ? undefined : countStrange(corpus, { commentLines, rewriter }),
    recipes:
      corpus === undefined
        ? undefined
        : measureRecipes(readTranscripts(corpus), { ...SETTINGS, mode: 'hybrid' }, count),
    speed: measureSpeed(samples.map((sample) => sample.text)),
    firstSight: await measureFirstSight(root),
  };
}

/** The tools with which a default proxy rewrites. */
interface Tools {
  readonly commentLines: CommentLines;
  readonly rewriter: Rewriter;
}

function measureAll(corpus: string, tools: Tools, count: CountTokens): readonly TranscriptResult[] {
  return MODES.flatMap((mode) => {
    const options = optionsOf(mode, tools);
    return readTranscripts(corpus).map((transcript) =>
      measureTranscript(transcript, options, count),
    );
  });
}

function optionsOf(mode: Mode, { commentLines, rewriter }: Tools) {
  return { ...SETTINGS, mode, rewriter, ...(mode === 'aggressive' ? { commentLines } : {}) };
}

function measureColdMoments(
  corpus: string,
  rewriter: Rewriter,
  count: CountTokens,
): ForgettingSummary | undefined {
  const options = { ...SETTINGS, mode: 'hybrid', rewriter } as const;
  return summariseForgetting(
    readTranscripts(corpus).map((transcript) => measureForgetting(transcript, options, count)),
  );
}

function measureMarkers(corpus: string, count: CountTokens) {
  return readTranscripts(corpus).map((transcript) => measureMarked(transcript, count));
}

function countStrange(corpus: string, tools: Tools): KeptLines {
  const counts = { kept: 0, strange: 0 };
  for (const mode of MODES) {
    const options = optionsOf(mode, tools);
    for (const transcript of readTranscripts(corpus)) {
      const { kept, strange } = strangeLines(toBlocks(transcript), options);
      counts.kept += kept;
      counts.strange += strange.length;
    }
  }
  return counts;
}

function measureQuestions(corpus: string, count: CountTokens): readonly NarrativeResult[] {
  const questions = readQuestions(corpus);
  const later = readLaterQuestions(corpus);
  return MODES.map((mode) => measureNarrative(questions, later, mode, count));
}

/** Counting takes most of the time, and texts recur in every turn. */
function remembered(count: CountTokens): CountTokens {
  const known = new Map<string, number>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const tokens = count(text);
    known.set(text, tokens);
    return tokens;
  };
}

/** Runs and judges the measures, and prints both. Sets exit code 1 if a bar is missed. */
async function main(): Promise<void> {
  const { values } = readProgramOptions(USAGE, {
    options: {
      json: { type: 'boolean', default: false },
      sessions: { type: 'string' },
      'cold-trim': { type: 'string' },
      'long-results': { type: 'string' },
      'check-prefix': { type: 'boolean', default: false },
    },
  });
  const print = (data: object, text: () => string): void =>
    void process.stdout.write(`${values.json ? JSON.stringify(data, null, 2) : text()}\n`);
  if (values.sessions !== undefined) {
    if (!existsSync(values.sessions)) refuseOptions(USAGE, `${values.sessions} does not exist`);
    const results = await measureSessions(
      resolve(values.sessions),
      MODES,
      variantsOf(values['cold-trim'], values['long-results']),
      { ...SETTINGS, recipes: toRecipeSet(bundledRecipes(), false) },
      values['check-prefix'],
    );
    print(results, () => printSessions(results));
    return;
  }
  const report = await measureQuality(projectRoot, findCorpus(process.env));
  const verdicts = judgeQuality(report);
  print({ ...report, verdicts }, () =>
    [printQuality(report), 'Bars', ...verdicts.map(verdictText)].join('\n'),
  );
  process.exitCode = verdicts.every(({ met }) => met) ? 0 : 1;
}

await main();
