import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { readFileSync } from 'node:fs';
import { Cli } from 'clipanion';
import type { CliContext } from './context.ts';
import { DEFINITIONS_FILE, loadDefinitions } from './parse/definitions.ts';
import { exitCodes, exitMeanings } from './exit.ts';
import { commandGroups, loadCommands } from './parse/registry.ts';
import { optionNames, pathOf } from './parse/syntax.ts';
import { makePlace, run } from '../fixtures/cli/run.ts';

const place = makePlace();
test.after(() => place.dispose());

test('every command has a category, a description and an example that starts with its name', async () => {
  const definitions = await loadDefinitions();
  assert.ok(definitions.length >= 18);
  for (const one of definitions) {
    assert.ok(one.category, one.path);
    assert.ok(one.description, one.path);
    assert.ok((one.examples ?? []).length > 0, `${one.path} has no example`);
    const name = `svc ${pathOf(one).join(' ')}`;
    for (const [label, example] of one.examples ?? []) {
      assert.ok(label.trim() !== '', one.path);
      assert.ok(example.includes(name) || example === 'svc --version', `${one.path}: ${example}`);
    }
    for (const option of one.options)
      assert.ok(option.description, `${one.path} ${option.definition}`);
  }
});

/**
 * Commands whose output has a format of its own, for a file or a client, and those that print no
 * result.
 */
const WITHOUT_JSON = [
  'audit export',
  'completion',
  'config schema',
  'macro create',
  'macro delete',
  'mcp',
  'plugin new',
  'plugin test',
  'recipe create',
  'recipe schema',
  'recipe show',
  'replay clear',
  'replay import',
  'serve',
  'service print',
  'statusline',
  'template add',
  'template remove',
  'template show',
  'template use',
];

test('every reporting command also prints JSON, with --json and --raw alike', async () => {
  const without: string[] = [];
  for (const one of await loadDefinitions()) {
    const names = optionNames(one).filter((name) => ['--json', '--raw'].includes(name));
    if (names.length === 0) without.push(pathOf(one).join(' '));
    else assert.equal(names, ['--json', '--raw'], one.path);
  }
  assert.equal(without.toSorted(), WITHOUT_JSON);
  const [json, raw] = [
    await run(place, ['version', '--json']),
    await run(place, ['version', '--raw']),
  ];
  assert.is(raw.stdout, json.stdout);
  assert.is(typeof JSON.parse(raw.stdout), 'object');
});

test('every command with --since refuses a value that is not a date', async () => {
  const withSince = (await loadDefinitions()).filter((one) => optionNames(one).includes('--since'));
  assert.ok(withSince.length >= 8, String(withSince.length));
  for (const one of withSince) {
    for (const since of ['yesterday', '2026-02-31', '2026-01-31T12:00']) {
      const { code, stderr } = await run(place, [...pathOf(one), '--since', since]);
      assert.is(code, exitCodes.usage, one.path);
      assert.match(stderr, /ISO 8601/, one.path);
    }
  }
});

/** Splits a command line as a shell does, without variables. */
function wordsOf(line: string): string[] {
  return (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
}

test('every example, except those for a shell, is a valid command line', async () => {
  const cli = new Cli<CliContext>({ binaryName: 'svc' });
  for (const command of await loadCommands(undefined)) cli.register(command);
  for (const { examples, path } of cli.definitions()) {
    for (const [, example] of examples ?? []) {
      if (example.includes('$') || example === 'svc --version') continue;
      assert.not.throws(
        // Redirections are handled by the shell.
        () => {
          const own = example.split(' | ').at(-1)!.split(' > ', 1)[0]!;
          cli.process(wordsOf(own).slice(1), {} as never);
        },
        `${path}: ${example}`,
      );
    }
  }
});

test('a group is found by the first word of each of its commands, and by no other word', async () => {
  for (const group of commandGroups) {
    const words = (await group.load()).commands.flatMap(({ paths }) =>
      (paths ?? []).flatMap(([first = '']) => first),
    );
    assert.equal([...new Set(words)].toSorted(), [...group.words].toSorted());
  }
  const all = commandGroups.flatMap(({ words }) => words);
  assert.is(new Set(all).size, all.length);
});

test('svc alone shows fifteen commands in groups, and how to list the others', async () => {
  const { code, stdout, stderr } = await run(place, []);
  assert.equal([code, stderr], [0, '']);
  const definitions = await loadDefinitions();
  const about = new Map(definitions.map((one) => [pathOf(one).join(' '), one.description?.trim()]));
  const shown = stdout.split('\n').flatMap((line) => {
    const [, name, text] = /^ {2}(\w+(?: \w+)?) {2,}(\S.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, text] as const];
  });
  assert.is(shown.length, 15);
  for (const [name, text] of shown) assert.is(text, about.get(name), name);
  assert.ok(/^Begin$[^]*^Run$[^]*^See$[^]*^Change$/m.test(stdout), stdout);
  assert.match(stdout, `\`svc help all\` lists all ${definitions.length} commands`);
  for (const argv of [['help'], ['--help'], ['-h']])
    assert.is((await run(place, argv)).stdout, stdout, argv.join(' '));
});

