/**
 * Runs test files in a process of their own, one after the other, and reports the outcome of each.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { outputByFile } from './test-steps.ts';
import type { Ended, TestStep } from './test-steps.ts';

/** One file's outcome. */
export interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  /** Why the file failed; undefined if it passed. */
  readonly problem: string | undefined;
  /** Everything that its process printed meanwhile. */
  readonly output: string;
  readonly durationMs: number;
}

/** Outcome of the files given to one process. */
export interface ProcessResult {
  readonly results: readonly FileResult[];
  /** Files without a result: their process ended before them, or failed after all of them. */
  readonly withoutResult: readonly string[];
}

/** How long each step may take, in milliseconds. */
export interface TimeLimits {
  /** For a file, from its first line to its last test. */
  readonly fileMs: number;
  /** From the last test to the end; anything that keeps the process alive longer was left open. */
  readonly leftOpenMs: number;
}

/** Options for running test files. */
export interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly limits: TimeLimits;
  /** Whether stack traces refer to the sources, which costs a tenth of the processor time. */
  readonly sourceMaps: boolean;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** Whether a child of the process still holds its output open. */
  readonly isHeld: boolean;
}

const CHILD = fileURLToPath(new URL('test-child.js', import.meta.url));
const STEPS_FD = 3;
/** How long output may still arrive from a process that has ended. */
const OUTPUT_CLOSE_MS = 10_000;

/** Returns why a file whose tests have ended failed; undefined if it passed. */
function problemOf(ended: Ended): string | undefined {
  const { passed, total, threw } = ended;
  if (threw === 'load') return 'threw before its tests began';
  if (threw === 'suite') return 'an after of a suite threw: its tests are not counted';
  const problem = testsProblem(ended);
  if (threw === undefined) return problem;
  return `an after threw; ${problem ?? `${passed} of ${total} tests passed`}`;
}

function testsProblem({ passed, skipped, total, neverRun }: Ended): string | undefined {
  if (neverRun > 0) return `${neverRun} tests never ran: test.run() was not called after them`;
  if (total + skipped === 0) return 'has no test';
  if (skipped > 0) return `${skipped} tests skipped`;
  if (passed === total) return undefined;
  return passed === 0
    ? `none of ${total} passed; a before that throws does that`
    : `${total - passed} of ${total} tests failed`;
}

function endOf({ code, signal, timedOut, isHeld }: Exit, limits: TimeLimits): string | undefined {
  if (timedOut) return `did not end within ${limits.fileMs / 1000} s`;
  if (signal !== null) return `was ended by ${signal}`;
  if (code !== 0) return `exit code ${code}`;
  return isHeld ? 'left a process behind that holds its output' : undefined;
}

/** Ends a child if a file takes too long, without waiting for its leftovers. */
function exitOf(child: ChildProcess, timer: NodeJS.Timeout): Promise<Omit<Exit, 'timedOut'>> {
  return new Promise((resolve) => {
    let heldTimer: NodeJS.Timeout | undefined;
    const settle = (code: number | null, signal: NodeJS.Signals | null, isHeld: boolean) => {
      clearTimeout(timer);
      clearTimeout(heldTimer);
      resolve({ code, signal, isHeld });
    };
    child.on('close', (code, signal) => settle(code, signal, false));
    child.on('exit', (code, signal) => {
      heldTimer = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
        settle(code, signal, true);
      }, OUTPUT_CLOSE_MS);
    });
  });
}

/** The steps that a process reported, its output and how it ended. */
interface Ran {
  readonly steps: readonly TestStep[];
  readonly outputs: readonly ReadonlyMap<string, string>[];
  readonly exit: Exit;
}

async function runChild(
  files: readonly string[],
  { env, limits: { fileMs, leftOpenMs }, sourceMaps }: RunOptions,
): Promise<Ran> {
  const child = spawn(
    process.execPath,
    [...(sourceMaps ? ['--enable-source-maps'] : []), CHILD, String(leftOpenMs), ...files],
    { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], env },
  );
  const texts = ['', '', ''];
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, fileMs + leftOpenMs);
  for (const [at, stream] of [child.stdout, child.stderr, child.stdio[STEPS_FD]].entries()) {
    const readable = stream as NodeJS.ReadableStream;
    readable.setEncoding('utf8').on('data', (piece: string) => {
      texts[at] += piece;
      // Each step restarts the timer: the limit is per file, not per process.
      if (at === 2) timer.refresh();
    });
  }
  const exit = await exitOf(child, timer);
  const [stdout = '', stderr = '', lines = ''] = texts;
  const steps = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TestStep);
  return {
    steps,
    outputs: [outputByFile(stdout), outputByFile(stderr)],
    exit: { ...exit, timedOut },
  };
}

/**
 * Runs `files` in one process and resolves with their results; it never rejects. If a process
 * crashes in a file, those after it have no result; if it fails between files or after them, none
 * that passed has one, since the culprit only shows when each runs alone.
 */
export async function runFiles(
  files: readonly string[],
  options: RunOptions,
): Promise<ProcessResult> {
  const startedMs = performance.now();
  const { steps, outputs, exit } = await runChild(files, options);
  const { limits } = options;
  const end = endOf(exit, limits);
  const results: FileResult[] = [];
  let isExplained = false;
  for (const file of files) {
    const stepsOfFile = steps.filter((step) => step.file === file);
    if (stepsOfFile.length === 0) break;
    const ended = stepsOfFile.find((step) => step.kind === 'ended');
    const open = stepsOfFile.find((step) => step.kind === 'open');
    isExplained ||= ended === undefined || open !== undefined;
    const alone = files.length === 1 ? end : undefined;
    const problem =
      ended === undefined
        ? `ended before its tests did (${end ?? 'exit code 0'})`
        : (problemOf(ended) ??
          (open === undefined ? alone : `left open: ${open.resources.join(', ')}`));
    const { passed = 0, total = 0 } = ended ?? {};
    results.push({
      file,
      passed,
      // A file that failed without a failed test counts as one.
      failed: problem === undefined ? 0 : Math.max(total - passed, 1),
      problem,
      output: outputs.map((output) => output.get(file) ?? '').join(''),
      durationMs: files.length === 1 ? performance.now() - startedMs : (ended?.durationMs ?? 0),
    });
  }
  const isBroken = files.length > 1 && end !== undefined && !isExplained;
  const kept = isBroken ? results.filter(({ problem }) => problem !== undefined) : results;
  const done = new Set(kept.map(({ file }) => file));
  return { results: kept, withoutResult: files.filter((file) => !done.has(file)) };
}
