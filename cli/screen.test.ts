/**
 * Terminal output of commands: it fits 80 columns, and no outside text can control the terminal.
 */
import { request } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../fixtures/upstream.ts';
import { findTerminal, runInTerminal } from '../fixtures/cli/terminal.ts';
import { makePlace, run, start } from '../fixtures/cli/run.ts';
import type { Place } from '../fixtures/cli/run.ts';

const HOSTILE = 'claude-\u001b[31mred\u001b]0;owned\u0007\u009b2J\r\nerror: forged';
const LONG_MODEL = 'claude-opus-with-a-very-long-name-4-1-20250805-preview-of-the-next-one';
const COLUMNS = 80;

const PACKAGE = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
/** Versions of the process in the terminal: `doctor` checks both. */
const REAL_VERSIONS = {
  nodeVersion: process.versions.node,
  version: (JSON.parse(PACKAGE) as { readonly version: string }).version,
};

/** Each command with output, including those that only change a switch. */
const COMMANDS: readonly (readonly string[])[] = [
  ['--help'],
  ['status'],
  ['status', '--tip-cache'],
  ['version'],
  ['savings'],
  ['cache-stats'],
  ['stats'],
  ['models'],
  ['models', '--detail', 'opus'],
  ['usage'],
  ['compare'],
  ['leaderboard'],
  ['report'],
  ['attribution'],
  ['attribution', '--by', 'tool,model'],
  ['timeline'],
  ['timeline', '--metric', 'requests'],
  ['cost', '--week'],
  ['cost-breakdown'],
  ['requests'],
  ['demo'],
  ['spend', 'status'],
  ['provider-status'],
  ['provider-status', 'messages'],
  ['limits'],
  ['statusline', '--for', 'plain'],
  ['why'],
  ['certify'],
  ['mcp', '--help'],
  ['route', 'list'],
  ['auth', 'list'],
  ['ca', 'show'],
  ['config', 'show'],
  ['config', 'show', '--changed'],
  ['config', 'validate'],
  ['logs'],
  ['diff'],
  ['preview', 'build.log', '--show', '0'],
  ['list-pricing', '--vendor', 'anthropic'],
  ['list-pricing', '--vendor', 'openai'],
  ['learn', 'status'],
  ['index', '--status'],
  ['search', 'circuit breaker'],
  ['vault-health'],
  ['debug', 'status'],
  ['doctor', '--offline'],
  ['integrate'],
  ['integrate', 'codex'],
  ['integrate', 'cursor'],
  ['pause'],
  ['resume'],
  ['start'],
  ['stauts'],
  ['provider-status', 'nobody'],
  ...[
    'serve',
    'start',
    'status',
    'config',
    'auth',
    'ca',
    'run',
    'demo',
    'benchmark',
    'preview',
    'diff',
  ].map((name) => [name, '--help']),
  ...['learn', 'route', 'spend', 'savings', 'index', 'search', 'calibrate', 'vault-health'].map(
    (name) => [name, '--help'],
  ),
  ...['stats', 'models', 'usage', 'compare', 'leaderboard', 'report', 'attribution'].map((name) => [
    name,
    '--help',
  ]),
  ...['timeline', 'cost', 'cost-breakdown', 'requests'].map((name) => [name, '--help']),
  ...['list-pricing', 'list-models', 'provider-status', 'provider-force-health', 'logs'].map(
    (name) => [name, '--help'],
  ),
];

const LOG = Array.from(
  { length: 400 },
  (_, at) => `2026-01-01T00:00:00Z INFO  worker ${at % 7}: fetched item ${at} of the queue, ok`,
).join('\n');

async function withTraffic(use: (place: Place) => Promise<void>): Promise<void> {
  const place = makePlace();
  const upstream = await startUpstream();
  const proxy = start(place, ['serve', '--port', '0'], {
    MSGPROV_BASE_URL: upstream.url,
    MSGPROV_API_KEY: 'messages-key',
  });
  try {
    const [, url = ''] = await proxy.prints(/listens on (http:\S+)/);
    writeFileSync(join(place.folder, 'build.log'), LOG);
    await ask(url, HOSTILE, 'hi');
    await ask(url, LONG_MODEL, LOG);
    await ask(url, 'claude-fixture-1', 'hi');
    await run(place, ['auth', '--generate', '--label', HOSTILE]);
    await use(place);
  } finally {
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    await upstream.close();
    place.dispose();
  }
}