test('no line of help exceeds 80 columns', async () => {
  for (const argv of [[], ['help', 'all']])
    for (const line of (await run(place, argv)).stdout.split('\n'))
      assert.ok(line.length <= 80, line);
});

test('help all shows every command and the table of exit codes', async () => {
  const { code, stdout, stderr } = await run(place, ['help', 'all']);
  assert.is(code, 0);
  assert.is(stderr, '');
  for (const one of await loadDefinitions())
    assert.ok(stdout.includes(`  ${pathOf(one).join(' ')}`), one.path);
  for (const [number, meaning] of exitMeanings)
    assert.match(stdout, new RegExp(`^ {2}${number} +${meaning}$`, 'm'));
});

test('the definitions next to the bundle equal those of the commands', async () => {
  const file = new URL(`../app/${DEFINITIONS_FILE}`, import.meta.url);
  assert.equal(
    JSON.parse(readFileSync(file, 'utf8')),
    JSON.parse(JSON.stringify(await loadDefinitions())),
  );
});

test('every possible exit code is explained', () => {
  const explained = new Set(exitMeanings.map(([code]) => code));
  for (const code of Object.values(exitCodes)) assert.ok(explained.has(code), String(code));
});

test('--help of a command shows its options and its examples and runs nothing', async () => {
  const { code, stdout } = await run(place, ['stop', '--help']);
  assert.is(code, 0);
  assert.match(stdout, /^svc stop: /);
  assert.match(stdout, /--force +Abort running requests/);
  assert.match(stdout, /svc stop --force$/m);
  assert.match((await run(place, ['logs', '-h'])).stdout, /-n, --lines <count>/);
  assert.match((await run(place, ['help', 'config', 'show'])).stdout, /^svc config show: /);
  assert.match(
    (await run(place, ['config', '--help'])).stdout,
    /svc config init: [^]*svc config validate/,
  );
  assert.match((await run(place, ['auth', '--help'])).stdout, /auth: [^]*auth list: [^]*revoke: /);
});

test('help shows the syntax: the arguments and the required options', async () => {
  const typed = async (...argv: string[]) => (await run(place, [...argv, '--help'])).stdout;
  assert.match(await typed('vault-health'), /\n  \$ svc vault-health \[repair\] \[options\]\n/);
  assert.match(await typed('route', 'add'), /\$ svc route add --target <target> \[options\]\n/);
  assert.match(await typed('search'), /\$ svc search <query> \.\.\. \[options\]\n/);
});

const MISTAKES: readonly (readonly [argv: readonly string[], pattern: RegExp])[] = [
  [['stauts'], /no command 'stauts'; did you mean `svc status`\?/],
  [['xyzzy'], /no command 'xyzzy'\n/],
  [['--prot'], /no command/],
  [['config'], /needs one of: show, path, init, schema, validate/],
  [['config', 'sohw'], /no 'sohw'; did you mean show\?/],
  [['help', 'nothing'], /no command 'nothing'/],
  [['serve', '--prot', '1'], /no option --prot; did you mean --port\?/],
  [['serve', '--port'], /: --port needs a value\n/],
  [['serve', '--port', 'abc'], /--port: "abc" is not a port/],
  [['serve', '--port', '65536'], /--port: "65536" is not a port/],
  [['serve', '--port=-1'], /--port: "-1" is not a port/],
  [['serve', 'extra'], /^error: svc serve takes no argument, not "extra"\n/],
  [['list-models', 'a', 'b'], /^error: svc list-models takes <provider> only, not "b"\n/],
  [['list-models'], /^error: svc list-models needs <provider>\n/],
  [['search'], /^error: svc search needs <query> \.\.\.\n/],
  [['provider-force-health', 'x'], /needs <provider> <healthy\|unhealthy>\n/],
  [['auth', 'revoke'], /^error: svc auth revoke needs <id\|label>\n.*svc auth revoke --help/],
  [['route', 'add', '--model', 'x'], /^error: svc route add needs --target\n/],
  [['--json'], /^error: svc --json names no command\n/],
  [['logs', '-n', 'ten'], /--lines: "ten" is not a whole number/],
  [['debug', 'maybe'], /takes on, off or status, not 'maybe'/],
  [['auth'], /needs --generate, list, update <id>, rotate <id> or revoke <id>/],
  [['auth', '--generate', '--expires', 'soon'], /--expires: "soon" is not a span of time/],
  [['validate-config'], /svc validate-config needs <file>\n/],
];

