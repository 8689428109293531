/** `svc dashboard` in a real pseudo terminal, with requests through a real proxy. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../../fixtures/upstream.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place, Spawned } from '../../fixtures/cli/run.ts';
import { findTerminal, typeInTerminal } from '../../fixtures/cli/terminal.ts';
import type { ScreenSize, Typing } from '../../fixtures/cli/terminal.ts';
import { widthOf } from '../screen/fit.ts';

const HOSTILE = 'claude-\u001b[31mred\u001b]0;owned\u0007\u009b2J';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

const found = findTerminal();
if (found === undefined) throw new Error('this needs `script` or `python3`, for a terminal');
const terminal = found;

/** Starts the dashboard, by default with 80 columns and 24 rows. */
function dashboard(
  place: Place,
  env: Readonly<Record<string, string>> = {},
  size: ScreenSize = { columns: 80, rows: 24 },
): Typing {
  return typeInTerminal(terminal, place, ['dashboard'], { env, size });
}

/** Waits until the screen is filled to its last row, and checks that no line is too wide. */
async function fits(typing: Typing, { columns, rows }: ScreenSize): Promise<void> {
  // The first line is cut if it does not fit; below it are the numbers of the views.
  await typing.views((lines) => lines.length === rows && /1/.test(lines[1] ?? ' 1'));
  for (const line of typing.view()) assert.ok(widthOf(line) <= columns, `${columns}: ${line}`);
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

test('shows new requests, handles keys, survives the end of the proxy, and restores the terminal', async () => {
  const place = makePlace();
  const upstream = await startUpstream();
  let proxy = await serve(place, upstream.url);
  const typing = dashboard(place, { NO_COLOR: '1' });
  try {
    await typing.views(/waiting for the first request/);
    await ask(proxy.url, 'claude-fixture-1');
    await typing.views(/Requests +1 {2}/);
    await ask(proxy.url, HOSTILE);
    typing.press('2');
    await typing.views(/\[2 Requests\][^]*> .*claude-\\x1b\[31/);
    typing.press('\r');
    await typing.views(/Stages[^]*parse +[·█]/);
    typing.press('\u007f');
    typing.press('j');
    await typing.views(/> .*claude-fixture-1/);
    typing.press('?');
    await typing.views(/PgUp PgDn[^]*Esc back/);
    typing.press('1');
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    await typing.views(/no connection, trying again[^]*svc start --background/);
    proxy = await serve(place, upstream.url);
    await typing.views(/svc \S+ {2}live[^]*Requests +2 {2}/);
    // Neither our own colours nor any from a model's name.
    for (const color of ['31m', '32m', '33m', '36m'])
      assert.not.match(typing.screen(), `\u001b[${color}`);
    typing.press('q');
    const left = await typing.ended;
    assert.equal(
      [left.code, left.isRestored, left.isCursorShown, left.isScreenBack],
      [0, true, true, true],
    );
  } finally {
    typing.close();
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    await upstream.close();
    place.dispose();
  }
});

test('every view fits the screen, also while the screen is resized', async () => {
  const place = makePlace();
  const upstream = await startUpstream();
  const proxy = await serve(place, upstream.url);
  const typing = dashboard(place);
  try {
    await ask(proxy.url, 'claude-fixture-1');
    await ask(proxy.url, '模型-⚡-'.repeat(12));
    await typing.views(/Requests +2 {2}/);
    for (const view of ['2\r', '1', '2', '3', '4', '5', '?']) {
      typing.press(view);
      for (const [columns, rows] of [
        [40, 12],
        [200, 60],
        [20, 6],
        [3, 2],
        [80, 24],
      ] as const) {
        typing.resize({ columns, rows });
        await fits(typing, { columns, rows });
      }
    }
    // A terminal that reports no window size gets the default one.
    typing.press('1');
    typing.resize({ columns: 0, rows: 0 });
    await typing.views((lines) => lines.length === 24 && /\[1 Overview\]/.test(lines[1] ?? ''));
    typing.press('q');
    assert.is((await typing.ended).code, 0);
  } finally {
    typing.close();
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    await upstream.close();
    place.dispose();
  }
});

test('quitting by key or signal restores the terminal and says how to start the proxy', async () => {
  const place = makePlace();
  const ways: readonly (readonly [name: string, end: (typing: Typing) => void])[] = [
    ['q', ({ press }) => press('q')],
    ['Ctrl-C', ({ press }) => press(CTRL_C)],
    ['Ctrl-D', ({ press }) => press(CTRL_D)],
    ['SIGINT', ({ signal }) => signal('SIGINT')],
    ['SIGTERM', ({ signal }) => signal('SIGTERM')],
    ['SIGHUP', ({ signal }) => signal('SIGHUP')],
  ];
  try {
    for (const [name, end] of ways) {
      const typing = dashboard(place);
      await typing.views(/svc is not running[^]*svc start --background/);
      end(typing);
      const left = await typing.ended;
      assert.equal(
        [left.code, left.isRestored, left.isCursorShown, left.isScreenBack],
        [0, true, true, true],
        name,
      );
      const { screen } = left;
      assert.ok(
        screen.lastIndexOf('\u001b[?7h') > screen.lastIndexOf('\u001b[?7l'),
        `${name}: folds`,
      );
    }
  } finally {
    place.dispose();
  }
});

test('ends when its terminal is closed', async () => {
  const place = makePlace();
  const typing = dashboard(place);
  try {
    await typing.views(/svc is not running/);
    const commandEnded = typing.commandEnded();
    typing.close();
    assert.is((await typing.ended).code, null);
    await commandEnded;
  } finally {
    place.dispose();
  }
});

test('without a terminal it prints the first screen once', async () => {
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

test('without a terminal and a proxy it reports an error that says how to start one', async () => {
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
