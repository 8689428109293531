/**
 * `npm run bench:quality`: what compression saves and what it keeps, on a labelled corpus
 * where there is one and on installed packages and this repository in any case. Prints a
 * table, or JSON with `--json`. Savings are in tokens of a public tokenizer, not in ours.
 */
import { pathToFileURL } from 'node:url';
import Table from 'cli-table3';
import { projectRoot } from '../../fixtures/paths.ts';
import { loadCodeTools } from '../../stages/compress/code-tools.ts';
import type { Mode } from '../../stages/compress/compressor.ts';
import { loadTokenCounter, type CountTokens } from '../../stages/model/count-tokens.ts';
import { labelledSamples, measureClasses, type ClassAccuracy } from './classes.ts';
import { findCorpus } from './corpus.ts';
import { measureEncodings, type EncodingResult } from './encodings.ts';
import { measureLogs, readLogs, type LogResult } from './logs.ts';
import {
  measureNarrative,
  readLaterQuestions,
  readQuestions,
  type NarrativeResult,
} from './narrative.ts';
import { measureSpeed, type SpeedResult } from './speed.ts';
import {
  measureTranscript,
  readTranscripts,
  summarise,
  type SourceSummary,
  type TranscriptResult,
} from './transcripts.ts';

/** Everything that was measured; parts that need a corpus are empty without one. */
export interface QualityReport {
  readonly corpus: boolean;
  readonly classes: readonly ClassAccuracy[];
  readonly encodings: readonly EncodingResult[];
  readonly logs: readonly LogResult[];
  readonly narrative: readonly NarrativeResult[];
  readonly transcripts: readonly TranscriptResult[];
  readonly sources: readonly SourceSummary[];
  readonly speed: SpeedResult;
}

const SETTINGS = { maxChars: 120, thresholdTokens: 4500, logBudgetTokens: 3500 } as const;

/** Measures all there is to measure under `root`. Takes about a minute with a corpus. */
export async function measureQuality(
  root: string,
  corpus: string | undefined,
): Promise<QualityReport> {
  const count = remembered(await loadTokenCounter('claude'));
  const commentLines = await loadCodeTools([
    'py',
    'js',
    'ts',
    'tsx',
    'cpp',
    'sh',
    'css',
    'go',
    'rs',
    'java',
    'rb',
  ]);
  const samples = labelledSamples(root, corpus);
  const modes: readonly Mode[] = ['hybrid', 'aggressive'];
  const transcripts = corpus === undefined ? [] : readTranscripts(corpus);
  const played = modes.flatMap((mode) =>
    transcripts.map((transcript) =>
      measureTranscript(
        transcript,
        { ...SETTINGS, mode, ...(mode === 'aggressive' ? { commentLines } : {}) },
        count,
      ),
    ),
  );
  return {
    corpus: corpus !== undefined,
    classes: measureClasses(samples),
    encodings: measureEncodings(root, corpus, count, commentLines),
    logs:
      corpus === undefined
        ? []
        : [3500, 2000].map((budget) => measureLogs(readLogs(corpus), budget, count)),
    narrative:
      corpus === undefined
        ? []
        : modes.map((mode) =>
            measureNarrative(readQuestions(corpus), readLaterQuestions(corpus), mode, count),
          ),
    transcripts: played,
    sources: summarise(played),
    speed: measureSpeed(samples.map((sample) => sample.text)),
  };
}

/** Counting is most of the time of a run, and texts come again in every turn. */
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

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const made = new Table({ head: [...head], style: { head: [], border: [] } });
  made.push(...rows.map((row) => [...row]));
  return made.toString();
}

/** The report as tables for a terminal. */
export function printQuality(report: QualityReport): string {
  const { classes, encodings, logs, narrative, sources, speed } = report;
  const parts = [
    report.corpus ? '' : 'No corpus found (SVC_CORPUS): only what installed packages can show.',
    'Classifier',
    table(
      ['class', 'samples', 'right'],
      classes.map((row) => [row.kind, row.samples, percent(row.accuracy)]),
    ),
    'Encodings (lost = texts that miss something they must keep)',
    table(
      ['what', 'texts', 'unchanged', 'tokens saved', 'lost'],
      encodings.map((row) => [row.name, row.texts, row.unchanged, percent(row.saved), row.broken]),
    ),
    'CI failure logs',
    table(
      [
        'budget',
        'logs',
        'critical signals found',
        'recall',
        '95% interval',
        'all signals',
        'saved',
      ],
      logs.map((row) => [
        row.budgetTokens,
        row.logs,
        `${row.criticalFound} of ${row.critical}`,
        percent(row.recall),
        row.interval.map(percent).join('–'),
        percent(row.recallOfAll),
        percent(row.saved),
      ]),
    ),
    'Narrative with a question',
    table(
      ['mode', 'texts', 'saved', 'answer kept', 'answer to a later question kept'],
      narrative.map((row) => [
        row.mode,
        row.cases,
        percent(row.saved),
        percent(row.sameQuery),
        `${percent(row.laterQuery)} of ${row.laterCases}`,
      ]),
    ),
    'Transcripts that reach the threshold: input cost in a simulated prompt cache, 1 = without us',
    table(
      [
        'mode',
        'source',
        'transcripts',
        'tokens saved',
        'net cost, median',
        'worst',
        'unstable turns',
      ],
      sources.map((row) => [
        row.mode,
        row.source,
        row.transcripts,
        percent(row.saved),
        row.medianNet.toFixed(3),
        row.worstNet.toFixed(3),
        row.unstableTurns,
      ]),
    ),
    `Speed: ${speed.p50Ms.toFixed(1)} ms p50, ${speed.p95Ms.toFixed(1)} ms p95 per 10,000 tokens over ${speed.texts} texts; a line of 1 MB ${speed.longLineMs.toFixed(0)} ms`,
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** Runs the measures and writes them to standard output. */
export async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const report = await measureQuality(projectRoot, findCorpus(projectRoot, env));
  const text = args.includes('--json') ? JSON.stringify(report, null, 2) : printQuality(report);
  process.stdout.write(`${text}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await main(process.argv.slice(2), process.env);