for (const [argv, pattern] of MISTAKES) {
  test(`svc ${argv.join(' ')} is a usage error`, async () => {
    const { code, stdout, stderr } = await run(place, argv);
    assert.is(code, exitCodes.usage);
    assert.is(stdout, '');
    assert.match(stderr, pattern);
    assert.match(stderr, /^error: /);
    assert.not.match(stderr, /\n\s+at /);
  });
}

test('a command that needs a proxy says how to start one if none is running', async () => {
  for (const argv of [
    ['pause'],
    ['resume'],
    ['debug', 'status'],
    ['debug', 'on'],
    ['config', 'reload'],
  ]) {
    const { code, stdout, stderr } = await run(place, argv);
    assert.is(code, exitCodes.unavailable, argv.join(' '));
    assert.is(stdout, '');
    assert.match(stderr, /svc is not running\n.*svc start --background/);
  }
  const status = await run(place, ['status', '--json']);
  assert.is(status.code, exitCodes.unavailable);
  assert.is((JSON.parse(status.stdout) as { running: boolean }).running, false);
  const stop = await run(place, ['stop']);
  assert.equal([stop.code, stop.stdout], [0, 'svc is not running\n']);
});

test('colour appears only on a terminal, and never with NO_COLOR', async () => {
  const { PassThrough } = await import('node:stream');
  const printed = async (env: Record<string, string>) => {
    const stdout = Object.assign(new PassThrough(), { isTTY: true });
    let text = '';
    stdout.on('data', (piece: Buffer) => (text += piece.toString()));
    await run(place, ['--help'], { stdout, env: { ...place.env, ...env } });
    return text;
  };
  assert.ok((await printed({ TERM: 'xterm' })).includes('\u001b['));
  assert.not.ok((await printed({ TERM: 'xterm', NO_COLOR: '1' })).includes('\u001b['));
  assert.not.ok((await printed({ TERM: 'dumb' })).includes('\u001b['));
  assert.not.ok((await run(place, ['--help'])).stdout.includes('\u001b['));
});

test('a bug in svc has exit code 1, and shows its stack trace only on request', async () => {
  const random = (): Buffer => {
    throw new TypeError('no entropy');
  };
  const plain = await run(place, ['auth', '--generate'], { random });
  assert.is(plain.code, 1);
  assert.match(plain.stderr, /svc failed: no entropy/);
  assert.not.match(plain.stderr, /\n\s+at /);
  const generated = await run(place, ['auth', '--generate'], {
    random,
    env: { ...place.env, SVC_DEBUG: '1' },
  });
  assert.match(generated.stderr, /TypeError: no entropy\n\s+at /);
});

test('in a checkout, every command is shown in the form that npm runs', async () => {
  const npm = { program: 'npm run svc --' };
  assert.match((await run(place, ['pause'], npm)).stderr, /`npm run svc -- start --background`/);
  const { stdout } = await run(place, ['stop', '--help'], npm);
  assert.match(stdout, /^ {2}npm run svc -- stop --force$/m);
});

test('--version prints the version and exits with 0', async () => {
  assert.is((await run(place, ['--version'])).stdout, '9.8.7\n');
  const json = JSON.parse((await run(place, ['version', '--json'])).stdout) as object;
  assert.equal(json, { cli: '9.8.7', proxy: null, config: '9.8.7', node: '22.1.0' });
});

test('a leading ~ after --home= is expanded, as a shell does for a separate argument', async () => {
  const named = (at: string) => run(place, ['config', 'show', at]);
  const { stderr } = await named('--config=~/none.yaml');
  assert.match(stderr, `${place.folder}/none.yaml: it does not exist`);
  assert.match((await named('--config=none~/x.yaml')).stderr, 'none~/x.yaml: it does not exist');
  const { stderr: client } = await run(place, ['run', 'no-such-client', '--config=~/none.yaml']);
  assert.not.match(client, place.folder);
});

test.run();
