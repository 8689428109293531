/**
 * Runs the tests in one more process than there are processors, since many tests wait. A process
 * runs a dozen files, one after the other, since loading the tested code takes longer than most of
 * them; a file that changes or measures process-wide state has a process of its own. A file passes
 * if all tests that it registered ran and passed, and it left nothing open; it has a time limit, so
 * that one that hangs is found and named.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readProgramOptions } from '../fixtures/program-options.ts';
import { runFiles } from './test-process.ts';
import type { FileResult, TimeLimits } from './test-process.ts';

const USAGE = `npm test                              everything that a bare machine can run
npm run test:one -- TEXT…             files with TEXT in their path, such as cli/setup or cli/recount.test.ts
npm run test:full                     x.full.test.ts, which need more than a bare machine or are among the
                                      slowest, and randomized tests with twenty seeds

--in FOLDER      another folder than dist
--left-open MS   how long a file may take to close everything after its last test (60,000)
`;

const CONCURRENCY = availableParallelism() + 1;
/** Most files per process, unless a file needs its own. */
const BATCH = 12;
/**
 * Signs in a test that it changes or replaces state of its process, or measures it. Names of
 * variables with `SVC_` are read by the longest files.
 */
const NEEDS_PROCESS = new RegExp(
  [
    String.raw`\bprocess\.(?:on|once|off|emit|exit|exitCode|abort|kill|nextTick|chdir|umask|sete?[ug]id)\b`,
    String.raw`\bprocess\.(?:cpuUsage|memoryUsage|resourceUsage|getActiveResourcesInfo)\b`,
    String.raw`\bprocess\.env(?:\.\w+|\['\w+'\]) = |\bdelete process\.env\b|\(process\.env,|\bprocess\.env\['SVC_`,
    String.raw`\bglobalThis\.|node:(?:v8|vm|worker_threads)`,
    String.raw`fixtures\/(?:corpus|growth|ledger\/kill|linear-work|postgres|server\/(?:browser|held-start|redis|stalled)|starvation)`,
  ].join('|'),
);
/** Reads from a variable how much to do: the longest files with `--full`. */
const VARIABLE_WORK = /\bprocess\.env\['SVC_[A-Z]+_(?:SEEDS|ROUNDS|TURNS)'\]/;
/** How many of the slowest files are listed. */
const SLOWEST = 10;
/**
 * Numbers of seeds with `--full`, by the variable that randomized tests read; variables already set
 * are kept.
 */
const MANY_SEEDS = { SVC_FAULT_SEEDS: '20', SVC_KILL_ROUNDS: '20', SVC_PAIR_SEEDS: '12' };

interface Options {
  readonly full: boolean;
  readonly folder: string;
  readonly only: readonly string[];
  readonly limits: TimeLimits;
}

interface Outcome {
  readonly results: readonly FileResult[];
  /** First results of files that failed and then passed alone. */
  readonly unstable: readonly FileResult[];
}

function readOptions(args: readonly string[]): Options {
  const at = args.indexOf('--only');
  const { values } = readProgramOptions(USAGE, {
    args: at === -1 ? [...args] : args.slice(0, at),
    options: {
      full: { type: 'boolean', default: false },
      in: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
      'left-open': { type: 'string', default: '60000' },
    },
  });
  return {
    full: values.full,
    folder: values.in,
    only: at === -1 ? [''] : args.slice(at + 1).map((text) => text.replace(/\.ts$/, '.js')),
    limits: {
      // Full suites have files with many thousand turns, which take six minutes even on an idle
      // machine.
      fileMs: values.full ? 3_600_000 : 600_000,
      leftOpenMs: Number(values['left-open']),
    },
  };
}

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

const hasFailed = (each: FileResult): boolean => each.problem !== undefined;
const secondsOf = ({ durationMs }: FileResult): string => (durationMs / 1000).toFixed(1);

/**
 * Returns the files by process: those that need their own first, beginning with the longest, which
 * would otherwise run by themselves at the end. The others are dealt out in turn, since
 * neighbouring files test similar things and are similarly long.
 */
function batchesOf(files: readonly string[], folder: string): string[][] {
  const matches = (file: string, pattern: RegExp): boolean =>
    pattern.test(`${file}\n${readFileSync(join(folder, file), 'utf8')}`);
  const ownProcess = files.filter((file) => matches(file, NEEDS_PROCESS));
  const longest = ownProcess.filter((file) => matches(file, VARIABLE_WORK));
  const sharedProcess = files.filter((file) => !ownProcess.includes(file));
  const size = Math.min(BATCH, Math.ceil(sharedProcess.length / (2 * CONCURRENCY)));
  const batches: string[][] = Array.from(
    { length: Math.ceil(sharedProcess.length / size) },
    () => [],
  );
  for (const [at, file] of sharedProcess.entries()) batches[at % batches.length]!.push(file);
  return [...new Set([...longest, ...ownProcess])].map((file) => [file]).concat(batches);
}

