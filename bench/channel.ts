/**
 * Communication between the benchmark's processes: the parent forks a compiled entry and calls its
 * commands by name over Node's IPC channel. Nothing is sent during a measurement.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Commands of a child by name; inputs and results must survive JSON. */
export type Commands = Readonly<Record<string, (input: never) => unknown>>;

/** A started process. */
export interface Started {
  /** Its port; 0 if it does not listen. */
  readonly port: number;
  /** Ends the process and waits until it is gone. */
  close(): Promise<void>;
}

/** A started process with commands. */
export interface Child<C extends Commands> extends Started {
  call<N extends keyof C & string>(
    name: N,
    ...input: Parameters<C[N]>
  ): Promise<Awaited<ReturnType<C[N]>>>;
}

/** Resource usage of a process so far. */
export interface Usage {
  /** Of all its threads, user and system. */
  readonly cpuUs: number;
  readonly rssBytes: number;
}

interface Call {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}
interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}
interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}
interface Ready {
  readonly ready: number;
}

/** Time limit for a child's start, and for its end after the request. */
const START_MS = 30_000;
const END_MS = 5_000;

/** How to start a child. */
export interface ChildOptions {
  readonly args?: readonly string[];
  /**
   * Variables besides `PATH` and the temporary folder; the user's own settings are not passed on.
   */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `dist/<entry>`, such as `bench/load.js`. Rejects if it ends before it is ready. */
export async function startChild<C extends Commands>(
  entry: string,
  options: ChildOptions = {},
): Promise<Child<C>> {
  const child = forkEntry(entry, options, 'inherit');
  const { ready } = (await firstOf(child, entry, once(child, 'message'))) as Ready;
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  child.on('message', (reply: Reply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.error === undefined) call?.resolve(reply.value as never);
    else call?.reject(new Error(`${entry}: ${reply.error}`));
  });
  child.once('exit', (code) => {
    for (const call of waiting.values()) call.reject(new Error(`${entry} ended with ${code}`));
  });
  return {
    port: ready,
    call(name, ...input) {
      return new Promise((resolve, reject) => {
        calls += 1;
        waiting.set(calls, { resolve, reject });
        child.send({ id: calls, name, input: input[0] } satisfies Call);
      });
    },
    close: () => end(child),
  };
}

/** Starts the fake upstream, which prints its port. */
export async function startUpstreamProcess(): Promise<Started> {
  const entry = 'fixtures/upstream-main.js';
  const child = forkEntry(entry, { args: ['--record', 'off'] }, 'pipe');
  const text = await firstOf(child, entry, once(child.stdout!, 'data'));
  return {
    port: Number(String(text)),
    close: () => end(child),
  };
}

/** Runs in the child: answers the parent's calls, and reports once that it is ready on `port`. */
export function serveParent(port: number, commands: Commands): void {
  const send = (message: Reply | Ready): void => void process.send?.(message);
  process.on('message', ({ id, name, input }: Call) => {
    const command = commands[name] as ((input: unknown) => unknown) | undefined;
    Promise.resolve(input)
      .then((value) => command?.(value))
      .then(
        (value) => send({ id, value: value ?? null }),
        (thrown: unknown) => send({ id, error: String(thrown) }),
      );
  });
  // A killed parent cannot end its children.
  process.once('disconnect', () => process.exit(0));
  send({ ready: port });
}

/** Returns the resource usage of this process so far. */
export function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, rssBytes: process.memoryUsage.rss() };
}

function forkEntry(entry: string, options: ChildOptions, output: 'inherit' | 'pipe'): ChildProcess {
  const { PATH = '', TMPDIR } = process.env;
  return fork(fileURLToPath(new URL(`../${entry}`, import.meta.url)), [...(options.args ?? [])], {
    env: { PATH, ...(TMPDIR === undefined ? {} : { TMPDIR }), ...options.env },
    stdio: ['ignore', output, 'inherit', 'ipc'],
    execArgv: [],
  });
}

async function firstOf(
  child: ChildProcess,
  entry: string,
  first: Promise<unknown[]>,
): Promise<unknown> {
  const done = new AbortController();
  const deadline = AbortSignal.any([done.signal, AbortSignal.timeout(START_MS)]);
  const ended = once(child, 'exit', { signal: deadline }).then(
    ([code]) => Promise.reject(new Error(`${entry} ended with ${code} before it was ready`)),
    () => Promise.reject(new Error(`${entry} was not ready within ${START_MS} ms`)),
  );
  try {
    const [value] = await Promise.race([first, ended]);
    return value;
  } finally {
    done.abort();
    ended.catch(() => undefined);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await exited;
  clearTimeout(timer);
}
