/** Runs the command line in tests: in this process against captured streams, or as a real process. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../engine/clock.ts';
import type { CliContext } from './context.ts';
import { runCli } from './run.ts';

/** The compiled entry. */
export const entry: string = fileURLToPath(new URL('../app/main.js', import.meta.url));

/** What a command left behind. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder for one test, removed by `dispose`. Its `home` does not exist yet. */
export interface Place {
  readonly folder: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  dispose(): void;
}

/** Makes an empty place; commands run in it see nothing of the user's. */
export function makePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'svc-cli-'));
  const home = join(folder, 'home');
  return {
    folder,
    home,
    env: { SVC_HOME: home, PATH: process.env['PATH'] ?? '', HOME: folder },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A context against captured streams; `changes` replaces parts of it. */
export function makeContext(place: Place, changes: Partial<CliContext> = {}) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const pieces = { stdout: '', stderr: '' };
  stdout.on('data', (piece: Buffer) => (pieces.stdout += piece.toString()));
  stderr.on('data', (piece: Buffer) => (pieces.stderr += piece.toString()));
  const context: CliContext = {
    env: { ...place.env },
    stdin: new PassThrough(),
    stdout,
    stderr,
    colorDepth: 1,
    cwd: place.folder,
    userHome: place.folder,
    clock: systemClock,
    random: randomBytes,
    version: '9.8.7',
    program: 'svc',
    nodeVersion: '22.1.0',
    entry,
    events: new EventEmitter(),
    ...changes,
  };
  return { context, pieces };
}

/** Runs one command in this process. */
export async function run(
  place: Place,
  argv: readonly string[],
  changes: Partial<CliContext> = {},
): Promise<Ran> {
  const { context, pieces } = makeContext(place, changes);
  const code = await runCli(argv, context);
  await new Promise((resolve) => setImmediate(resolve));
  return { code, ...pieces };
}

/** A command as a process of its own. */
export interface Spawned {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  readonly output: { stdout: string; stderr: string };
  /** Resolves with the match once stderr has it; throws when the process ends first. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when it has ended and its streams are closed. */
  readonly ended: Promise<Ran & { readonly signal: NodeJS.Signals | null }>;
}

/** Starts `svc` with `argv`. A test must see to its end. */
export function start(
  place: Place,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Spawned {
  const child = spawn(process.execPath, [entry, ...argv], {
    cwd: place.folder,
    env: { ...place.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const news = new EventEmitter();
  child.stdout.on('data', (piece: Buffer) => (output.stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => {
    output.stderr += piece.toString();
    news.emit('news');
  });
  const ended = new Promise<Ran & { signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code: code ?? -1, signal, ...output });
      news.emit('news');
    });
  });
  return {
    child,
    output,
    ended,
    async says(pattern) {
      for (;;) {
        const match = pattern.exec(output.stderr);
        if (match !== null) return match;
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`ended without saying ${pattern}: ${output.stderr}`);
        await new Promise((resolve) => news.once('news', resolve));
      }
    },
  };
}
