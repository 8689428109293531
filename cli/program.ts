/** Gathers what the process offers and runs one command. */
import { Console } from 'node:console';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { systemClock } from '../engine/clock.ts';
import { reasonOf } from '../stages/disk-reason.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit.ts';
import { allDefinitions } from './parse/definitions.ts';
import { runCli } from './run.ts';

/** What is left open after a command may not hold the process back longer than this. */
const LINGER_MS = 500;

/** Errors of an output file that is full. The file is then cut short, so the exit code has to say so. */
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
let isOutputLost = false;

function versionOfPackage(): string {
  const file = new URL('../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  return version;
}

/** True for `npm start` and `npm run svc`: in a checkout `svc` is usually not on the path. */
function isRunByNpm({ npm_lifecycle_event: script }: NodeJS.ProcessEnv): boolean {
  return script === 'start' || script === 'svc';
}

function processContext(entry: string): CliContext {
  // A reader such as `head` that has seen enough is no failure, and neither is a terminal that closed.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    if (!NO_ROOM.has(error.code ?? '')) return;
    if (!isOutputLost) process.stderr.write(`error: Cannot write the output: ${reasonOf(error)}\n`);
    isOutputLost = true;
    process.exitCode = exitCodes.internal;
  });
  const send = process.send?.bind(process);
  return {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    colorDepth: 1,
    cwd: process.cwd(),
    userHome: homedir(),
    clock: systemClock,
    random: randomBytes,
    version: versionOfPackage(),
    program: isRunByNpm(process.env) ? 'npm run svc --' : 'svc',
    definitions: allDefinitions,
    isRunByNpm: isRunByNpm(process.env),
    nodeVersion: process.versions.node,
    entry,
    events: process,
    ...(send === undefined
      ? {}
      : {
          notifyParent(message: unknown) {
            if (process.connected) send(message);
          },
        }),
  };
}

/** Runs the process's own arguments; `entry` is the file that was started. */
export function runProgram(entry: string): void {
  if (process.platform === 'win32') {
    process.stderr.write('error: svc runs on Linux and macOS\nOn Windows, run it inside WSL.\n');
    process.exitCode = 1;
  } else {
    // Results alone go to stdout: what a provider's module prints must not stand among them.
    globalThis.console = new Console(process.stderr);
    // A command that never comes to its end has not succeeded.
    process.exitCode = exitCodes.internal;
    void runCli(process.argv.slice(2), processContext(entry)).then((code) => {
      process.exitCode = isOutputLost && code === 0 ? exitCodes.internal : code;
      // Without an argument: what is written last may still be refused.
      setTimeout(() => process.exit(), LINGER_MS).unref();
    });
  }
}
