/** Runs test files in a process of their own and says what became of each. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What a file's tests came to, as `test-child.ts` counted them. */
export interface Ended {
  readonly kind: 'ended';
  readonly file: string;
  readonly passed: number;
  readonly skipped: number;
  /** Tests that `run()` was called for. */
  readonly total: number;
  /** Tests that `run()` was not called for. */
  readonly neverRun: number;
  /** Whether loading the file or an `after` threw. */
  readonly threw: boolean;
}

/** One line from the child. */
export type TestStep =
  | { readonly kind: 'begun'; readonly file: string }
  | Ended
  | { readonly kind: 'open'; readonly resources: readonly string[] };

/** One file's outcome. */
export interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  /** Why the file is red; undefined for a green one. */
  readonly problem: string | undefined;
  /** All that its process printed. */
  readonly output: string;
  readonly durationMs: number;
}

/** How long each step may take, in milliseconds. */
export interface Patience {
  /** From a process's start to its end. */
  readonly fileMs: number;
  /** From the last test to the end: what still holds the process then was left open. */
  readonly leftOpenMs: number;
}

const CHILD = fileURLToPath(new URL('test-child.js', import.meta.url));
const STEPS_FD = 3;
/** How long output may still arrive from a process that has ended. */
const HELD_MS = 10_000;

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** Whether something that the process started still holds its output. */
  readonly isHeld: boolean;
}

/** Why a file whose tests ended is red. */
function problemOf({ passed, skipped, total, neverRun, threw }: Ended): string | undefined {
  if (threw && total === 0) return 'threw before its tests began, or after them';
  if (threw) return 'threw after its tests';
  if (neverRun > 0) return `${neverRun} tests never ran: test.run() was not called after them`;
  if (total + skipped === 0) return 'has no test';
  if (skipped > 0) return `${skipped} tests skipped`;
  if (passed === total) return undefined;
  return passed === 0
    ? `none of ${total} passed; a before that throws does that`
    : `${total - passed} of ${total} tests failed`;
}

function endOf({ code, signal, timedOut, isHeld }: Exit, patience: Patience): string | undefined {
  if (timedOut) return `did not end within ${patience.fileMs / 1000} s`;
  if (signal !== null) return `was ended by ${signal}`;
  if (code !== 0) return `exit code ${code}`;
  return isHeld ? 'left a process behind that holds its output' : undefined;
}

/** Ends a child that takes too long, and does not wait for what it left behind. */
function exitOf(child: ChildProcess, { fileMs }: Patience): Promise<Exit> {
  return new Promise((resolve) => {
    let timedOut = false;
    let heldTimer: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, fileMs);
    const settle = (code: number | null, signal: NodeJS.Signals | null, isHeld: boolean) => {
      clearTimeout(timer);
      clearTimeout(heldTimer);
      resolve({ code, signal, timedOut, isHeld });
    };
    child.on('close', (code, signal) => settle(code, signal, false));
    child.on('exit', (code, signal) => {
      heldTimer = setTimeout(() => {
        for (const stream of child.stdio)
          if (stream !== null && stream !== undefined) stream.destroy();
        settle(code, signal, true);
      }, HELD_MS);
    });
  });
}

/** Runs `file` and resolves with its result; it never rejects. `env` is the child's environment. */
export async function runFile(
  file: string,
  env: NodeJS.ProcessEnv,
  patience: Patience,
): Promise<FileResult> {
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', CHILD, String(patience.leftOpenMs), file],
    { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], env },
  );
  let output = '';
  let lines = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (piece: string) => (output += piece));
  const steps = child.stdio[STEPS_FD] as NodeJS.ReadableStream;
  steps.setEncoding('utf8').on('data', (piece: string) => (lines += piece));
  const exit = await exitOf(child, patience);
  const written = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TestStep);
  const ended = written.find((step) => step.kind === 'ended');
  const open = written.find((step) => step.kind === 'open');
  const end = endOf(exit, patience);
  const problem =
    ended === undefined
      ? `ended before its tests did (${end ?? 'exit code 0'})`
      : (problemOf(ended) ??
        (open === undefined ? end : `left open: ${open.resources.join(', ') || 'a thread'}`));
  return {
    file,
    passed: ended?.passed ?? 0,
    // A file that is red without a failed test counts as one.
    failed: problem === undefined ? 0 : Math.max((ended?.total ?? 0) - (ended?.passed ?? 0), 1),
    problem,
    output,
    durationMs: performance.now() - startedMs,
  };
}
