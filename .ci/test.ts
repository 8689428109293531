/**
 * Runs the tests, in one process more at a time than there are processors, since many tests wait.
 * A process runs a few files, one after the other, since to load what they test takes longer than
 * most of them; one that reads or changes what belongs to a whole process has its own. A file is green when all the tests that it
 * registered ran and passed, and nothing of it was left open; it has a time limit, so that one that
 * hangs is found and named.
 *
 * `node dist/.ci/test.js [--full] [--in FOLDER] [--only TEXT…]`: TEXT is a part of the path below
 * the project, such as `cli/setup` or `cli/recount.test.ts`; `x.test.js` runs always;
 * `x.full.test.js` needs more than a bare machine has, or is among the slowest, and runs with `--full`.
 * Tests that draw lots have one throw; with `--full` those run again with twenty. `--in` is another
 * folder than `dist`. `--left-open MS` is the time for a file to leave nothing open after its last
 * test (60,000).
 */
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runFiles } from './test-process.ts';
import type { FileResult, Patience } from './test-process.ts';

const CONCURRENCY = availableParallelism() + 1;
/** Most files a process, where they need none of their own. */
const BATCH = 8;
/** What a test says, or its path, that reads or changes something of its whole process, starts a program or measures. */
const NEEDS_PROCESS =
  /^cli\/|\bprocess\.|\bglobalThis\.|node:(?:child_process|v8|vm|worker_threads)|fixtures\/(?:cli\/|corpus|growth|ledger\/kill|linear-work|postgres|proxy-process|server\/(?:browser|held-start|redis|stalled)|starvation)/;
/** How many of the slowest files are named. */
const SLOWEST = 10;
/** How often tests that draw lots do so with `--full`, by the variables that they read; what is set already stays. */
const MANY_THROWS = { SVC_FAULT_SEEDS: '20', SVC_KILL_ROUNDS: '20', SVC_PAIR_SEEDS: '12' };

interface Options {
  readonly full: boolean;
  readonly folder: string;
  readonly only: readonly string[];
  readonly patience: Patience;
}

interface Outcome {
  readonly results: readonly FileResult[];
  /** First results of files that failed and then passed alone. */
  readonly unsteady: readonly FileResult[];
}

function readOptions(args: readonly string[]): Options {
  const at = args.indexOf('--only');
  const { values } = parseArgs({
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
    patience: {
      // Full suites have files of many thousand turns, which take six minutes on a machine of their own.
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

const isBad = (each: FileResult): boolean => each.problem !== undefined;
const secondsOf = ({ durationMs }: FileResult): string => (durationMs / 1000).toFixed(1);

/**
 * The files by process: those that need their own first, as the longest are among them. The others
 * are dealt out like cards: neighbours are about the same thing, and long ones lie together.
 */
function batchesOf(files: readonly string[], folder: string): string[][] {
  const isAlone = (file: string): boolean =>
    NEEDS_PROCESS.test(`${file}\n${readFileSync(join(folder, file), 'utf8')}`);
  const together = files.filter((file) => !isAlone(file));
  const size = Math.min(BATCH, Math.ceil(together.length / (2 * CONCURRENCY)));
  const batches: string[][] = Array.from({ length: Math.ceil(together.length / size) }, () => []);
  for (const [at, file] of together.entries()) batches[at % batches.length]!.push(file);
  return [...files.filter(isAlone).map((file) => [file]), ...batches];
}

async function runAll(
  batches: readonly (readonly string[])[],
  concurrency: number,
  { full, folder, patience }: Options,
  sourceMaps: boolean,
): Promise<FileResult[]> {
  const env = { ...(full && MANY_THROWS), ...process.env, FORCE_COLOR: '0', NO_COLOR: '1' };
  const waiting = [...batches];
  const results: FileResult[] = [];
  const work = async (): Promise<void> => {
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      const paths = batch.map((file) => join(folder, file));
      const done = await runFiles(paths, { env, patience, sourceMaps });
      waiting.push(...done.left.map((path) => [relative(folder, path)]));
      for (const result of done.results) {
        const file = relative(folder, result.file);
        results.push({ ...result, file });
        const mark = isBad(result) ? 'FAIL' : 'ok  ';
        process.stdout.write(`${mark} ${file} (${result.passed} passed, ${secondsOf(result)} s)\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

/**
 * A starved machine fails what a quiet one passes, so a file that failed runs once more, alone.
 * What it printed the first time is shown all the same, and the last lines name and count it.
 */
async function runAgain(results: readonly FileResult[], options: Options): Promise<Outcome> {
  const bad = results.filter(isBad);
  if (bad.length === 0) return { results, unsteady: [] };
  process.stdout.write('\nonce more, alone:\n');
  const files = bad.map(({ file }) => file);
  const again = await runAll(
    files.map((file) => [file]),
    1,
    options,
    true,
  );
  const good = results.filter((each) => !isBad(each));
  const passedNow = new Set(again.filter((each) => !isBad(each)).map(({ file }) => file));
  return {
    results: [...good, ...again],
    unsteady: bad.filter(({ file }) => passedNow.has(file)),
  };
}

function report({ results, unsteady }: Outcome, leftOut: readonly string[]): number {
  const bad = results.filter(isBad);
  for (const { file, problem, output } of unsteady)
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
    ...(unsteady.length > 0 ? [`passed only at the second try: ${unsteady.length}`] : []),
    ...unsteady.map(({ file, problem }) => `  ${file}: ${problem}`),
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
const drawsLots = (file: string): boolean => {
  const text = readFileSync(join(folder, file), 'utf8');
  return Object.keys(MANY_THROWS).some((name) => text.includes(`process.env['${name}']`));
};
const chosen = full
  ? all.filter((file) => isFull(file) || drawsLots(file))
  : all.filter((file) => !isFull(file));
const leftOut = full ? [] : all.filter(isFull);
// A run of named files shows lines of the sources at once, a whole run only for those that it runs again.
const isNamed = !only.includes('');
const results = await runAll(batchesOf(chosen, folder), CONCURRENCY, options, isNamed);
process.exitCode = report(await runAgain(results, options), leftOut);