function ask(url: string, model: string, text: string): Promise<void> {
  const body = JSON.stringify({
    model,
    max_tokens: 16,
    messages: [
      { role: 'user', content: 'What does the log say?' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'cat x.log' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: text }] },
    ],
  });
  return new Promise((resolve, reject) => {
    const call = request(
      `${url}/v1/messages`,
      { method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        response.resume();
        response.on('end', resolve);
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

/** A captured stream that claims to be a terminal. */
function screen(): { readonly stream: PassThrough; text(): string } {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: COLUMNS });
  let text = '';
  stream.on('data', (piece: Buffer) => (text += piece.toString()));
  return { stream, text: () => text };
}

/**
 * Returns the words on the screen that are not whole words, or whole parts of names, of the output
 * without a screen. Names may be folded after punctuation, cut words have a mark, and words of more
 * than a dozen letters may be broken. Figures and random ids differ between runs.
 */
function brokenParts(printed: string, whole: string): string[] {
  const pieces = (text: string) =>
    text
      .split(/\s+/)
      .filter((word) => !word.includes('…'))
      .flatMap((word) => word.match(/[^-/_:,.]+/g) ?? []);
  const parts = (text: string) => pieces(text).filter((part) => /^\p{L}+$/u.test(part));
  const known = new Set(parts(whole));
  const long = pieces(whole).filter((piece) => piece.length > 12);
  return [...new Set(parts(printed))].filter(
    (part) => !known.has(part) && !long.some((piece) => piece.includes(part)),
  );
}

test('the check of help texts detects a broken word', () => {
  const whole = 'answers of the provider at claude-opus-4 and /home/somebody/file';
  assert.equal(
    brokenParts('answers of\n  the provider at\nclaude-\nopus-4 /home/…/file', whole),
    [],
  );
  assert.equal(brokenParts('answers of the provi\nder at claude-opus-4', whole), ['provi', 'der']);
});

test('no foreign text can control the terminal, also as JSON', () =>
  withTraffic(async (place) => {
    const unknown = join(place.folder, 'unknown.yaml');
    writeFileSync(unknown, `${JSON.stringify(HOSTILE)}: 1\n`, { mode: 0o600 });
    for (const argv of [
      ['status'],
      ['savings'],
      ['auth', 'list'],
      ['logs'],
      ['config', 'validate', unknown],
      ['config', 'show', '--config', unknown],
      ['provider-status', HOSTILE],
      [HOSTILE],
      ['auth', 'list', '--json'],
      ['savings', '--json'],
      ['status', '--json'],
    ]) {
      const [out, err] = [screen(), screen()];
      await run(place, argv, { stdout: out.stream, stderr: err.stream });
      const text = `${out.text()}${err.text()}`;
      // oxlint-disable-next-line no-control-regex -- our own colours
      const bare = text.replaceAll(/\u001b\[(?:1|2|22|3[1236]|39)m/g, '').replaceAll('\n', '');
      assert.not.match(bare, /\p{Cc}/u, argv.join(' '));
      assert.not.match(text, '\u001b[31mred', argv.join(' '));
      assert.not.match(text, /^error: forged/m, argv.join(' '));
    }
    const { stdout } = await run(place, ['savings']);
    assert.match(stdout, String.raw`claude-\x1b[31mred\x1b]0;owned\x07\x9b2J\x0d\x0aerror: forged`);
  }));

test('every command fits 80 columns and breaks no word', () =>
  withTraffic(async (place) => {
    const terminal = findTerminal();
    if (terminal === undefined)
      process.stdout.write('no script or python3 here: commands write to a captured screen\n');
    const lines = async (argv: readonly string[]) => {
      // A terminal takes a process of its own; all help is written alike, so the first stands for it.
      const isHelp = argv.length > 1 && argv.at(-1) === '--help';
      if (terminal !== undefined && !isHelp) return runInTerminal(terminal, COLUMNS, place, argv);
      const [out, err] = [screen(), screen()];
      await run(place, argv, { stdout: out.stream, stderr: err.stream });
      return `${out.text()}${err.text()}`.split('\n');
    };
    const tooWide: string[] = [];
    const broken: string[] = [];
    const todo = [...COMMANDS];
    const work = async () => {
      for (let argv = todo.shift(); argv !== undefined; argv = todo.shift()) {
        const printed = (await lines(argv)).map((line) => stripVTControlCharacters(line));
        assert.ok(printed.join('').trim() !== '', argv.join(' '));
        for (const line of printed)
          if (line.length > COLUMNS) tooWide.push(`${argv.join(' ')}: ${line}`);
        const whole = await run(place, argv, REAL_VERSIONS);
        // Durations increase between the two runs: "1 second", then "2 seconds".
        const [narrow, wide] = [printed.join('\n'), `${whole.stdout}\n${whole.stderr}`].map(
          (text) => text.replaceAll(/\b(second|minute|hour|day)s\b/g, '$1'),
        ) as [string, string];
        const parts = brokenParts(narrow, wide);
        // If it failed without a screen, its message gives the reason.
        if (parts.length > 0)
          broken.push(`${argv.join(' ')}: ${parts.join(', ')}; ${whole.stderr.slice(0, 1000)}`);
      }
    };
    await Promise.all([work(), work(), work()]);
    assert.equal(tooWide, []);
    assert.equal(broken, []);
  }));

test.run();