async function runAll(
  batches: readonly (readonly string[])[],
  concurrency: number,
  { full, folder, limits }: Options,
  sourceMaps: boolean,
): Promise<FileResult[]> {
  const env = { ...(full && MANY_SEEDS), ...process.env, FORCE_COLOR: '0', NO_COLOR: '1' };
  const waiting = [...batches];
  const results: FileResult[] = [];
  const work = async (): Promise<void> => {
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      const paths = batch.map((file) => join(folder, file));
      const done = await runFiles(paths, { env, limits, sourceMaps });
      waiting.push(...done.withoutResult.map((path) => [relative(folder, path)]));
      for (const result of done.results) {
        const file = relative(folder, result.file);
        results.push({ ...result, file });
        const mark = hasFailed(result) ? 'FAIL' : 'ok  ';
        process.stdout.write(`${mark} ${file} (${result.passed} passed, ${secondsOf(result)} s)\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

/**
 * Runs failed files once more, alone, since a busy machine fails tests that an idle one passes.
 * The output of the first run is still shown, and the last lines name and count these files.
 */
async function runAgain(results: readonly FileResult[], options: Options): Promise<Outcome> {
  const bad = results.filter(hasFailed);
  if (bad.length === 0) return { results, unstable: [] };
  process.stdout.write('\nonce more, alone:\n');
  const files = bad.map(({ file }) => file);
  const again = await runAll(
    files.map((file) => [file]),
    1,
    options,
    true,
  );
  const good = results.filter((each) => !hasFailed(each));
  const passedNow = new Set(again.filter((each) => !hasFailed(each)).map(({ file }) => file));
  return {
    results: [...good, ...again],
    unstable: bad.filter(({ file }) => passedNow.has(file)),
  };
}

function report({ results, unstable }: Outcome, leftOut: readonly string[]): number {
  const bad = results.filter(hasFailed);
  for (const { file, problem, output } of unstable)
    process.stdout.write(`\n── ${file}, the first time: ${problem}\n${output}\n`);
  for (const { file, problem, output } of bad)
    process.stdout.write(`\n── ${file}: ${problem}\n${output}\n`);
  const sum = (name: 'passed' | 'failed'): number =>
    results.reduce((total, each) => total + each[name], 0);
  const slowest = results.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST);
  const lines = [
    '',
    ...(results.length > SLOWEST ? [`slowest ${SLOWEST} of ${results.length} files:`] : []),
    ...(results.length > SLOWEST
      ? slowest.map((each) => `  ${secondsOf(each)} s ${each.file}`)
      : []),
    ...leftOut.map((file) => `left out (npm run test:full runs it): ${file}`),
    ...(unstable.length > 0 ? [`passed only on the second attempt: ${unstable.length}`] : []),
    ...unstable.map(({ file, problem }) => `  ${file}: ${problem}`),
    ...(bad.length > 0 ? [`red: ${bad.length}`] : []),
    ...bad.map(({ file, problem }) => `  ${file}: ${problem}`),
    `${sum('passed')} passed, ${sum('failed')} failed`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return bad.length === 0 && results.length > 0 ? 0 : 1;
}

const options = readOptions(process.argv.slice(2));
const { folder, full, only } = options;
const all = testFiles(folder)
  .map((file) => relative(folder, file))
  .filter((file) => only.some((text) => `/${file}`.includes(text)));
if (all.length === 0) process.stderr.write(`no test file has ${only.join(' or ')} in its path\n`);
const isFull = (file: string): boolean => file.endsWith('.full.test.js');
const isRandomized = (file: string): boolean => {
  const text = readFileSync(join(folder, file), 'utf8');
  return Object.keys(MANY_SEEDS).some((name) => text.includes(`process.env['${name}']`));
};
const chosen = full
  ? all.filter((file) => isFull(file) || isRandomized(file))
  : all.filter((file) => !isFull(file));
const leftOut = full ? [] : all.filter(isFull);
// A run of named files uses source maps at once, a complete run only for files that it runs again.
const isNamed = !only.includes('');
const results = await runAll(batchesOf(chosen, folder), CONCURRENCY, options, isNamed);
process.exitCode = report(await runAgain(results, options), leftOut);
