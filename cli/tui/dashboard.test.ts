/** `svc dashboard` in a real pseudo terminal, with requests through a real proxy. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../../fixtures/upstream.ts';
import { entry, makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place, Spawned } from '../../fixtures/cli/run.ts';

const HOSTILE = 'claude-\u001b[31mred\u001b]0;owned\u0007\u009b2J';
const ENTER = '\u001b[?1049h';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const WAIT_MS = 20_000;

/** Runs in a terminal what a shell does; `script` alone passes on keys and hang-ups. */
function openTerminal(place: Place, command: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: place.folder,
    env: { ...place.env, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
  const ended = once(child, 'close');
  const wait = async (isThere: () => boolean, what: string): Promise<void> => {
    for (const until = Date.now() + WAIT_MS; !isThere();) {
      if (Date.now() > until)
        throw new Error(`no ${what} in ${JSON.stringify(output.slice(-3000))}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  return {
    child,
    ended,
    output: () => output,
    key: (text: string) => child.stdin.write(text),
    /** Waits for a text among what is on the screen. */
    shows: (pattern: RegExp) => wait(() => pattern.test(screenOf(output)), String(pattern)),
    /** Changes the size that the terminal has, as its window does. */
    resize(columns: number, rows: number): void {
      const tty = /\/dev\/pts\/\d+/.exec(output)![0];
      const { status } = spawnSync('stty', ['-F', tty, 'cols', `${columns}`, 'rows', `${rows}`]);
      assert.is(status, 0);
    },
    /** Waits until the screen is filled to its last row, and checks that no line is wider. */
    fits: async (columns: number, rows: number): Promise<void> => {
      const full = (): boolean => {
        const lines = screenOf(output).split('\n');
        return lines.length === rows && lines.at(-1)!.endsWith('q quit');
      };
      await wait(full, `screen of ${columns}×${rows}`);
      for (const line of screenOf(output).split('\n'))
        assert.ok(line.length <= columns, `${columns}: ${line}`);
    },
    writes: (text: string) => wait(() => output.includes(text), JSON.stringify(text)),
  };
}

// oxlint-disable-next-line no-control-regex -- how a line is written to its row
const WRITTEN_LINE = /\u001b\[(\d+);1H\u001b\[2K([^]*?)\u001b\[0m/g;

/** The lines that stand on the screen after all that was written. */
function screenOf(output: string): string {
  const lines: string[] = [];
  const since = output.slice(output.lastIndexOf('\u001b[2J'));
  for (const [, row, text = ''] of since.matchAll(WRITTEN_LINE))
    lines[Number(row) - 1] = stripVTControlCharacters(text);
  return lines.join('\n');
}

/** The dashboard on 80 columns and 24 rows, and what it leaves behind. */
function dashboard(place: Place, env: Readonly<Record<string, string>> = {}) {
  const svc = `'${process.execPath}' '${entry}' dashboard`;
  return openTerminal(
    place,
    `stty cols 80 rows 24; tty; sh -c "echo pid \\$\\$; exec ${svc}"; echo "code $?"; stty -a`,
    env,
  );
}

async function serve(place: Place, upstreamUrl: string): Promise<Spawned & { url: string }> {
  const proxy = start(place, ['serve', '--port', '0'], {
    MSGPROV_BASE_URL: upstreamUrl,
    MSGPROV_API_KEY: 'messages-key',
  });
  const [, url = ''] = await proxy.prints(/listens on (http:\S+)/);
  return { ...proxy, url };
}

async function ask(url: string, model: string): Promise<void> {
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, max_tokens: 16, messages: [{ role: 'user', content: 'hi' }] }),
  });
  await response.text();
}

const HAS_SCRIPT = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

if (HAS_SCRIPT) {
  test('shows requests as they come, takes keys, outlives the proxy, and gives the terminal back', async () => {
    const place = makePlace();
    const upstream = await startUpstream();
    let proxy = await serve(place, upstream.url);
    const terminal = dashboard(place, { NO_COLOR: '1' });
    try {
      await terminal.shows(/waiting for the first request/);
      await ask(proxy.url, 'claude-fixture-1');
      await terminal.shows(/Requests +1 {2}/);
      await ask(proxy.url, HOSTILE);
      terminal.key('2');
      await terminal.shows(/\[2 Requests\][^]*> .*claude-\\x1b\[31/);
      terminal.key('\r');
      await terminal.shows(/Stages[^]*parse +[·█]/);
      terminal.key('\u007f');
      terminal.key('j');
      await terminal.shows(/> .*claude-fixture-1/);
      terminal.key('?');
      await terminal.shows(/PgUp PgDn/);
      terminal.key('1');
      assert.not.match(terminal.output(), '\u001b[31m');
      for (const [columns, rows] of [
        [50, 14],
        [120, 34],
      ] as const) {
        terminal.resize(columns, rows);
        await terminal.fits(columns, rows);
      }
      proxy.child.kill('SIGTERM');
      await proxy.ended;
      await terminal.shows(/no connection, trying again[^]*svc start --background/);
      proxy = await serve(place, upstream.url);
      await terminal.shows(/svc \S+ {2}live[^]*Requests +2 {2}/);
      terminal.key('q');
      await terminal.writes('code 0');
      await terminal.ended;
      const [before = '', after = ''] = terminal.output().split(LEAVE);
      assert.match(before, ENTER);
      assert.match(after, /[^-]icanon/);
      assert.match(after, /[^-]echo\b/);
    } finally {
      terminal.child.kill();
      proxy.child.kill('SIGTERM');
      await proxy.ended;
      await upstream.close();
      place.dispose();
    }
  });

  test('Ctrl-C and SIGTERM give the terminal back too, and it says how to start the proxy', async () => {
    const place = makePlace();
    try {
      for (const how of ['key', 'signal'] as const) {
        const terminal = dashboard(place);
        await terminal.shows(/svc is not running[^]*svc start --background/);
        const pid = Number(/pid (\d+)/.exec(terminal.output())![1]);
        if (how === 'key') terminal.key('\u0003');
        else process.kill(pid, 'SIGTERM');
        await terminal.writes('code 0');
        await terminal.ended;
        const [, after = ''] = terminal.output().split(LEAVE);
        assert.match(after, /[^-]icanon/, how);
      }
    } finally {
      place.dispose();
    }
  });

  test('ends when its terminal is closed', async () => {
    const place = makePlace();
    const terminal = dashboard(place);
    try {
      await terminal.shows(/svc is not running/);
      const pid = Number(/pid (\d+)/.exec(terminal.output())![1]);
      terminal.child.kill('SIGKILL');
      await terminal.ended;
      const isThere = (): boolean => {
        try {
          return process.kill(pid, 0);
        } catch {
          return false;
        }
      };
      for (const until = Date.now() + WAIT_MS; isThere();) {
        assert.ok(Date.now() < until, 'it still runs');
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    } finally {
      place.dispose();
    }
  });
} else process.stdout.write('no script here: the dashboard is not run in a terminal\n');

test('off a terminal it prints once what the first screen shows', async () => {
  const place = makePlace();
  const upstream = await startUpstream();
  const proxy = await serve(place, upstream.url);
  try {
    await ask(proxy.url, HOSTILE);
    const { code, stdout } = await run(place, ['dashboard']);
    assert.is(code, 0);
    assert.match(stdout, /Requests +1 {2}/);
    assert.not.match(stdout.replaceAll('\n', ''), /\p{Cc}/u);
    const { report } = JSON.parse((await run(place, ['dashboard', '--json'])).stdout) as {
      report: { totals: { requests: number } };
    };
    assert.is(report.totals.requests, 1);
    const address = (await run(place, ['dashboard', '--public'])).stdout.trim();
    assert.is(address, `${proxy.url}/dashboard`);
    assert.match(await (await fetch(address)).text(), '<title>svc</title>');
  } finally {
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    await upstream.close();
    place.dispose();
  }
});

test('off a terminal without a proxy it is an error that says how to start one', async () => {
  const place = makePlace();
  try {
    for (const argv of [['dashboard'], ['dashboard', '--public'], ['dashboard', '--json']]) {
      const { code, stderr } = await run(place, argv);
      assert.is(code, 3);
      assert.match(stderr, 'svc start --background');
    }
  } finally {
    place.dispose();
  }
});

test.run();
