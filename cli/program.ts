/** Sets up the process environment and runs one command. */
import { Console } from 'node:console';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../engine/clock.ts';
import { reasonOf } from '../stages/disk-reason.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit.ts';
import { invokedAs, isRunByNpm } from './invoked-as.ts';
import { allDefinitions } from './parse/definitions.ts';
import { runCli } from './run.ts';

/** Longest that open handles may delay the exit after a command. */
const LINGER_MS = 500;

/** Errors for a full output file. The file is then truncated, which the exit code must show. */
const DISK_FULL_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
let isOutputLost = false;

const PACKAGE_FOLDER = fileURLToPath(new URL('../..', import.meta.url));

function versionOfPackage(): string {
  const file = join(PACKAGE_FOLDER, 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  return version;
}

function processContext(entry: string): CliContext {
  // It is not a failure if a reader such as `head` stops reading, or the terminal closes.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    if (!DISK_FULL_CODES.has(error.code ?? '')) return;
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
    program: invokedAs(process.env, PACKAGE_FOLDER),
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

/** Runs the process's own arguments; `entry` is the started file. */
export function runProgram(entry: string): void {
  if (process.platform === 'win32') {
    process.stderr.write('error: svc runs on Linux and macOS\nOn Windows, run it inside WSL.\n');
    process.exitCode = 1;
  } else {
    // Only results go to stdout: output of a provider's module must not mix with them.
    globalThis.console = new Console(process.stderr);
    // A command that never finishes has not succeeded.
    process.exitCode = exitCodes.internal;
    void runCli(process.argv.slice(2), processContext(entry)).then((code) => {
      process.exitCode = isOutputLost && code === 0 ? exitCodes.internal : code;
      // Without an argument, since the last write may still fail and set the code.
      setTimeout(() => process.exit(), LINGER_MS).unref();
    });
  }
}
