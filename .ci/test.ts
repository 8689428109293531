/**
 * Runs the tests: every file in a process of its own, two at a time, each with a
 * time limit, so that one that hangs or leaves something open is found and named.
 *
 * `node dist/.ci/test.js [--full] [--only TEXT…]`: TEXT is a part of the path below the project, such
 * as `cli/setup` or `cli/recount.test.ts`; `x.test.js` runs always;
 * `x.full.test.js` needs more than a bare machine has and runs with `--full`; `x.timing.test.js`
 * measures time and runs alone, behind all others. Tests that draw lots have one throw; with
 * `--full` those run again with twenty.
 */
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('..', import.meta.url));
const CONCURRENCY = 2;
const FILE_TIMEOUT_MS = 600_000;
/** How often tests that draw lots do so with `--full`, by the variables that they read; what is set already stays. */
const MANY_THROWS = { SVC_FAULT_SEEDS: '20', SVC_KILL_ROUNDS: '20', SVC_PAIR_SEEDS: '12' };

interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly output: string;
  readonly problem: string | undefined;
  readonly durationMs: number;
}

interface Outcome {
  readonly results: readonly FileResult[];
  /** First results of files that failed and then passed alone. */
  readonly unsteady: readonly FileResult[];
}

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

function count(output: string, label: string): number {
  return Number(new RegExp(`${label}:\\s+(\\d+)`).exec(output)?.[1] ?? 0);
}

function problemOf(code: number | null, timedOut: boolean, total: number): string | undefined {
  if (timedOut) return `did not end within ${FILE_TIMEOUT_MS / 1000} s`;
  if (code === null) return 'was killed';
  if (total === 0) return 'ran no test';
  return code === 0 ? undefined : `exit code ${code}`;
}

function runFile(file: string): Promise<FileResult> {
  const startedMs = Date.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--enable-source-maps', file], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...(full && MANY_THROWS), ...process.env, FORCE_COLOR: '0', NO_COLOR: '1' },
    });
    let output = '';
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, FILE_TIMEOUT_MS);
    child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
    child.stderr.on('data', (piece: Buffer) => (output += piece.toString()));
    child.on('close', (code) => {
      clearTimeout(timer);
      const total = count(output, 'Total');
      const passed = count(output, 'Passed');
      const skipped = count(output, 'Skipped');
      resolve({
        file: relative(dist, file),
        passed,
        skipped,
        failed: Math.max(total - passed - skipped, 0),
        output,
        problem: problemOf(code, timedOut, total),
        durationMs: Date.now() - startedMs,
      });
    });
  });
}

/** Files that measure time run last and alone: beside others they would measure those. */
const isTiming = (file: string): boolean => file.endsWith('.timing.test.js');
const isBad = (each: FileResult): boolean => each.problem !== undefined || each.skipped > 0;

async function runAll(files: readonly string[], concurrency: number): Promise<FileResult[]> {
  const waiting = [...files];
  const results: FileResult[] = [];
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const result = await runFile(file);
      results.push(result);
      const mark = isBad(result) ? 'FAIL' : 'ok  ';
      const seconds = (result.durationMs / 1000).toFixed(1);
      process.stdout.write(`${mark} ${result.file} (${result.passed} passed, ${seconds} s)\n`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

/**
 * A starved machine fails what a quiet one passes, so a file that failed runs once more, alone.
 * What it printed the first time is shown all the same, and the last lines name it.
 */
async function runAgain(results: readonly FileResult[]): Promise<Outcome> {
  const bad = results.filter(isBad);
  if (bad.length === 0) return { results, unsteady: [] };
  process.stdout.write('\nonce more, alone:\n');
  const again = await runAll(
    bad.map(({ file }) => join(dist, file)),
    1,
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
  for (const each of unsteady) {
    process.stdout.write(`\n── ${each.file}, the first time: ${each.problem}\n${each.output}\n`);
  }
  for (const each of bad) {
    const why = each.problem ?? `${each.skipped} tests skipped`;
    process.stdout.write(`\n── ${each.file}: ${why}\n${each.output}\n`);
  }
  const passed = results.reduce((sum, each) => sum + each.passed, 0);
  // A file that broke down without counting a failed test is a failure all the same.
  const failed = bad.reduce((sum, each) => sum + Math.max(each.failed, 1), 0);
  process.stdout.write('\n');
  for (const { file } of unsteady)
    process.stdout.write(`failed beside others, passed alone: ${file}\n`);
  for (const file of leftOut)
    process.stdout.write(`left out (npm run test:full runs it): ${file}\n`);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 && results.length > 0 ? 0 : 1;
}

const args = process.argv.slice(2);
const full = args.includes('--full');
const only = args.includes('--only')
  ? args.slice(args.indexOf('--only') + 1).map((text) => text.replace(/\.ts$/, '.js'))
  : [''];
const all = testFiles(dist).filter((file) =>
  only.some((text) => `/${relative(dist, file)}`.includes(text)),
);
if (all.length === 0) process.stderr.write(`no test file has ${only.join(' or ')} in its path\n`);
const isFull = (file: string): boolean => file.endsWith('.full.test.js');
const drawsLots = (file: string): boolean => {
  const text = readFileSync(file, 'utf8');
  return Object.keys(MANY_THROWS).some((name) => text.includes(`process.env['${name}']`));
};
const chosen = full
  ? all.filter((file) => isFull(file) || drawsLots(file))
  : all.filter((file) => !isFull(file));
const leftOut = full ? [] : all.filter(isFull).map((file) => relative(dist, file));
const together = await runAll(
  chosen.filter((file) => !isTiming(file)),
  CONCURRENCY,
);
const alone = await runAll(chosen.filter(isTiming), 1);
process.exitCode = report(await runAgain([...together, ...alone]), leftOut);
