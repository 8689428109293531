/**
 * Giving up at a question, in a real terminal: by Ctrl-C, by Ctrl-D, by closing the window. Nothing
 * is changed then, and the terminal is restored.
 */
import * as fs from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import { findTerminal, typeInTerminal } from '../../fixtures/cli/terminal.ts';
import type { Typing } from '../../fixtures/cli/terminal.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import { runningInstance } from '../process/daemon.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const ENTER = '\r';

const found = findTerminal();
if (found === undefined) throw new Error('this needs `script` or `python3`, for a terminal');
const terminal = found;

/** A command that asks, and its questions in order. */
interface AskingCommand {
  readonly argv: readonly string[];
  readonly questions: readonly RegExp[];
  readonly env?: Readonly<Record<string, string>>;
  readonly program?: string;
}

/** Returns the files in the place, with contents and modes; links are not followed. */
function filesOf({ folder }: Place): Readonly<Record<string, string>> {
  return Object.fromEntries(
    fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [
        relative(folder, path),
        `${fs.statSync(path).mode.toString(8)} ${fs.readFileSync(path, 'utf8')}`,
      ]),
  );
}

/** Answers `count` questions with Enter, waits for the next one, and does `last`. */
async function giveUpAt(
  place: Place,
  { argv, questions, env = {}, program }: AskingCommand,
  count: number,
  last: (typing: Typing) => void,
) {
  const typing = typeInTerminal(terminal, place, argv, {
    env,
    ...(program === undefined ? {} : { program }),
  });
  for (const [at, question] of questions.slice(0, count + 1).entries()) {
    await typing.shows(question);
    // A menu accepts keys once it is fully drawn.
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (at < count) typing.press(ENTER);
  }
  last(typing);
  return typing.ended;
}

const WAYS = [
  ['Ctrl-C', CTRL_C],
  ['Ctrl-D', CTRL_D],
] as const;

/** Menus, and lines for a limited terminal. */
const SCREENS = [{}, { TERM: 'dumb' }] as const;

/** Gives up at each question in each way, on each kind of screen. */
async function giveUpEverywhere(place: Place, asking: AskingCommand): Promise<void> {
  const before = filesOf(place);
  for (const screen of SCREENS)
    for (const [way, keys] of WAYS)
      for (let count = 0; count < asking.questions.length; count += 1) {
        const what = `${asking.argv.join(' ')}: ${way} at question ${count + 1}, ${JSON.stringify(screen)}`;
        const left = await giveUpAt(
          place,
          { ...asking, env: { ...asking.env, ...screen } },
          count,
          ({ press }) => press(keys),
        );
        assert.is(left.code, 130, `${what}: ${left.screen}`);
        assert.ok(left.isRestored, `${what}: settings of the terminal: ${left.screen}`);
        assert.ok(left.isCursorShown, `${what}: cursor`);
        assert.match(left.screen, 'nothing was changed', what);
        assert.equal(filesOf(place), before, what);
      }
}

/** Waits until the command has ended; fails if it hangs. */
async function closesWindow(place: Place, asking: AskingCommand): Promise<void> {
  const before = filesOf(place);
  let closed = Promise.resolve();
  const last = asking.questions.length - 1;
  const left = await giveUpAt(place, asking, last, (typing) => {
    closed = typing.commandEnded();
    typing.close();
  });
  assert.is(left.code, null);
  await closed;
  assert.equal(filesOf(place), before, 'its window is closed');
}

test('an interrupt at a prompt of setup changes nothing', async () => {
  const place = makePlace();
  const upstream = await startUpstream();
  try {
    fs.mkdirSync(join(place.folder, '.claude'));
    fs.writeFileSync(join(place.folder, '.claude/settings.json'), '{"a": 1}');
    const setup: AskingCommand = {
      argv: ['setup'],
      env: {
        SVC_PORT: '0',
        SVC_WS_PORT: '0',
        ANTHROPIC_API_KEY: 'sk-newcomer',
        MSGPROV_BASE_URL: upstream.url,
      },
      questions: [
        /How much may be compressed\?/,
        /Which clients should go through svc\?/,
        /Try your keys\?/,
        /Go ahead\?/,
      ],
    };
    await giveUpEverywhere(place, setup);
    await closesWindow(place, setup);
    assert.is(runningInstance(place.home), undefined);
    assert.is(upstream.requests.length, 0);
  } finally {
    await upstream.close();
    place.dispose();
  }
});

test('an interrupt at a prompt of config pull or config sync changes nothing', async () => {
  const place = makePlace();
  try {
    const shared = join(place.folder, 'shared.yaml');
    fs.writeFileSync(shared, 'compression: { mode: strict }\n');
    const questions = [/Apply it\?/];
    await giveUpEverywhere(place, { argv: ['config', 'pull', shared], questions });
    assert.is((await run(place, ['config', 'pull', shared, '--yes'])).code, 0);
    fs.writeFileSync(shared, 'compression: { mode: aggressive }\n');
    await giveUpEverywhere(place, { argv: ['config', 'sync'], questions });
    await closesWindow(place, { argv: ['config', 'sync'], questions });
  } finally {
    place.dispose();
  }
});

test('an interrupt at the prompt of fleet add changes nothing', async () => {
  const place = makePlace();
  try {
    const adding: AskingCommand = {
      argv: ['fleet', 'add', 'attic', 'https://attic.example', '--key-stdin'],
      questions: [/Proxy key of attic/],
    };
    await giveUpEverywhere(place, adding);
    await closesWindow(place, adding);
  } finally {
    place.dispose();
  }
});

/** A fake npm whose registry has a newer version; it records what it is asked to install. */
const NPM = `#!/bin/sh
here=$(dirname "$0")
case "$1" in
  root) echo "$here/../lib/node_modules" ;;
  view) echo '{"name":"svc","version":"999.0.0","bin":{"svc":"dist/app/main.js"}}' ;;
  install) echo "$@" >> "$here/installs" ;;
esac
`;

test('an interrupt at the prompt of update changes nothing', async () => {
  const place = makePlace();
  try {
    // As npm would have installed it.
    const here = fileURLToPath(new URL('../../../', import.meta.url));
    const root = join(place.folder, 'lib/node_modules/svc');
    fs.cpSync(join(here, 'dist/app'), join(root, 'dist/app'), { recursive: true });
    fs.copyFileSync(join(here, 'package.json'), join(root, 'package.json'));
    fs.symlinkSync(join(here, 'node_modules'), join(root, 'node_modules'));
    const bin = join(place.folder, 'bin');
    fs.mkdirSync(bin);
    fs.writeFileSync(join(bin, 'npm'), NPM, { mode: 0o755 });
    await giveUpEverywhere(place, {
      argv: ['update'],
      env: { PATH: `${bin}:${place.env['PATH'] ?? ''}` },
      questions: [/Install it\?/],
      program: join(root, 'dist/app/main.js'),
    });
    assert.is(fs.existsSync(join(bin, 'installs')), false);
  } finally {
    place.dispose();
  }
});

test.run();
