/**
 * One process of the test runner (`test.ts`): loads the test files named as arguments, one after
 * the other, runs their tests, and writes a line of JSON per step to file descriptor 3. The next
 * file starts when the last one has left nothing open, so that a resource that would keep the
 * process alive is reported with the file it belongs to.
 *
 * uvu runs the suites, but its own summary is not used: it swallows errors of `before` and `after`,
 * exits with 0 regardless, and does not mention tests that were registered but never run.
 */
import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { fileMark } from './test-steps.ts';
import type { Ended, TestStep } from './test-steps.ts';

/**
 * Result of uvu's runner: its errors as text or true, and the numbers of tests passed, skipped and
 * in all.
 */
type Ran = readonly [faults: string | true, passed: number, skipped: number, total: number];
type Suite = () => Promise<Ran>;

const STEPS_FD = 3;

// uvu reads these when it is loaded: it neither starts by itself nor sums up.
const queue: Suite[][] = [];
const shared = globalThis as unknown as {
  UVU_DEFER: number;
  UVU_INDEX: number;
  UVU_QUEUE: Suite[][];
};
shared.UVU_DEFER = 1;
shared.UVU_QUEUE = queue;
const { test } = await import('uvu');
type Handler = Parameters<typeof test.before>[0];

const print = (text: string): boolean => process.stdout.write(text);

function report(step: TestStep): void {
  writeSync(STEPS_FD, `${JSON.stringify(step)}\n`);
}

/** Whether an `after` of the running file threw. */
let afterThrew = false;

/**
 * Returns a hook that prints its handlers' errors, as uvu does not. An error in `after` is recorded
 * and not rethrown, since uvu would then lose the number of passed tests.
 */
function printingErrors(name: string, add: (handler: Handler) => void): (handler: Handler) => void {
  return (handler) =>
    add(async (state) => {
      try {
        await handler(state);
      } catch (error) {
        print(`\n   FAIL  ${name}\n${inspect(error)}\n`);
        if (name !== 'after') throw error;
        afterThrew = true;
      }
    });
}

for (const when of ['before', 'after'] as const) {
  const hook = test[when];
  test[when] = Object.assign(
    printingErrors(when, (handler) => hook(handler)),
    { each: printingErrors(`${when}.each`, (handler) => hook.each(handler)) },
  );
}

async function runFile(file: string): Promise<Ended> {
  const startedMs = performance.now();
  const suites: Suite[] = [];
  shared.UVU_INDEX = queue.push(suites) - 1;
  const sum = { passed: 0, skipped: 0, total: 0, neverRun: 0 };
  const sumUp = (threw?: Ended['threw']): Ended => ({
    ...sum,
    kind: 'ended',
    file,
    threw,
    durationMs: performance.now() - startedMs,
  });
  afterThrew = false;
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    print(`\n${inspect(error)}\n`);
    return sumUp('load');
  }
  try {
    const registered = suites.length;
    // Remaining tests were registered after the file's own `run()`, or the file has none.
    test.run();
    for (const [at, suite] of suites.entries()) {
      const [faults, passed, skipped, total] = await suite();
      if (at >= registered) {
        sum.neverRun += total;
        continue;
      }
      if (faults !== true) print(`\n${faults}\n`);
      sum.passed += passed;
      sum.skipped += skipped;
      sum.total += total;
    }
  } catch (error) {
    // Of a suite's functions, uvu only lets errors of `after` through.
    print(`\n${inspect(error)}\n`);
    return sumUp('suite');
  }
  return sumUp(afterThrew ? 'after' : undefined);
}

/** Returns what keeps this process alive besides its initial pipes. */
function openResources(): readonly string[] {
  const left = process.getActiveResourcesInfo();
  for (const name of atStart) {
    const at = left.indexOf(name);
    if (at !== -1) left.splice(at, 1);
  }
  return left;
}

/** Resolves with what is still open after `timeoutMs`; usually at once with nothing. */
async function leftOpen(timeoutMs: number): Promise<readonly string[]> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const open = openResources();
    if (open.length === 0 || performance.now() > untilMs) return open;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const [leftOpenMs = '', ...files] = process.argv.slice(2);
// The first write opens the pipes.
for (const stream of [process.stdout, process.stderr]) stream.write('');
const atStart = process.getActiveResourcesInfo();
for (const file of files) {
  for (const stream of [process.stdout, process.stderr]) stream.write(fileMark(file));
  report({ kind: 'begun', file });
  report(await runFile(file));
  const resources = await leftOpen(Number(leftOpenMs));
  if (resources.length > 0) {
    report({ kind: 'open', file, resources });
    process.exit(1);
  }
}
// A test that ran a command in this process may have set it.
process.exitCode = 0;
