/**
 * `svc statusline` as started by a client: with a proxy that runs, hangs, stops or returns, and
 * with any input.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addHeaders } from '../../fixtures/upstream/added-headers.ts';
import { until, withLive, sendRequest } from '../../fixtures/cli/live.ts';
import { entry, inPlace, run, start, write } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import type { StatusJson } from '../../server/statusline/status.ts';
import { STATUSLINE_FILE } from '../integrate/statusline.ts';
import { fastOptions } from './fast.ts';

const MODEL = 'claude-sonnet-4-5';
const SESSION = { session_id: 'one', model: { display_name: 'Sonnet 4.5' } };

interface Called {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const COMMAND = [entry, 'statusline'];
/** What Claude Code starts. */
const STATUSLINE_ARGV = [join(dirname(entry), STATUSLINE_FILE)];

/** Starts it with `input` on stdin, which stays open if `isOpen`. */
async function statusline(
  place: Place,
  input: string,
  {
    args = [],
    isOpen = false,
    started = COMMAND,
  }: {
    readonly args?: readonly string[];
    readonly isOpen?: boolean;
    readonly started?: readonly string[];
  } = {},
): Promise<Called> {
  const child = spawn(process.execPath, [...started, ...args], {
    env: place.env,
    cwd: place.folder,
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (piece: Buffer) => (printed.stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (printed.stderr += piece.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.write(input);
  if (!isOpen) child.stdin.end();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...printed };
}

async function line(place: Place, input: unknown = SESSION): Promise<string> {
  const { code, stdout, stderr } = await statusline(place, JSON.stringify(input), {
    args: ['--no-color'],
  });
  assert.equal([code, stderr], [0, '']);
  assert.is(stdout.split('\n').length, 2, 'one line');
  return stdout.trimEnd();
}

/** Returns the status file; undefined before a proxy has written one. */
function status(place: Place): StatusJson | undefined {
  const file = join(place.home, 'statusline.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StatusJson) : undefined;
}

test('a session next to a proxy that runs, hangs, ends and starts again', () =>
  withLive(async (live) => {
    const { place } = live;
    const resets = Math.floor(Date.now() / 1000) + 9000;
    live.upstream.script(
      '/v1/messages',
      addHeaders({
        'anthropic-ratelimit-unified-5h-utilization': '0.31',
        'anthropic-ratelimit-unified-5h-reset': String(resets),
      }),
    );
    await until(() => status(place) !== undefined, 'the file');
    assert.is(await line(place), 'Sonnet 4.5 | not through svc');
    const ask = (url: string) =>
      sendRequest(url, {
        model: MODEL,
        messages: 'Hello',
        headers: { 'x-claude-code-session-id': 'one' },
      });
    await ask(live.url);
    await until(() => status(place)?.sessions['one']?.requests === 1, 'the session in the file');
    const up = await line(place);
    assert.match(up, /^Sonnet 4\.5 \| \$0\.\d{4} \| 5h 31%, resets \d\d:\d\d$/);
    assert.is(statSync(join(place.home, 'statusline.json')).mode & 0o777, 0o600);

    const { pid } = status(place)!;
    process.kill(pid!, 'SIGSTOP');
    try {
      assert.is(await line(place), up, 'the last state of a proxy that hangs');
    } finally {
      process.kill(pid!, 'SIGCONT');
    }
    const stopped = await live.svc('stop');
    assert.is(stopped.code, 0, stopped.stderr);
    assert.is(status(place)!.pid, null);
    assert.is(await line(place), `${up} | svc off`);

    const again = live.start(['serve']);
    try {
      const [url] = await again.prints(/http:\/\/127\.0\.0\.1:\d+/);
      await until(() => status(place)?.pid === again.child.pid, 'the new proxy in the file');
      await ask(url);
      await until(() => status(place)?.sessions['one']?.requests === 2, 'one sum over both');
      assert.is(status(place)!.today.requests, 2);
    } finally {
      again.child.kill('SIGTERM');
      await again.ended;
    }
  }));

test('a killed proxy is shown as off', () =>
  inPlace(async (place) => {
    const proxy = start(place, ['serve', '--port', '0']);
    await proxy.prints(/listens on/);
    await until(() => status(place)?.pid === proxy.child.pid, 'the file');
    proxy.child.kill('SIGKILL');
    await proxy.ended;
    assert.is(await line(place), 'Sonnet 4.5 | svc off');
  }));

test('any input and any home folder give one line and no error', () =>
  inPlace(async (place) => {
    for (const input of [
      '',
      '{',
      'null',
      '[]',
      '"x"',
      '{"model": 3}',
      '\u0000'.repeat(9),
      '{"a":'.repeat(5000),
    ]) {
      for (const started of [COMMAND, STATUSLINE_ARGV]) {
        const { code, stdout, stderr } = await statusline(place, input, { started });
        assert.equal([code, stderr], [0, ''], input.slice(0, 20));
        assert.is(stdout.split('\n').length, 2);
      }
    }
    const long = JSON.stringify({ ...SESSION, unknown: 'ü'.repeat(300_000) });
    for (const started of [COMMAND, STATUSLINE_ARGV])
      for (const input of [JSON.stringify(SESSION), long]) {
        const open = await statusline(place, input, {
          args: ['--for', 'plain'],
          isOpen: true,
          started,
        });
        assert.is(open.stdout, 'Sonnet 4.5 | svc off\n');
      }
    await run(place, ['config', 'init']);
    const file = join(place.home, 'statusline.json');
    for (const content of [
      '',
      '{"format":1',
      '[]',
      '{"format":1,"pid":"x","sessions":[],"limits":3}',
    ]) {
      writeFileSync(file, content);
      assert.is(await line(place), 'Sonnet 4.5 | svc off');
    }
    chmodSync(file, 0);
    assert.match(await line(place), /^Sonnet 4\.5/);
    // A pipe without a writer never ends.
    rmSync(file);
    execFileSync('mkfifo', [file]);
    assert.is(await line(place), 'Sonnet 4.5 | svc off');
  }));

test('an invalid option is refused, and --help shows help', () =>
  inPlace(async (place) => {
    const wrong = await statusline(place, '', { args: ['--for', 'emacs'] });
    assert.is(wrong.code, 2);
    assert.match(wrong.stderr, '--for takes claude-code, tmux, starship, plain');
    const help = await statusline(place, '', { args: ['--help'] });
    assert.match(help.stdout, '{model} | {cost}');
  }));

test('the fast path accepts the same options as the command, and leaves errors to it', () =>
  inPlace(async (place) => {
    const cases = [
      ['--format', 'a {svc}!', '--for', 'tmux', '--width', '80', '--no-color'],
      ['--format=a {svc}!', '--for=tmux', '--width=80'],
      ['--width', '3'],
      [],
    ];
    for (const args of cases) {
      assert.is.not(fastOptions(args), undefined, args.join(' '));
      const fast = await statusline(place, '', { args });
      const command = await run(place, ['statusline', ...args]);
      assert.equal([fast.code, fast.stdout], [command.code, command.stdout], args.join(' '));
    }
    const wrong = [['--width', 'x'], ['--width', '0'], ['--for', 'x'], ['--for'], ['-h'], ['word']];
    for (const args of wrong) assert.is(fastOptions(args), undefined, args.join(' '));
  }));

test('Claude Code starts the small statusline module, which loads the program only when needed', () =>
  inPlace(async (place) => {
    const path = write(place, '.claude/settings.json', '{}');
    await run(place, ['integrate', 'claude-code', '--statusline', '--apply'], { entry });
    const { command } = JSON.parse(readFileSync(path, 'utf8')).statusLine;
    const statuslineWith = (more: string) =>
      spawnSync('/bin/sh', ['-c', `${command}${more}`], {
        env: place.env,
        input: JSON.stringify({ ...SESSION, cost: { total_cost_usd: 1234.5 } }),
        encoding: 'utf8',
      });
    const shown = statuslineWith(' --no-color');
    assert.equal([shown.status, shown.stderr], [0, '']);
    assert.match(shown.stdout, /^Sonnet 4\.5 \| .*\$1,235/);
    assert.match(statuslineWith(' --help').stdout, '--format');
    assert.is(statuslineWith(' --for nothing').status, 2);
    await run(place, ['integrate', 'claude-code', '--statusline', '--undo']);
    assert.is(readFileSync(path, 'utf8'), '{}');
  }));

test.run();
