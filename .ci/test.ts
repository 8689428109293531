/**
 * Runs the tests: every file in a process of its own, two at a time, each with a
 * time limit, so that one that hangs or leaves something open is found and named.
 *
 * `node dist/.ci/test.js [--full] [--only TEXT]`: `x.test.js` runs always;
 * `x.full.test.js` needs more than a bare machine has and runs with `--full`; `x.timing.test.js`
 * measures time and runs alone, behind all others.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('..', import.meta.url));
const CONCURRENCY = 2;
const FILE_TIMEOUT_MS = 600_000;

interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly output: string;
  readonly problem: string | undefined;
  readonly durationMs: number;
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
      env: { ...process.env, FORCE_COLOR: '0', NO_COLOR: '1' },
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

async function runAll(files: readonly string[], concurrency: number): Promise<FileResult[]> {
  const waiting = [...files];
  const results: FileResult[] = [];
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const result = await runFile(file);
      results.push(result);
      const mark = result.problem === undefined && result.skipped === 0 ? 'ok  ' : 'FAIL';
      const seconds = (result.durationMs / 1000).toFixed(1);
      process.stdout.write(`${mark} ${result.file} (${result.passed} passed, ${seconds} s)\n`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

function report(results: readonly FileResult[], leftOut: readonly string[]): number {
  const bad = results.filter((each) => each.problem !== undefined || each.skipped > 0);
  for (const each of bad) {
    const why = each.problem ?? `${each.skipped} tests skipped`;
    process.stdout.write(`\n── ${each.file}: ${why}\n${each.output}\n`);
  }
  const passed = results.reduce((sum, each) => sum + each.passed, 0);
  // A file that broke down without counting a failed test is a failure all the same.
  const failed = bad.reduce((sum, each) => sum + Math.max(each.failed, 1), 0);
  process.stdout.write('\n');
  for (const file of leftOut)
    process.stdout.write(`left out (npm run test:full runs it): ${file}\n`);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 && results.length > 0 ? 0 : 1;
}

const args = process.argv.slice(2);
const full = args.includes('--full');
const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : undefined;
const all = testFiles(dist).filter((file) => only === undefined || file.includes(only));
const isFull = (file: string): boolean => file.endsWith('.full.test.js');
const chosen = full ? all.filter(isFull) : all.filter((file) => !isFull(file));
const leftOut = full ? [] : all.filter(isFull).map((file) => relative(dist, file));
const together = await runAll(
  chosen.filter((file) => !isTiming(file)),
  CONCURRENCY,
);
const alone = await runAll(chosen.filter(isTiming), 1);
process.exitCode = report([...together, ...alone], leftOut);
